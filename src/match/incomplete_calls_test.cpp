// SPDX-License-Identifier: BSD-3-Clause
#include "match/incomplete_calls.hpp"

#include <gtest/gtest.h>

namespace entrain::match {
namespace {

/// The calls of a process with a routine, and the messages exchanged with the other one before
/// each.
struct PlacedCalls {
  std::vector<EndRecord> records;
  std::vector<std::uint32_t> messages, missing;
  SideFacts facts{.kinds = 6, .evidence = 60};
  std::uint32_t exchanged = 8000;

  void add(std::uint64_t time, std::uint32_t before, std::uint32_t symbol = 7) {
    records.push_back({.time = time, .symbol = symbol});
    messages.push_back(before);
  }
  void lose(std::size_t call) {
    records.erase(records.begin() + static_cast<std::ptrdiff_t>(call));
    messages.erase(messages.begin() + static_cast<std::ptrdiff_t>(call));
  }
  Side side() {
    if (exchanged > 0) {
      place_calls(messages, missing, exchanged, records, facts);
    } else {
      facts.evidence = 0;
    }
    return {records, facts};
  }
};

/// 200 calls at every 40th of 8,000 messages, 1000 ticks apart.
PlacedCalls regular(std::uint64_t delay) {
  PlacedCalls calls;
  for (std::uint32_t k = 0; k < 200; ++k) calls.add(1000 * k + delay, 40 * k);
  return calls;
}
/// True if the calls of every pair come after equally many messages, `more` of them in b.
void expect_true(const Alignment& alignment, const PlacedCalls& a, const PlacedCalls& b,
                 std::uint32_t more = 0) {
  for (const auto& [i, j] : alignment.pairs) EXPECT_EQ(a.messages[i] + more, b.messages[j]);
}

TEST(PairCalls, messages_between_them_tell_which_is_missing) {
  PlacedCalls a = regular(0), b = regular(50);
  // Other calls would have equally steady delays.
  for (const std::size_t k : {150, 100, 50}) a.lose(k);
  for (const std::size_t k : {170, 99, 20}) b.lose(k);
  const Alignment found = pair_calls(a.side(), b.side());
  EXPECT_EQ(found.pairs.size(), 194u);
  expect_true(found, a, b);
}

TEST(PairCalls, of_calls_between_the_same_messages_all_or_none_are_certain) {
  PlacedCalls a = regular(0), b = regular(50);
  for (PlacedCalls* calls : {&a, &b}) {
    for (std::uint32_t k = 1; k < 200; k += 2) calls->messages[k] -= 40;
  }
  a.lose(100);
  const Alignment found = pair_calls(a.side(), b.side());
  EXPECT_EQ(found.pairs.size(), 198u);
  EXPECT_EQ(found.pairs[100], (std::pair<std::uint32_t, std::uint32_t>(101, 102)));
}

TEST(PairCalls, one_that_is_surely_missing_could_be_any_between_the_same_messages) {
  PlacedCalls a = regular(0), b = regular(50);
  for (PlacedCalls* calls : {&a, &b}) {
    calls->messages[101] = calls->messages[100];
    calls->missing = {calls->messages[100]};
    calls->lose(calls == &a ? 100 : 101);
  }
  EXPECT_EQ(pair_calls(a.side(), b.side()).pairs.size(), 198u);
}

TEST(PairCalls, where_no_numbers_count_none_is_unclear) {
  PlacedCalls a = regular(0), b = regular(50);
  a.facts.evidence = 17;
  a.missing = {a.messages[100]};
  EXPECT_EQ(pair_calls(a.side(), b.side()).pairs.size(), 200u);
}

TEST(PairCalls, what_32_bits_cannot_number_has_no_numbers) {
  PlacedCalls calls = regular(0);
  calls.exchanged = (1u << 29) - 2;
  EXPECT_EQ(calls.side().facts.total, 0xFFFF'FFF8u);
  EXPECT_EQ(calls.facts.evidence, 60u);
  for (const std::uint32_t exchanged : {1u << 29, 0xFFFF'FFFFu}) {
    calls = regular(0);
    calls.exchanged = exchanged;
    EXPECT_EQ(calls.side().facts.evidence, 0u);
    EXPECT_GT(calls.facts.total, 0u);
    EXPECT_EQ(calls.records.back().position, 40u * 199);
    EXPECT_EQ(calls.records.back().number, 0u);
  }
}

TEST(PairCalls, a_message_more_on_one_side_moves_all_calls_alike) {
  PlacedCalls a = regular(0), b = regular(50);
  for (std::uint32_t& before : b.messages) ++before;
  ++b.exchanged;
  a.lose(30);
  b.lose(60);
  const Alignment found = pair_calls(a.side(), b.side());
  EXPECT_EQ(found.pairs.size(), 198u);
  expect_true(found, a, b, 1);
}

TEST(PairCalls, of_unequal_calls_between_the_same_messages_numbers_count) {
  // Two different calls after every 40 messages, of which one is missing in two places, so that
  // unequal ones have the same number.
  PlacedCalls a, b;
  for (std::uint32_t k = 0; k < 200; ++k) {
    for (const std::uint32_t second : {0u, 1u}) {
      a.add(1000 * k + 5 * second, 40 * k, 7 + second);
      b.add(1000 * k + 5 * second + 50, 40 * k, 7 + second);
    }
  }
  for (const std::size_t k : {280, 120}) b.lose(k);
  const Alignment found = pair_calls(a.side(), b.side());
  EXPECT_EQ(found.pairs.size(), 396u);
  expect_true(found, a, b);
  EXPECT_EQ(found.examined_pairs, 0u);  // no explanations were compared
}

/// Calls of 600 ticks, 1000 apart, without a routine, that clock records place within 150 ticks.
PlacedCalls measured() {
  PlacedCalls calls = regular(600);
  calls.facts.evidence = 0;
  for (EndRecord& record : calls.records) record.doubt = 150, record.duration = 600;
  return calls;
}

TEST(PairCalls, a_stretch_that_one_side_lost_is_where_clock_records_allow_it) {
  for (const std::size_t first : {0, 90, 170}) {
    const PlacedCalls a = measured();
    PlacedCalls b = measured();
    for (int n = 0; n < 30; ++n) b.lose(first);
    for (const bool is_turned : {false, true}) {
      PlacedCalls one = is_turned ? b : a, other = is_turned ? a : b;
      const Alignment found = pair_calls(one.side(), other.side());
      EXPECT_EQ(found.pairs.size(), 170u);
      expect_true(found, one, other);
    }
  }
}

TEST(PairCalls, no_stretch_is_seen_where_clock_records_tell_of_two) {
  PlacedCalls a = measured(), b = measured();
  for (int n = 0; n < 20; ++n) a.lose(120), b.lose(30), b.lose(30);
  const Alignment found = pair_calls(a.side(), b.side());
  expect_true(found, a, b);
}

TEST(PairCalls, one_more_that_the_other_side_lost_makes_no_wrong_pairs) {
  for (const std::size_t lost : {0, 30, 119, 128, 170, 199}) {  // before and after the stretch
    PlacedCalls a = measured(), b = measured();
    for (PlacedCalls* side : {&a, &b}) {
      for (EndRecord& record : side->records) record.doubt = 500;  // leaves a round open
    }
    for (int n = 0; n < 8; ++n) b.lose(120);
    a.lose(lost);
    SCOPED_TRACE(lost);
    expect_true(pair_calls(a.side(), b.side()), a, b);
    expect_true(pair_calls(b.side(), a.side()), b, a);
  }
}

TEST(PairCalls, times_alone_do_not_distinguish_calls_of_a_routine) {
  PlacedCalls a = regular(0), b = regular(50);
  a.exchanged = b.exchanged = 0;
  b.lose(100);
  const Alignment found = pair_calls(a.side(), b.side());
  EXPECT_TRUE(found.pairs.empty());
  EXPECT_EQ(found.ambiguous, 199u);
}

}  // namespace
}  // namespace entrain::match
