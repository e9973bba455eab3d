// SPDX-License-Identifier: BSD-3-Clause
#include "formats/kineto/sequences.hpp"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace entrain::kineto {
namespace {

constexpr std::uint64_t k_us = 1000;

/// The calls of a rank, and which call of the run each of them is.
struct TestRank {
  RankFile file;
  std::vector<std::uint32_t> truth;

  [[nodiscard]] Sequence sequence() const {
    Sequence all{.file = &file, .calls = {}};
    for (std::uint32_t c = 0; c < file.calls.size(); ++c) all.calls.push_back(c);
    return all;
  }
};

/// Moments of the calls of a run, us.
using Moments = std::vector<std::uint64_t>;

/// `later`: how much later the rank's clock is, us.
TestRank rank_of(const Moments& ends, const std::set<std::uint32_t>& lost,
                 std::uint64_t later = 0) {
  TestRank rank;
  for (std::uint32_t c = 0; c < ends.size(); ++c) {
    if (lost.count(c) > 0) continue;
    Call call;
    call.operation = Operation::all_reduce;
    const std::uint64_t waits = 10 + ends[c] * 31 % 97;  // waits for ranks that come later
    call.begin = (1'000'000 + ends[c] + later - waits) * k_us;
    call.end = (1'000'000 + ends[c] + later) * k_us;
    rank.file.calls.push_back(call);
    rank.truth.push_back(c);
  }
  return rank;
}

/// Pairs that align_sequences() found.
struct Outcome {
  std::size_t right = 0, wrong = 0;
  bool possible = false;
  std::vector<std::int64_t> offsets{};
};

Outcome align_ranks(const TestRank& a, const TestRank& b) {
  const auto [alignment, offsets] = align_sequences(a.sequence(), b.sequence());
  Outcome outcome{.possible = !offsets.empty(), .offsets = offsets};
  if (!alignment) return outcome;
  for (std::size_t i = 0; i < a.truth.size(); ++i) {
    const std::uint32_t partner = alignment->partner[i];
    if (!is_partner(partner)) continue;
    ++(a.truth[i] == b.truth[partner] ? outcome.right : outcome.wrong);
  }
  return outcome;
}

const Moments k_uneven{1017, 5239, 12411, 14893, 30177, 31702, 37551, 55020};

TEST(Sequences, a_lost_call_costs_its_own_pair_only) {
  for (const std::uint32_t lost : {0U, 3U, 7U}) {
    const Outcome one = align_ranks(rank_of(k_uneven, {lost}, 3), rank_of(k_uneven, {}));
    EXPECT_EQ(one.right, 7U) << lost;
    EXPECT_EQ(one.wrong, 0U) << lost;
  }
  const Outcome both = align_ranks(rank_of(k_uneven, {2}, 3), rank_of(k_uneven, {5}));
  EXPECT_EQ(both.right, 6U);
  EXPECT_EQ(both.wrong, 0U);
}

TEST(Sequences, where_most_calls_are_lost_nothing_is_paired) {
  const Outcome outcome = align_ranks(rank_of(k_uneven, {1, 3, 5}, 3), rank_of(k_uneven, {0, 4}));
  EXPECT_EQ(outcome.right + outcome.wrong, 0U);
}

TEST(Sequences, lost_calls_of_an_even_loop_stay_open) {
  const Moments even{1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000};
  const Outcome outcome = align_ranks(rank_of(even, {3}), rank_of(even, {}));
  EXPECT_EQ(outcome.right + outcome.wrong, 0U);
  EXPECT_TRUE(outcome.possible);
}

/// Calls 60 us apart: by order alone the third one would be paired with the second one.
TEST(Sequences, of_calls_close_to_each_other_ends_tell_which_is_lost) {
  const Moments close{1000, 5000, 5060, 5120, 5180, 12000, 30000, 31000, 37000, 55000};
  for (const std::uint32_t lost : {1U, 2U, 4U}) {
    const Outcome outcome = align_ranks(rank_of(close, {lost}, 700), rank_of(close, {}));
    EXPECT_EQ(outcome.right, 9U) << lost;
    EXPECT_EQ(outcome.wrong, 0U) << lost;
  }
}

/// Moments that are 60 us apart or 60 us late look the same.
TEST(Sequences, of_calls_closer_than_ends_are_none_is_paired_near_a_lost_one) {
  const Moments close{1000, 5000, 5060, 5120, 5180, 12000, 30000, 31000, 37000, 55000};
  Moments late = close;
  for (std::size_t c = 0; c < late.size(); c += 2) late[c] += 14;
  const Outcome outcome = align_ranks(rank_of(close, {2}), rank_of(late, {}));
  EXPECT_EQ(outcome.right, 6U);
  EXPECT_EQ(outcome.wrong, 0U);
}

/// Ranks of two communicators that do the same at the same time do not wait for each other.
TEST(Sequences, ends_that_are_no_closer_than_begins_are_of_no_collective) {
  RandomStream random(1, 5);
  Moments loop, there;
  for (std::uint64_t c = 0, at = 0; c < 60; ++c) {
    loop.push_back(at += 1000 + random.below(9000));
    there.push_back(at + random.below(30));
  }
  TestRank a = rank_of(loop, {}), b = rank_of(there, {});
  EXPECT_EQ(align_ranks(a, b).right, 60U);
  for (TestRank* rank : {&a, &b}) {
    for (Call& call : rank->file.calls) call.begin = call.end - 20 * k_us;
  }
  const Outcome outcome = align_ranks(a, b);
  EXPECT_EQ(outcome.right + outcome.wrong, 0U);
}

/// The second of two calls is lost at one rank, the first one at the other.
TEST(Sequences, known_offsets_pair_nothing_further_apart_than_they_are_known) {
  const TestRank a = rank_of({1000, 2000, 3000, 3060, 4000, 5000}, {3});
  const TestRank b = rank_of({1000, 2000, 3000, 3060, 4000, 5000}, {2});
  const std::vector<KnownOffset> known{
      {1'001'000'000, 0}, {1'002'000'000, 1000}, {1'004'000'000, 0}, {1'005'000'000, 500}};
  const Alignment alignment = align_by_offsets(a.sequence(), b.sequence(), known);
  EXPECT_EQ(alignment.partner[1], 1U);
  EXPECT_FALSE(is_partner(alignment.partner[2]));
  EXPECT_EQ(alignment.partner[3], 3U);
}

/// Bursts of calls 40 to 160 us apart: after a lost one a walk continues with the next ones.
TEST(Sequences, one_lost_call_of_a_burst_shifts_no_others) {
  std::size_t right = 0, wrong = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    RandomStream random(seed, 6);
    Moments loop, there;
    for (std::uint64_t step = 0, at = 0; step < 10; ++step, at += 5'000 + random.below(1'000)) {
      for (std::uint64_t c = 0; c < 20; ++c) loop.push_back(at += 40 + random.below(120));
    }
    for (const std::uint64_t end : loop) there.push_back(end + random.below(3));
    const auto lost = static_cast<std::uint32_t>(random.below(loop.size()));
    const Outcome outcome = align_ranks(rank_of(loop, {lost}, 700), rank_of(there, {}));
    right += outcome.right;
    wrong += outcome.wrong;
  }
  EXPECT_EQ(wrong, 0U);
  EXPECT_GT(right, 11'000U);
}

