// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <entrain/entrain.hpp>

#include "base/edge_list.hpp"
#include "base/random.hpp"
#include "formats/edge_graph.hpp"

namespace entrain::engine {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::int64_t k_us = 1000, k_ms = 1'000'000;

/// Four timers that talk both ways, of which the last one is set after half of the run, and perhaps
/// once more.
class Talk {
 public:
  explicit Talk(std::int64_t step, std::int64_t second = 0, std::int64_t second_at = 550 * k_ms)
      : step_(step), second_(second), second_at_(second_at) {
    for (const char* name : {"a", "b", "c", "d"}) clocks_.clocks.push_back({.name = name});
    for (std::uint32_t n = 0; n < 600; ++n) {
      const std::uint32_t from = n % 4, to = (from + 1 + n / 4 % 3) % 4;
      send(from, to, 100 * k_ms + n * k_ms, 40 * k_us + n % 7 * k_us);
    }
  }
  void send(std::uint32_t from, std::uint32_t to, std::int64_t time, std::int64_t way) {
    list_.cause_clock.push_back(from);
    list_.cause_time.push_back(shown(from, time));
    list_.effect_clock.push_back(to);
    list_.effect_time.push_back(shown(to, time + way));
  }
  [[nodiscard]] Alignment align() const {
    auto aligned = entrain::align(clocks_, list_.view(), {});
    EXPECT_TRUE(aligned);
    return *std::move(aligned);
  }
  /// Largest error of a clock from the first one's, by maps, except around the step.
  [[nodiscard]] std::int64_t error(const Alignment& aligned, std::uint32_t clock) const {
    std::int64_t worst = 0;
    for (std::int64_t time = 110 * k_ms; time < 690 * k_ms; time += 10 * k_ms) {
      if (std::abs(time - 400 * k_ms) < 15 * k_ms) continue;
      if (second_ != 0 && std::abs(time - second_at_) < 15 * k_ms) continue;
      const auto at = [&](std::uint32_t c) { return aligned.maps[c](shown(c, time)); };
      worst = std::max(worst, std::abs(at(clock) - at(0)));
    }
    return worst;
  }

 private:
  [[nodiscard]] std::uint64_t shown(std::uint32_t clock, std::int64_t time) const {
    const std::int64_t step = clock == 3 && time >= 400 * k_ms ? step_ : 0;
    const std::int64_t second = clock == 3 && time >= second_at_ ? second_ : 0;
    return static_cast<std::uint64_t>(time + clock * 7 * k_ms + step + second);
  }

  std::int64_t step_, second_, second_at_;
  Clocks clocks_;
  EdgeList list_;
};

TEST(AlignExplained, a_timer_that_was_set_is_named_and_bends_no_other) {
  for (const std::int64_t step : {6 * k_ms, -6 * k_ms}) {
    const Talk talk(step);
    const Alignment aligned = talk.align();
    ASSERT_FALSE(aligned.report.before.explanations.empty());
    EXPECT_THAT(
        aligned.report.before.explanations[0].text,
        HasSubstr(step > 0 ? "the clock of d was set by +6.0" : "the clock of d was set by -6.0"));
    for (const std::uint32_t clock : {1U, 2U, 3U}) EXPECT_LT(talk.error(aligned, clock), 30 * k_us);
  }
}

TEST(AlignExplained, a_timer_may_be_set_twice) {
  const Talk talk(6 * k_ms, 4 * k_ms);
  const Alignment aligned = talk.align();
  const auto& steps = aligned.report.before.explanations;
  ASSERT_EQ(steps.size(), 2U);
  ASSERT_TRUE(steps[0].time_ticks && steps[1].time_ticks);
  EXPECT_LT(*steps[0].time_ticks + 100 * k_ms, *steps[1].time_ticks);
  for (const std::uint32_t clock : {1U, 2U, 3U}) EXPECT_LT(talk.error(aligned, clock), 30 * k_us);
}

/// Wall clocks, the last one of which is set back by the time of some or most messages.
TEST(AlignExplained, right_clocks_stay_beside_one_that_shows_times_twice) {
  constexpr std::int64_t k_begin = 1'763'000'000 * std::int64_t{1'000'000'000};
  for (const std::uint32_t count : {2U, 5U}) {
    for (const std::int64_t by : {15 * k_ms, 250 * k_ms, 450 * k_ms, 3'600'000 * k_ms}) {
      SCOPED_TRACE(std::to_string(count) + " clocks, by " + std::to_string(by));
      const std::uint32_t wrong = count - 1;
      const auto shown = [&](std::uint32_t clock, std::int64_t time) {
        return static_cast<std::uint64_t>(k_begin + time -
                                          (clock == wrong && time > 300 * k_ms ? by : 0));
      };
      Clocks clocks;
      for (std::uint32_t c = 0; c < count; ++c) {
        clocks.clocks.push_back(
            {.name = std::string(1, static_cast<char>('a' + c)), .kind = ClockKind::wall});
      }
      EdgeList list;
      RandomStream random(7, 3);
      for (std::int64_t n = 0; n < 1200; ++n) {
        const auto from = static_cast<std::uint32_t>(random.below(count));
        const auto to = (from + 1 + static_cast<std::uint32_t>(random.below(count - 1))) % count;
        const std::int64_t sent = n * k_ms / 2;
        const auto way = 20 * k_us + static_cast<std::int64_t>(random.below(20 * k_us));
        list.add({from, shown(from, sent)}, {to, shown(to, sent + way)});
      }
      const auto aligned = entrain::align(clocks, list.view(), {});
      ASSERT_TRUE(aligned);
      EXPECT_EQ(aligned->report.after.judgement.verdict, Verdict::unproven);
      EXPECT_EQ(aligned->report.after.violations, 0U);
      for (std::uint32_t c = 0; c < wrong; ++c) EXPECT_TRUE(aligned->maps[c].is_identity()) << c;
      const auto& reasons = aligned->report.before.explanations;
      ASSERT_FALSE(reasons.empty());
      for (const ClockExplanation& one : reasons) {
        if (one.kind == ExplanationKind::step) {
          EXPECT_EQ(one.clocks.front(), clocks.clocks[wrong].name) << one.text;
        }
      }
    }
  }
}

