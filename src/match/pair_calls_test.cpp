// SPDX-License-Identifier: BSD-3-Clause
#include "match/pair_calls.hpp"

#include <gtest/gtest.h>

namespace entrain::match {
namespace {

/// 200 calls at every 40th of 8,000 messages, 1000 ticks apart.
CallSide regular(std::uint64_t delay) {
  CallSide side;
  for (std::uint32_t k = 0; k < 200; ++k) {
    side.records.push_back({.time = 1000 * k + delay, .position = 40 * k, .symbol = 7});
  }
  side.messages = 8000;
  side.kinds = 6;
  side.evidence = 60;
  return side;
}
void lose(CallSide& side, std::size_t call) {
  side.records.erase(side.records.begin() + static_cast<std::ptrdiff_t>(call));
}
/// True if the calls of every pair have the same position.
void expect_true(const Alignment& alignment, const CallSide& a, const CallSide& b) {
  for (const auto& [i, j] : alignment.pairs)
    EXPECT_EQ(a.records[i].position, b.records[j].position);
}

TEST(PairCalls, messages_between_them_tell_which_is_missing) {
  CallSide a = regular(0), b = regular(50);
  // Other calls would have equally steady delays.
  for (const std::size_t k : {150, 100, 50}) lose(a, k);
  for (const std::size_t k : {170, 99, 20}) lose(b, k);
  const Alignment found = pair_calls(a, b);
  EXPECT_EQ(found.pairs.size(), 194u);
  expect_true(found, a, b);
}

TEST(PairCalls, of_calls_between_the_same_messages_all_or_none_are_certain) {
  CallSide a = regular(0), b = regular(50);
  for (CallSide* side : {&a, &b}) {
    for (std::uint32_t k = 1; k < 200; k += 2) --side->records[k].time;
    for (std::uint32_t k = 1; k < 200; k += 2) side->records[k].position -= 40;
  }
  lose(a, 100);
  const Alignment found = pair_calls(a, b);
  EXPECT_EQ(found.pairs.size(), 198u);
  EXPECT_EQ(found.pairs[100], (std::pair<std::uint32_t, std::uint32_t>(101, 102)));
}

TEST(PairCalls, one_that_is_surely_missing_could_be_any_between_the_same_messages) {
  CallSide a = regular(0), b = regular(50);
  for (CallSide* side : {&a, &b}) {
    side->records[101].position = side->records[100].position;
    lose(*side, side == &a ? 100 : 101);
    side->missing = {side->records[100].position};
  }
  const Alignment found = pair_calls(a, b);
  EXPECT_EQ(found.pairs.size(), 198u);
}

TEST(PairCalls, a_message_more_on_one_side_moves_all_calls_alike) {
  CallSide a = regular(0), b = regular(50);
  for (EndRecord& record : b.records) record.position += 1;
  ++b.messages;
  lose(a, 30);
  lose(b, 60);
  const Alignment found = pair_calls(a, b);
  ASSERT_EQ(found.pairs.size(), 198u);
  for (const auto& [i, j] : found.pairs) {
    EXPECT_EQ(a.records[i].position + 1, b.records[j].position);
  }
}

TEST(PairCalls, after_every_message_nobody_knows_which_side_counts_more) {
  CallSide a = regular(0), b = regular(50);
  for (CallSide* side : {&a, &b}) {
    side->messages = 200;
    for (EndRecord& record : side->records) record.position /= 40;
  }
  ++b.messages;
  lose(a, 30);
  lose(b, 60);
  // The alignment is certain of almost nothing, as delays are equally steady.
  for (const auto& [i, j] : pair_calls(a, b).pairs) {
    EXPECT_EQ(a.records[i].position, b.records[j].position);
  }
}

/// Two different calls after every 40 messages, of which one is missing in two places, so that
/// unequal ones have the same number.
CallSide pairs_of_calls(std::uint64_t delay) {
  CallSide side = regular(delay);
  for (std::uint32_t k = 0; k < 400; k += 2) {
    EndRecord second = side.records[k];
    second.time += 5;
    second.symbol = 8;
    side.records.insert(side.records.begin() + k + 1, second);
  }
  return side;
}

TEST(PairCalls, between_unequal_calls_the_numbers_of_others_count) {
  const CallSide a = pairs_of_calls(0);
  CallSide b = pairs_of_calls(50);
  for (const std::size_t k : {280, 120}) lose(b, k);
  const Alignment found = pair_calls(a, b);
  EXPECT_EQ(found.pairs.size(), 396u);
  expect_true(found, a, b);
  EXPECT_EQ(found.examined_pairs, 0u);  // no explanations were compared
}

TEST(PairCalls, between_unequal_calls_an_outlying_delay_is_rejected) {
  const CallSide a = pairs_of_calls(0);
  CallSide b = pairs_of_calls(50);
  for (const std::size_t k : {200, 201}) b.records[k].time += 200;
  for (const std::size_t k : {280, 120}) lose(b, k);
  EXPECT_EQ(pair_calls(a, b).pairs.size(), 394u);
}

TEST(PairCalls, times_alone_do_not_distinguish_calls_of_a_routine) {
  CallSide a = regular(0), b = regular(50);
  for (CallSide* side : {&a, &b}) {
    side->messages = 0;
    for (EndRecord& record : side->records) record.position = 0;
  }
  lose(b, 100);
  const Alignment found = pair_calls(a, b);
  EXPECT_TRUE(found.pairs.empty());
  EXPECT_EQ(found.ambiguous, 199u);
}

}  // namespace
}  // namespace entrain::match