/// The end of one window looks a little like the begin of the other, and by far less than all.
TEST(Sequences, few_calls_that_happen_to_be_near_are_no_rival_of_many) {
  RandomStream random(1, 1);
  Moments loop;
  for (std::uint64_t c = 0; c < 40; ++c) loop.push_back(1000 * (c + 1) + random.below(80));
  const Outcome outcome = align_ranks(rank_of(loop, {}, 2), rank_of(loop, {}));
  EXPECT_EQ(outcome.right, 40U);
}

/// 1 % of the calls at each of two ranks, and a window of a tenth at one of them.
TEST(Sequences, lost_calls_make_no_wrong_pairs) {
  std::size_t right = 0, wrong = 0, most = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    RandomStream random(seed, 1);
    Moments ends;
    for (std::uint64_t c = 0, at = 0; c < 200; ++c) {
      at += random.below(4) == 0 ? 20 + random.below(200) : 500 + random.below(3000);
      ends.push_back(at);
    }
    std::set<std::uint32_t> lost, lost_there;
    const auto window = static_cast<std::uint32_t>(random.below(180));
    for (std::uint32_t c = 0; c < ends.size(); ++c) {
      const bool in_window = seed % 2 == 0 && c >= window && c < window + 20;
      if (in_window || random.below(100) == 0) lost.insert(c);
      if (random.below(100) == 0) lost_there.insert(c);
      most += lost.count(c) == 0 && lost_there.count(c) == 0 ? 1 : 0;
    }
    Moments there = ends;
    for (std::uint64_t& end : there) end += random.below(4);
    const Outcome outcome = align_ranks(rank_of(ends, lost, 9000), rank_of(there, lost_there));
    right += outcome.right;
    wrong += outcome.wrong;
  }
  EXPECT_EQ(wrong, 0U);
  EXPECT_GT(100 * right, 95 * most);
}

