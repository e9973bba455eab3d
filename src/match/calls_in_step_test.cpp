// SPDX-License-Identifier: BSD-3-Clause
#include "match/calls_in_step.hpp"

#include <gtest/gtest.h>

namespace entrain::match {
namespace {

/// 200 calls at every 40th of 8,000 messages, 1000 ticks apart.
CallSide regular(std::uint64_t delay) {
  CallSide side;
  for (std::uint32_t k = 0; k < 200; ++k) {
    side.traits.push_back({.time = 1000 * k + delay, .position = 40 * k, .symbol = 7});
  }
  side.messages = 8000;
  side.kinds = 6;
  side.evidence = 60;
  return side;
}
void lose(CallSide& side, std::size_t call) {
  side.traits.erase(side.traits.begin() + static_cast<std::ptrdiff_t>(call));
}
/// Calls that belong together have the same position.
void expect_true(const Alignment& alignment, const CallSide& a, const CallSide& b) {
  for (const auto& [i, j] : alignment.pairs) EXPECT_EQ(a.traits[i].position, b.traits[j].position);
}

TEST(CallsInStep, messages_between_them_tell_which_is_missing) {
  CallSide a = regular(0), b = regular(50);
  // As steady delays would be those of other calls.
  for (const std::size_t k : {150, 100, 50}) lose(a, k);
  for (const std::size_t k : {170, 99, 20}) lose(b, k);
  const Alignment found = pair_calls(a, b);
  EXPECT_EQ(found.pairs.size(), 194u);
  expect_true(found, a, b);
}

TEST(CallsInStep, of_calls_between_the_same_messages_all_or_none_are_certain) {
  CallSide a = regular(0), b = regular(50);
  for (CallSide* side : {&a, &b}) {
    for (std::uint32_t k = 1; k < 200; k += 2) --side->traits[k].time;
    for (std::uint32_t k = 1; k < 200; k += 2) side->traits[k].position -= 40;
  }
  lose(a, 100);
  const Alignment found = pair_calls(a, b);
  EXPECT_EQ(found.pairs.size(), 198u);
  EXPECT_EQ(found.pairs[100], (std::pair<std::uint32_t, std::uint32_t>(101, 102)));
}

TEST(CallsInStep, one_that_is_surely_missing_could_be_any_between_the_same_messages) {
  CallSide a = regular(0), b = regular(50);
  for (CallSide* side : {&a, &b}) {
    side->traits[101].position = side->traits[100].position;
    lose(*side, side == &a ? 100 : 101);
    side->missing = {side->traits[100].position};
  }
  const Alignment found = pair_calls(a, b);
  EXPECT_EQ(found.pairs.size(), 198u);
}

TEST(CallsInStep, a_message_more_on_one_side_moves_all_calls_alike) {
  CallSide a = regular(0), b = regular(50);
  for (Trait& trait : b.traits) trait.position += 1;
  ++b.messages;
  lose(a, 30);
  lose(b, 60);
  const Alignment found = pair_calls(a, b);
  ASSERT_EQ(found.pairs.size(), 198u);
  for (const auto& [i, j] : found.pairs) {
    EXPECT_EQ(a.traits[i].position + 1, b.traits[j].position);
  }
}

TEST(CallsInStep, after_every_message_nobody_knows_which_side_counts_more) {
  CallSide a = regular(0), b = regular(50);
  for (CallSide* side : {&a, &b}) {
    side->messages = 200;
    for (Trait& trait : side->traits) trait.position /= 40;
  }
  ++b.messages;
  lose(a, 30);
  lose(b, 60);
  // The alignment is certain of next to nothing, as delays are equally steady.
  for (const auto& [i, j] : pair_calls(a, b).pairs) {
    EXPECT_EQ(a.traits[i].position, b.traits[j].position);
  }
}

/// Two different calls after every 40 messages, of which one is missing in two places, so that
/// unequal ones have the same number.
CallSide pairs_of_calls(std::uint64_t delay) {
  CallSide side = regular(delay);
  for (std::uint32_t k = 0; k < 400; k += 2) {
    Trait second = side.traits[k];
    second.time += 5;
    second.symbol = 8;
    side.traits.insert(side.traits.begin() + k + 1, second);
  }
  return side;
}

TEST(CallsInStep, between_unequal_calls_the_numbers_of_others_count) {
  const CallSide a = pairs_of_calls(0);
  CallSide b = pairs_of_calls(50);
  for (const std::size_t k : {280, 120}) lose(b, k);
  const Alignment found = pair_calls(a, b);
  EXPECT_EQ(found.pairs.size(), 396u);
  expect_true(found, a, b);
  EXPECT_EQ(found.looked_at, 0u);  // no explanations were compared
}

TEST(CallsInStep, between_unequal_calls_an_odd_delay_is_not_believed) {
  const CallSide a = pairs_of_calls(0);
  CallSide b = pairs_of_calls(50);
  for (const std::size_t k : {200, 201}) b.traits[k].time += 200;
  for (const std::size_t k : {280, 120}) lose(b, k);
  EXPECT_EQ(pair_calls(a, b).pairs.size(), 394u);
}

TEST(CallsInStep, times_alone_do_not_tell_calls_of_a_routine_apart) {
  CallSide a = regular(0), b = regular(50);
  for (CallSide* side : {&a, &b}) {
    side->messages = 0;
    for (Trait& trait : side->traits) trait.position = 0;
  }
  lose(b, 100);
  const Alignment found = pair_calls(a, b);
  EXPECT_TRUE(found.pairs.empty());
  EXPECT_EQ(found.ambiguous, 199u);
}

}  // namespace
}  // namespace entrain::match