/// Five wall clocks, of which one runs at `ppm` and one is set by 5 ms.
TEST(AlignExplained, right_clocks_stay_beside_a_fast_one_and_one_that_was_set) {
  constexpr std::int64_t k_begin = 1'763'000'000 * std::int64_t{1'000'000'000};
  for (const std::int64_t ppm : {-1'600, -1'050, 150, 1'100, 1'500}) {
    SCOPED_TRACE(ppm);
    const auto shown = [&](std::uint32_t clock, std::int64_t time) {
      if (clock == 1) time += time * ppm / k_ms;
      if (clock == 3 && time > 300 * k_ms) time += 5 * k_ms;
      return static_cast<std::uint64_t>(k_begin + time);
    };
    Clocks clocks;
    for (const char* name : {"a", "b", "c", "d", "e"}) clocks.clocks.push_back({.name = name});
    EdgeList list;
    RandomStream random(7, 3);
    for (std::int64_t n = 0; n < 600; ++n) {
      const auto from = static_cast<std::uint32_t>(random.below(5));
      const auto to = static_cast<std::uint32_t>((from + 1 + random.below(4)) % 5);
      const auto sent = n * k_ms + static_cast<std::int64_t>(random.below(k_ms / 2));
      list.add({from, shown(from, sent)},
               {to, shown(to, sent + 5 * k_us + static_cast<std::int64_t>(random.below(20'000)))});
    }
    const auto aligned = entrain::align(clocks, list.view(), {});
    ASSERT_TRUE(aligned);
    EXPECT_EQ(aligned->report.after.violations, 0);
    for (const std::uint32_t clock : {0U, 2U, 4U}) {
      EXPECT_EQ(aligned->maps[clock], ClockMap()) << clock;
    }
    for (const std::int64_t time : {100 * k_ms, 500 * k_ms}) {
      for (const std::uint32_t clock : {1U, 3U}) {
        EXPECT_LT(std::abs(aligned->maps[clock](shown(clock, time)) - k_begin - time), 100 * k_us);
      }
    }
  }
}

/// Clock c is set within a pause of 100 ms. Its events there are not between the times of both
/// parts.
TEST(AlignExplained, events_beside_a_step_have_the_offset_of_their_part) {
  for (const std::int64_t step : {-40 * k_ms, 40 * k_ms}) {
    Clocks clocks;
    for (const char* name : {"a", "b", "c", "d"}) clocks.clocks.push_back({.name = name});
    EdgeList list;
    const auto shown = [&](std::uint32_t clock, std::int64_t time) {
      return static_cast<std::uint64_t>(time + (clock == 2 && time > 1'050 * k_ms ? step : 0));
    };
    for (std::int64_t time = 100 * k_ms; time < 2'000 * k_ms; time += 100 * k_ms) {
      for (const std::uint32_t from : {0U, 1U, 2U, 3U}) {
        for (const std::uint32_t to : {0U, 1U, 2U, 3U}) {
          if (from != to) list.add({from, shown(from, time)}, {to, shown(to, time + 10 * k_us)});
        }
      }
    }
    const auto aligned = entrain::align(clocks, list.view(), {});
    ASSERT_TRUE(aligned);
    EXPECT_EQ(aligned->report.after.violations, 0);
    for (const std::int64_t time : {1'008 * k_ms, 1'092 * k_ms}) {
      const std::int64_t found =
          aligned->maps[2](shown(2, time)) - aligned->maps[0](shown(0, time));
      EXPECT_LT(std::abs(found), 50 * k_us) << time;
    }
  }
}

/// A single step instead of both would be longer than any gap between stamps.
TEST(AlignExplained, a_timer_may_be_set_forward_twice_within_milliseconds) {
  for (std::int64_t apart = 1; apart <= 20; ++apart) {
    const Talk talk(6 * k_ms, 4 * k_ms, (400 + apart) * k_ms);
    const Alignment aligned = talk.align();
    EXPECT_EQ(aligned.report.after.violations, 0) << apart;
    EXPECT_FALSE(aligned.report.before.explanations.empty()) << apart;
    for (const std::uint32_t clock : {1U, 2U, 3U}) {
      EXPECT_LT(talk.error(aligned, clock), 30 * k_us) << apart;
    }
  }
}

/// Nothing is sent to b for a while around its step: only how long its own messages take tells
/// when it was set, beside 100,000 messages that a step elsewhere would violate.
TEST(AlignExplained, a_step_lies_where_messages_take_least) {
  Clocks clocks;
  for (const char* name : {"a", "b", "c"}) clocks.clocks.push_back({.name = name});
  EdgeList list;
  constexpr std::int64_t k_call = 10 * k_us, k_step = 50 * k_us, k_half = 50'000;
  const auto send = [&](std::uint32_t from, std::uint32_t to, std::int64_t time, std::int64_t way) {
    const auto shown = [&](std::uint32_t clock, std::int64_t t) {
      return static_cast<std::uint64_t>(t + (clock == 1 && t >= k_half * k_call ? k_step : 0));
    };
    list.cause_clock.push_back(from);
    list.cause_time.push_back(shown(from, time));
    list.effect_clock.push_back(to);
    list.effect_time.push_back(shown(to, time + way));
  };
  for (std::int64_t n = 0; n < 2 * k_half; ++n) {
    const std::int64_t way = 2 * k_us + n % 7 * 100;
    if (std::abs(n - k_half) > 20) send(0, 1, n * k_call, way);
    send(1, 0, n * k_call + k_call / 2, way);
    if (n % 100 == 0) send(0, 2, n * k_call, way), send(2, 0, n * k_call + k_call / 2, way);
  }
  const auto aligned = entrain::align(clocks, list.view(), {});
  ASSERT_TRUE(aligned);
  ASSERT_EQ(aligned->report.before.explanations.size(), 1U);
  const auto& time = aligned->report.before.explanations[0].time_ticks;
  ASSERT_TRUE(time);
  EXPECT_EQ(static_cast<std::int64_t>(*time), k_half * k_call + k_call / 2 + k_step);
}

/// Gaps between events are longer than the step. For a while around it b only sends, or only
/// receives.
TEST(AlignExplained, a_step_lies_where_messages_take_least_beside_longer_gaps) {
  constexpr std::int64_t k_step = k_ms, k_half = 300;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    RandomStream random(96, seed);
    Clocks clocks;
    for (const char* name : {"a", "b", "c"}) clocks.clocks.push_back({.name = name});
    EdgeList list;
    std::vector<std::pair<std::int64_t, std::uint64_t>> of_b;  // true time and stamp
    std::int64_t now = 0, set_at = 0;
    const auto send = [&](std::uint32_t from, std::uint32_t to, std::int64_t arrived) {
      const auto shown = [&](std::uint32_t clock, std::int64_t time) {
        const bool is_set = clock == 1 && set_at > 0 && time >= set_at;
        const auto stamp = static_cast<std::uint64_t>(k_ms + time + (is_set ? k_step : 0));
        if (clock == 1) of_b.emplace_back(k_ms + time, stamp);
        return stamp;
      };
      list.cause_clock.push_back(from), list.cause_time.push_back(shown(from, now));
      list.effect_clock.push_back(to), list.effect_time.push_back(shown(to, arrived));
    };
    const bool only_sends = random.below(2) == 0;
    for (std::int64_t n = 0; n < 2 * k_half; ++n) {
      now += k_ms / 2 + static_cast<std::int64_t>(random.below(10 * k_ms));
      if (n == k_half) set_at = now;
      const bool is_near = std::abs(n - k_half) < 6;
      const bool to_b = is_near ? !only_sends : random.below(2) == 0;
      const std::uint32_t other = random.below(2) == 0 ? 0 : 2;
      const auto way = static_cast<std::int64_t>(5 * k_us + random.below(20 * k_us));
      send(to_b ? other : 1, to_b ? 1 : other, now + way);
      if (n % 3 == 0) send(other, 2 - other, now + way);
    }
    const auto aligned = entrain::align(clocks, list.view(), {});
    ASSERT_TRUE(aligned);
    ASSERT_EQ(aligned->report.before.explanations.size(), 1U) << seed;
    for (const auto& [time, stamp] : of_b) {
      EXPECT_LT(std::abs(aligned->maps[1](stamp) - time), 100 * k_us) << seed;
    }
  }
}

/// Messages of two to eight timers: single ones, or calls with answers, seldom or often.
class RandomTable {
 public:
  explicit RandomTable(std::uint64_t number) : random_(76, number) {
    const std::uint32_t clocks = 2 + static_cast<std::uint32_t>(random_.below(7));
    const double gap_s = std::pow(10, random_.uniform(-4.5, -0.5));
    const double way_s = std::pow(10, random_.uniform(-5.5, -3));
    const double jitter = random_.uniform(0.1, 5);
    const bool is_answered = random_.below(2) == 0;
    for (std::uint32_t c = 0; c < clocks; ++c) {
      clocks_.clocks.push_back({.name = std::to_string(c)});
      offset_s_.push_back(random_.uniform(0, 10));
      rate_.push_back(random_.uniform(-5e-5, 5e-5));
    }
    const auto way = [&] { return way_s * (1 + jitter * random_.uniform(0, 2)); };
    double now_s = 100;
    for (std::uint64_t n = 40 + random_.below(200); n > 0; --n) {
      now_s += gap_s * random_.uniform(0, 2);
      const auto a = static_cast<std::uint32_t>(random_.below(clocks));
      const auto b = static_cast<std::uint32_t>((a + 1 + random_.below(clocks - 1)) % clocks);
      double arrived_s = now_s + way();
      send(a, now_s, b, arrived_s);
      if (!is_answered) continue;
      now_s = arrived_s + way();
      arrived_s = now_s + way();
      send(b, now_s, a, arrived_s);
      now_s = arrived_s;
    }
  }
  /// A clock ticks at another frequency.
  void set_rate(std::uint32_t clock, double rate) {
    for (auto [of, times] : {std::pair(&list_.cause_clock, &list_.cause_time),
                             std::pair(&list_.effect_clock, &list_.effect_time)}) {
      for (std::size_t i = 0; i < times->size(); ++i) {
        if ((*of)[i] != clock) continue;
        (*times)[i] += static_cast<std::uint64_t>(rate * static_cast<double>((*times)[i]));
      }
    }
  }
  void exchange() {
    list_.cause_clock.swap(list_.effect_clock);
    list_.cause_time.swap(list_.effect_time);
  }
  [[nodiscard]] AlignReport align(bool with_bounds = false) const {
    AlignOptions options;
    options.check.bounds.wanted = with_bounds;
    auto aligned = entrain::align(clocks_, list_.view(), options);
    EXPECT_TRUE(aligned);
    return std::move(aligned->report);
  }
  [[nodiscard]] std::uint32_t clocks() const {
    return static_cast<std::uint32_t>(clocks_.clocks.size());
  }

 private:
  [[nodiscard]] std::uint64_t shown(std::uint32_t clock, double time_s) const {
    return static_cast<std::uint64_t>((time_s * (1 + rate_[clock]) + offset_s_[clock]) * 1e9);
  }
  void send(std::uint32_t from, double sent_s, std::uint32_t to, double arrived_s) {
    list_.cause_clock.push_back(from);
    list_.cause_time.push_back(shown(from, sent_s));
    list_.effect_clock.push_back(to);
    list_.effect_time.push_back(shown(to, arrived_s));
  }

  RandomStream random_;
  Clocks clocks_;
  EdgeList list_;
  std::vector<double> offset_s_, rate_;
};

bool is_exchanged(const AlignReport& report) {
  return std::ranges::any_of(report.before.explanations, [](const ClockExplanation& one) {
    return one.kind == ExplanationKind::exchanged;
  });
}

TEST(AlignExplained, causes_and_effects_that_are_exchanged_are_never_clean) {
  int named = 0;
  constexpr int k_tables = 60;
  for (std::uint64_t n = 0; n < k_tables; ++n) {
    SCOPED_TRACE(n);
    RandomTable table(n);
    table.exchange();
    const AlignReport report = table.align();
    EXPECT_NE(report.after.judgement.verdict, Verdict::clean);
    named += is_exchanged(report) ? 1 : 0;
  }
  EXPECT_GE(named, k_tables * 95 / 100);
}

TEST(AlignExplained, of_exchanged_causes_and_effects_nothing_is_proved) {
  RandomTable table(1);
  table.exchange();
  const AlignReport report = table.align(true);
  ASSERT_TRUE(is_exchanged(report));
  ASSERT_TRUE(report.bounds);
  EXPECT_EQ(report.bounds->reason, "causes and effects may be exchanged");
  EXPECT_TRUE(report.bounds->rows.empty());
  EXPECT_EQ(report.timeline.reason, "");
}

/// Where messages are seldom, no edge contradicts those of wrong pairs the other way round.
TEST(AlignExplained, wrong_pairs_of_a_sparse_table_stay_possible) {
  Clocks clocks;
  for (const char* name : {"a", "b"}) clocks.clocks.push_back({.name = name});
  EdgeList list;
  for (std::uint64_t n = 0; n < 40; ++n) {
    const std::uint64_t sent = 1'000 * n * k_ms + 100 * k_ms;
    list.cause_clock.push_back(n % 2);
    list.cause_time.push_back(sent);
    list.effect_clock.push_back(1 - n % 2);
    list.effect_time.push_back(n == 10 || n == 20 || n == 30 ? sent - 20 * k_ms : sent + 40 * k_us);
  }
  const auto aligned = entrain::align(clocks, list.view(), {});
  ASSERT_TRUE(aligned);
  EXPECT_EQ(aligned->report.after.judgement.verdict, Verdict::unproven);
  ASSERT_EQ(aligned->report.before.explanations.size(), 1U);
  EXPECT_THAT(aligned->report.before.explanations[0].text,
              AllOf(HasSubstr("or records are wrong"), HasSubstr(" before b at ")));
}

/// Whether all clocks are usual, or one ticks 1 to 9 % too fast, which few messages do not show.
TEST(AlignExplained, causes_and_effects_that_are_not_exchanged_are_not_named) {
  for (std::uint64_t n = 0; n < 40; ++n) {
    SCOPED_TRACE(n);
    RandomTable table(n);
    const bool is_fast = n % 2 == 0;
    if (is_fast) table.set_rate(table.clocks() - 1, 0.01 + 0.002 * static_cast<double>(n));
    const AlignReport report = table.align();
    EXPECT_FALSE(is_exchanged(report));
    EXPECT_TRUE(is_fast || report.after.judgement.verdict == Verdict::clean);
  }
}

/// Stamps may be as far apart as they go: no sum of them overflows.
TEST(AlignExplained, ends_that_differ_by_centuries_do_no_harm) {
  Clocks clocks;
  for (const char* name : {"a", "b"}) clocks.clocks.push_back({.name = name});
  EdgeList list;
  constexpr std::uint64_t k_far = std::uint64_t{1} << 61;
  for (std::uint64_t n = 0; n < 8; ++n) {
    list.instances.push_back({.kind = EdgeKind::n_to_n,
                              .ends_coincide = true,
                              .first = list.members.size(),
                              .begins = 2,
                              .ends = 2});
    for (const std::uint64_t late : {std::uint64_t{0}, std::uint64_t{1}}) {
      list.members.push_back({0, 0, 1000 * n + late});
      list.members.push_back({1, 1, (n % 2 == 0 ? k_far : 0) + 1000 * n + late});
    }
  }
  const auto aligned = entrain::align(clocks, list.view(), {});
  EXPECT_TRUE(!aligned || aligned->report.after.judgement.verdict != Verdict::clean);
}

TEST(AlignExplained, a_wrong_pair_moves_no_clock) {
  Talk talk(0);
  talk.send(0, 1, 300 * k_ms, -5 * k_ms);
  const Alignment aligned = talk.align();
  ASSERT_EQ(aligned.report.before.explanations.size(), 1U);
  EXPECT_THAT(
      aligned.report.before.explanations[0].text,
      HasSubstr("contradict the others whatever clocks do, and move no clock; the first is a at "
                "0.300000000 s before b"));
  for (const std::uint32_t clock : {1U, 2U, 3U}) EXPECT_LT(talk.error(aligned, clock), 30 * k_us);
}

/// Ranks begin a call up to 0.4 ms apart, but end it together: only its ends show a smaller step.
TEST(AlignExplained, a_step_that_begins_hide_is_seen_by_ends_that_coincide) {
  Clocks clocks;
  EdgeList list;
  for (const char* name : {"a", "b", "c", "d"}) clocks.clocks.push_back({.name = name});
  const auto shown = [](std::uint32_t clock, std::int64_t time) {
    const std::int64_t step = clock == 3 && time >= 1'001 * k_ms ? 300 * k_us : 0;
    return static_cast<std::uint64_t>(time + clock * 7 * k_ms + step);
  };
  for (std::uint32_t n = 0; n < 80; ++n) {
    const std::int64_t last = 201 * k_ms + n * 20 * k_ms;
    list.instances.push_back({.kind = EdgeKind::n_to_n,
                              .ends_coincide = true,
                              .first = list.members.size(),
                              .begins = 4,
                              .ends = 4});
    for (std::uint32_t c = 0; c < 4; ++c) {
      const std::int64_t early =
          (n + c) % 4 == 0 ? 0 : 100 * k_us + (n * 7 + c * 3) % 13 * 23 * k_us;
      list.members.push_back({c, c, shown(c, last - early)});
    }
    for (std::uint32_t c = 0; c < 4; ++c) {
      list.members.push_back({c, c, shown(c, last + 60 * k_us + (n * 5 + c * 11) % 7 * 300)});
    }
  }
  const auto aligned = entrain::align(clocks, list.view(), {});
  ASSERT_TRUE(aligned);
  ASSERT_EQ(aligned->report.before.explanations.size(), 1U);
  EXPECT_THAT(aligned->report.before.explanations[0].text,
              HasSubstr("the clock of d was set by +0."));
  for (const std::int64_t time : {300 * k_ms, 900 * k_ms, 1'200 * k_ms, 1'700 * k_ms}) {
    const auto at = [&](std::uint32_t c) { return aligned->maps[c](shown(c, time)); };
    for (const std::uint32_t c : {1U, 2U, 3U}) EXPECT_LT(std::abs(at(c) - at(0)), 5 * k_us) << c;
  }
}

/// The verdict was clean, though all clocks moved by 50 us.
TEST(AlignExplained, a_session_that_contradicts_the_messages_is_named) {
  for (const std::int64_t wrong : {std::int64_t{0}, 200 * k_us}) {
    Clocks clocks;
    EdgeList list;
    for (const char* name : {"a", "b", "c", "d"}) {
      Clock clock{.name = name, .kind = ClockKind::timer};
      const double half_width = clocks.clocks.empty() ? 0 : 5 * k_us;
      for (const std::int64_t time : {std::int64_t{0}, 2'000 * k_ms, 4'000 * k_ms}) {
        const bool is_wrong = name[0] == 'c' && time == 2'000 * k_ms;
        clock.sessions.push_back(
            {static_cast<std::uint64_t>(1'000 * k_ms + time), is_wrong ? wrong : 0, half_width});
      }
      clocks.clocks.push_back(std::move(clock));
    }
    RandomStream random(3, 1);
    std::uint64_t now = 1'000 * k_ms;
    for (std::uint32_t n = 0; n < 400; ++n) {
      now += 20 * k_us + random.below(20 * k_ms);
      const std::uint32_t from = n % 4;
      list.add({from, now}, {(from + 1 + n / 4 % 3) % 4, now + 5 * k_us + random.below(15 * k_us)});
    }
    const auto aligned = entrain::align(clocks, list.view(), {});
    ASSERT_TRUE(aligned) << aligned.error().message;
    const CheckReport& after = aligned->report.after;
    EXPECT_EQ(after.judgement.verdict, wrong == 0 ? Verdict::clean : Verdict::unproven);
    ASSERT_EQ(after.set_aside.size(), wrong == 0 ? 0U : 1U);
    if (wrong == 0) continue;
    EXPECT_THAT(after.set_aside[0].reason, HasSubstr("a session of c at 3000000000"));
  }
}

}  // namespace
}  // namespace entrain::engine