/// The calls of a rank in its window of a loop, of which some are lost.
TestRank window_of(const Moments& loop, std::size_t first, std::size_t size,
                   const std::set<std::uint32_t>& lost, std::uint64_t later = 0) {
  std::set<std::uint32_t> absent;
  for (std::uint32_t c = 0; c < loop.size(); ++c) {
    if (c < first || c >= first + size || lost.count(c) > 0) absent.insert(c);
  }
  return rank_of(loop, absent, later);
}

Moments even_loop(std::uint64_t period, std::size_t steps) {
  Moments loop;
  for (std::size_t c = 0; c < steps; ++c) loop.push_back(period * (c + 1));
  return loop;
}

/// Steps of a loop that are shifted fit better than those that are one: no call is lost then.
TEST(Sequences, steps_of_an_even_loop_are_not_taken_for_each_other) {
  for (const std::uint64_t period : {2'000U, 10'000U, 49'000U, 200'000U}) {
    const Moments loop = even_loop(period, 10);
    const auto paired = [&](std::set<std::uint32_t> a, std::set<std::uint32_t> b) {
      std::set<std::uint32_t> lost_a, lost_b;
      for (std::uint32_t c = 0; c < 10; ++c) {
        if (a.count(c) == 0) lost_a.insert(c);
        if (b.count(c) == 0) lost_b.insert(c);
      }
      const Outcome outcome = align_ranks(rank_of(loop, lost_a), rank_of(loop, lost_b));
      return outcome.right + outcome.wrong;
    };
    EXPECT_EQ(paired({0, 1, 2}, {1, 2, 3}), 0U) << period;
    EXPECT_EQ(paired({0, 1, 2}, {2, 3, 4}), 0U) << period;
    EXPECT_EQ(paired({0, 1, 2}, {3, 4, 5}), 0U) << period;
    EXPECT_EQ(paired({0, 2, 3, 4}, {0, 1, 3, 4}), 0U) << period;
    EXPECT_EQ(paired({0, 1, 3, 4, 5, 7, 8, 9}, {0, 1, 2, 4, 5, 6, 8, 9}), 0U) << period;
  }
}

/// After a pause longer than a burst a walk from one call of the burst to the next would meet
/// itself.
TEST(Sequences, a_call_is_no_repetition_of_itself) {
  RandomStream random(1, 7);
  Moments loop{1000, 1300};
  for (std::uint64_t c = 0, at = 600'000; c < 150; ++c) {
    loop.push_back(at += 500 + random.below(9000));
  }
  EXPECT_EQ(align_ranks(rank_of(loop, {}, 300), rank_of(loop, {})).right, loop.size());
  Moments steps;
  for (std::uint64_t step = 1; step <= 20; ++step) {
    steps.push_back(1'000'000 * step + random.below(20'000));
    steps.push_back(steps.back() + 500);
  }
  EXPECT_EQ(align_ranks(rank_of(steps, {}, 300), rank_of(steps, {})).right, steps.size());
}

/// Few calls may be those of any step: here one of three calls, of which each rank has another one.
TEST(Sequences, few_calls_may_be_those_of_any_step) {
  const Moments loop{1000, 4700, 9100, 21000, 24700, 29100};
  const Outcome other = align_ranks(window_of(loop, 0, 3, {}), window_of(loop, 3, 3, {}));
  EXPECT_EQ(other.right + other.wrong, 0U);
}

/// Hosts count from when they were switched on.
TEST(Sequences, clocks_may_be_days_apart) {
  constexpr std::uint64_t k_day = 86'400'000'000;
  TestRank a = rank_of(k_uneven, {}, 3 * k_day), b = rank_of(k_uneven, {});
  EXPECT_EQ(align_ranks(a, b).right, 0U);  // may be another step
  for (TestRank* rank : {&a, &b}) {
    for (Call& call : rank->file.calls) call.step = 12;
  }
  const Outcome outcome = align_ranks(a, b);
  EXPECT_EQ(outcome.right, 8U);
  EXPECT_EQ(outcome.offsets.size(), 1U);
  EXPECT_EQ(outcome.offsets.at(0), static_cast<std::int64_t>(3 * k_day * k_us));
}

TEST(Sequences, offsets_at_which_a_loop_fits_are_told) {
  const TestRank a = rank_of(even_loop(100'000, 10), {}), b = a;
  const Outcome outcome = align_ranks(a, b);
  EXPECT_EQ(outcome.right + outcome.wrong, 0U);
  ASSERT_GT(outcome.offsets.size(), 2U);
  EXPECT_TRUE(std::find(outcome.offsets.begin(), outcome.offsets.end(), 0) !=
              outcome.offsets.end());
}

/// Ten calls 3 ms apart in each step of 200 ms: one of each step would have to be lost at both.
TEST(Sequences, runs_of_even_calls_in_uneven_steps_are_paired) {
  RandomStream random(1, 4);
  Moments loop;
  for (std::uint64_t step = 0, at = 0; step < 20; ++step, at += 150'000 + random.below(50'000)) {
    for (std::uint64_t call = 0; call < 10; ++call) loop.push_back(at += 3'000);
  }
  const Outcome outcome =
      align_ranks(window_of(loop, 12, 155, {}), window_of(loop, 7, 166, {20}, 4000));
  EXPECT_EQ(outcome.right, 154U);
  EXPECT_EQ(outcome.wrong, 0U);
}

/// Two windows of a loop at two ranks whose clocks have any offset.
struct TwoWindows {
  TestRank a, b;
};

/// Loops of up to `kinds` calls per step. Of each window up to 10 % are lost; the second one begins
/// up to `later` calls after the first one, or before it.
TwoWindows windows_of_loop(std::uint64_t seed, std::size_t most_kinds, std::size_t later) {
  RandomStream random(seed, 2);
  const std::size_t kinds = 1 + random.below(most_kinds), size = 3 + random.below(18);
  const std::uint64_t jitter = std::uint64_t{1} << random.below(10);  // us
  std::vector<std::uint64_t> gaps;
  for (std::size_t k = 0; k < kinds; ++k) gaps.push_back(1000 + random.below(48'000 / kinds));
  Moments loop;
  for (std::size_t c = 0, at = 0; c < 60; ++c) {
    at += gaps[c % kinds] + random.below(jitter);
    loop.push_back(at);
  }
  const std::uint64_t losses = std::vector<std::uint64_t>{0, 1, 10}[random.below(3)];
  std::set<std::uint32_t> lost, lost_there;
  for (std::uint32_t c = 0; c < loop.size(); ++c) {
    if (random.below(100) < losses) lost.insert(c);
    if (random.below(100) < losses) lost_there.insert(c);
  }
  Moments there = loop;
  for (std::uint64_t& end : there) end += random.below(3);
  const std::uint64_t offset = random.below(std::uint64_t{1} << random.below(38));
  return {window_of(loop, random.below(later), size, lost, offset),
          window_of(there, random.below(later), size + random.below(3), lost_there)};
}

TEST(Sequences, windows_of_loops_make_no_wrong_pairs) {
  std::size_t right = 0, wrong = 0;
  for (std::uint64_t seed = 1; seed <= 40'000; ++seed) {
    const auto [a, b] = windows_of_loop(seed, 5, seed % 2 == 0 ? 6 : 40);
    const Outcome outcome = align_ranks(a, b);
    right += outcome.right;
    wrong += outcome.wrong;
  }
  EXPECT_EQ(wrong, 0U);
  EXPECT_GT(right, 10'000U);
}

/// Sets the clock of a rank ahead before one of its calls.
void set_ahead(TestRank& rank, std::size_t call, std::uint64_t by) {
  for (std::size_t c = call; c < rank.file.calls.size(); ++c) {
    rank.file.calls[c].begin += by * k_us;
    rank.file.calls[c].end += by * k_us;
  }
}

/// One clock is set once or twice, by 0.2 ms to a second.
TEST(Sequences, clocks_that_were_set_make_no_wrong_pairs) {
  std::size_t right = 0, wrong = 0, most = 0;
  for (std::uint64_t seed = 1; seed <= 3'000; ++seed) {
    RandomStream random(seed, 3);
    Moments ends;
    for (std::uint64_t c = 0, at = 0; c < 30 + seed % 3 * 60; ++c) {
      at += random.below(4) == 0 ? 200 + random.below(200) : 500 + random.below(3000);
      ends.push_back(at);
    }
    std::set<std::uint32_t> lost;
    if (seed % 2 == 0) lost.insert(static_cast<std::uint32_t>(random.below(ends.size())));
    Moments there = ends;
    for (std::uint64_t& end : there) end += random.below(4);
    TestRank a = rank_of(ends, lost, 9000), b = rank_of(there, {});
    for (std::uint64_t step = 0; step <= seed % 4 / 2; ++step) {
      set_ahead(a, random.below(ends.size()),
                200 + random.below(std::uint64_t{1} << random.below(20)));
    }
    const Outcome outcome = align_ranks(a, b);
    most += a.truth.size();
    right += outcome.right;
    wrong += outcome.wrong;
  }
  EXPECT_LE(wrong, 6U);  // set by the distance of two calls: the times are those of a lost call
  EXPECT_GT(100 * right, 90 * most);
}

TEST(Sequences, windows_of_loops_whose_clocks_were_set_make_no_wrong_pairs) {
  std::size_t right = 0, wrong = 0;
  for (std::uint64_t seed = 1; seed <= 10'000; ++seed) {
    auto [a, b] = windows_of_loop(seed, 5, seed % 2 == 0 ? 6 : 40);
    RandomStream random(seed, 4);
    set_ahead(a, random.below(a.truth.size()),
              200 + random.below(std::uint64_t{1} << random.below(20)));
    const Outcome outcome = align_ranks(a, b);
    right += outcome.right;
    wrong += outcome.wrong;
  }
  EXPECT_EQ(wrong, 0U);
  EXPECT_GT(right, 1'000U);
}

/// Calls at irregular times, then a loop. The clock was set where that begins, and calls were lost.
TEST(Sequences, calls_lost_at_a_change_point_shift_no_loop) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    RandomStream random(seed, 5);
    const std::uint64_t jitter = random.below(2) * random.below(150);
    Moments ends;
    for (std::uint64_t c = 0, at = 0; c < 144; ++c) {
      at += c < 120 ? 500 + random.below(3000) : 7'000 + random.below(jitter + 1);
      ends.push_back(at);
    }
    std::set<std::uint32_t> lost;
    for (std::uint32_t c = 0; c < seed % 4; ++c) lost.insert(120 + c);
    Moments there = ends;
    for (std::uint64_t& end : there) end += random.below(4);
    TestRank a = rank_of(ends, lost, 9000);
    set_ahead(a, 120, 33'000);
    const Outcome outcome = align_ranks(a, rank_of(there, {}));
    EXPECT_EQ(outcome.wrong, 0U) << seed;
    EXPECT_GE(outcome.right, lost.empty() ? 144U : 115U) << seed;
  }
}

TEST(Sequences, a_drift_over_long_gaps_is_no_change_point) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    RandomStream random(seed, 6);
    Moments ends, there;
    for (std::uint64_t c = 0, at = 0; c < 300; ++c) {
      at += 3'000'000 + random.below(4'000'000);
      ends.push_back(at);
      there.push_back(at + at * 60 / 1'000'000 + random.below(4));
    }
    std::set<std::uint32_t> lost;
    for (std::uint32_t c = 0; c < ends.size(); ++c) {
      if (random.below(100) == 0) lost.insert(c);
    }
    const Outcome outcome = align_ranks(rank_of(ends, lost), rank_of(there, {}));
    EXPECT_EQ(outcome.wrong, 0U) << seed;
    EXPECT_GE(outcome.right + 12, 300 - lost.size()) << seed;
  }
}

/// Calls of `a` that have a partner of `b` if clocks are `offset` ns apart, less those of both that
/// have none in the time that both cover.
std::int64_t score_at(const TestRank& a, const TestRank& b, std::int64_t offset) {
  constexpr std::int64_t k_near = 100'000;
  const Sequence own = a.sequence(), others = b.sequence();
  std::int64_t matched = 0, inside = 0;
  const auto is_inside = [](std::int64_t end, const Sequence& sequence) {
    return end >= sequence.end(0) - k_near && end <= sequence.end(sequence.size() - 1) + k_near;
  };
  for (std::size_t i = 0; i < own.size(); ++i) {
    const std::int64_t there = own.end(i) - offset;
    inside += is_inside(there, others) ? 1 : 0;
    for (std::size_t j = 0; j < others.size(); ++j) {
      if (std::abs(others.end(j) - there) > k_near) continue;
      ++matched;
      break;
    }
  }
  for (std::size_t j = 0; j < others.size(); ++j) {
    inside += is_inside(others.end(j) + offset, own) ? 1 : 0;
  }
  return matched - (inside - 2 * matched);
}

/// The oracle tries every offset that makes some two calls end together. What is paired has one of
/// the best; if that is far better than all others, the calls are paired.
TEST(Sequences, of_all_offsets_the_best_one_is_found) {
  std::size_t clear = 0, missed = 0, worse = 0, wrong = 0;
  for (std::uint64_t seed = 1; seed <= 10'000; ++seed) {
    const auto [a, b] = windows_of_loop(seed + 100'000, 5, 6);
    if (a.file.calls.empty() || b.file.calls.empty()) continue;
    std::vector<std::pair<std::int64_t, std::int64_t>> scores;  // with offsets
    for (const Call& own : a.file.calls) {
      for (const Call& there : b.file.calls) {
        const auto offset = static_cast<std::int64_t>(own.end - there.end);
        scores.emplace_back(score_at(a, b, offset), offset);
      }
    }
    const auto best = *std::max_element(scores.begin(), scores.end());
    std::int64_t second = 0;
    for (const auto& [score, offset] : scores) {
      if (std::abs(offset - best.second) > 400'000) second = std::max(second, score);
    }
    const bool is_clear = 3 * second <= best.first && best.first >= 12;
    const Outcome outcome = align_ranks(a, b);
    const bool is_paired = outcome.right + outcome.wrong > 0;
    clear += is_clear ? 1 : 0;
    missed += is_clear && !is_paired ? 1 : 0;
    wrong += outcome.wrong;
    if (is_paired) worse += 4 * score_at(a, b, outcome.offsets.at(0)) < 3 * best.first ? 1 : 0;
  }
  EXPECT_EQ(wrong, 0U);
  EXPECT_EQ(worse, 0U);
  EXPECT_GT(clear, 300U);
  EXPECT_LT(8 * missed, clear);
}

TEST(Sequences, known_offsets_pair_what_is_alone_near_its_place) {
  const TestRank a = rank_of({1000, 2000, 2050, 3000}, {}, 400);
  const TestRank b = rank_of({1000, 2000, 2050, 3000, 4000}, {});
  const Alignment alignment =
      align_by_offsets(a.sequence(), b.sequence(), {{.time = 1'000'000'000, .offset = 400'000}});
  EXPECT_EQ(alignment.partner[0], 0U);
  EXPECT_FALSE(is_partner(alignment.partner[1]));
  EXPECT_FALSE(is_partner(alignment.partner[2]));
  EXPECT_EQ(alignment.partner[3], 3U);
  EXPECT_EQ(align_by_offsets(a.sequence(), b.sequence(), {}).partner[0], k_no_partner);
}

}  // namespace
}  // namespace entrain::kineto
