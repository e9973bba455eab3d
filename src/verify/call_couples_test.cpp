// SPDX-License-Identifier: BSD-3-Clause
#include "verify/call_couples.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "verify/call_links.hpp"

namespace entrain::verify {
namespace {

/// Calls with 0, 10, 20, ... messages ahead of them, without those of these indices.
CallRow calls_without(std::vector<std::uint32_t> indices) {
  CallRow row{.traits = {}, .unlisted = {}, .stops = {}, .messages = 2000, .kinds = 5, .trust = 60};
  for (std::uint32_t k = 0; k < 200; ++k) {
    if (std::find(indices.begin(), indices.end(), k) != indices.end()) continue;
    row.traits.push_back({.time = 500 * k, .position = 10 * k, .symbol = 3});
  }
  return row;
}

TEST(CallCouples, have_equally_many_messages_ahead) {
  const CallRow a = calls_without({60, 61}), b = calls_without({59, 120});
  const Alignment found = couple_calls(a, b);
  EXPECT_EQ(found.couples.size(), 196u);
  for (const auto& [i, j] : found.couples) EXPECT_EQ(a.traits[i].position, b.traits[j].position);
}

TEST(CallCouples, do_not_mind_messages_that_only_one_side_counts) {
  CallRow a = calls_without({60}), b = calls_without({59});
  b.messages += 2;
  for (Trait& trait : b.traits) trait.position += 2;
  const Alignment found = couple_calls(a, b);
  EXPECT_EQ(found.couples.size(), 198u);
  for (const auto& [i, j] : found.couples) {
    EXPECT_EQ(a.traits[i].position + 2, b.traits[j].position);
  }
}

TEST(CallCouples, are_none_among_those_of_which_one_is_unlisted) {
  CallRow a = calls_without({});
  a.unlisted = {1000};
  EXPECT_EQ(couple_calls(a, calls_without({})).couples.size(), 199u);
}

/// Two different calls behind every tenth message; of these indices there are none.
CallRow twice_without(std::vector<std::uint32_t> indices) {
  const CallRow once = calls_without({});
  CallRow row = once;
  row.traits.clear();
  for (std::uint32_t k = 0; k < 400; ++k) {
    if (std::find(indices.begin(), indices.end(), k) != indices.end()) continue;
    Trait call = once.traits[k / 2];
    call.time += k % 2 * 4;
    call.symbol += k % 2;
    row.traits.push_back(call);
  }
  return row;
}

TEST(CallCouples, with_equal_ordinals_may_be_unequal_calls_where_one_is_missing) {
  const CallRow a = twice_without({}), b = twice_without({90, 310});
  const Alignment found = couple_calls(a, b);
  EXPECT_EQ(found.couples.size(), 396u);
  for (const auto& [i, j] : found.couples) {
    EXPECT_EQ(a.traits[i].position, b.traits[j].position);
    EXPECT_EQ(a.traits[i].symbol, b.traits[j].symbol);
  }
}

TEST(CallCouples, between_unequal_calls_have_delays_like_those_before) {
  CallRow b = twice_without({90, 310});
  for (const std::size_t k : {150, 151}) b.traits[k].time += 100;
  EXPECT_EQ(couple_calls(twice_without({}), b).couples.size(), 394u);
}

TEST(CallCouples, are_none_if_only_times_are_left) {
  CallRow a = calls_without({7}), b = calls_without({});
  a.messages = b.messages = 0;
  for (CallRow* row : {&a, &b}) {
    for (Trait& trait : row->traits) trait.position = 0;
  }
  EXPECT_TRUE(couple_calls(a, b).couples.empty());
  EXPECT_EQ(couple_calls(a, b).ambiguous, 199);
}

/// Messages around a ring of five, ten each way.
MessageCounts around() {
  MessageCounts messages;
  for (std::uint32_t p = 0; p < 5; ++p) {
    messages[p][(p + 1) % 5] = messages[(p + 1) % 5][p] = 10;
  }
  return messages;
}
const CallCounts five = {{0, 9}, {1, 9}, {2, 9}, {3, 9}, {4, 9}};

TEST(CallLinks, lead_around_a_ring) {
  const auto links = lead_to_reference(five, around(), 1);
  EXPECT_EQ(links.at(1).hops, 0u);
  EXPECT_EQ(links.at(0).next, 1u);
  EXPECT_EQ(links.at(4).next, 0u);
  EXPECT_EQ(links.at(3).next, 2u);
  EXPECT_EQ(links.at(3).hops, 2u);
}

TEST(CallLinks, avoid_unequal_counts_and_those_that_lack_calls) {
  MessageCounts messages = around();
  messages[2][1] = 11;
  EXPECT_EQ(lead_to_reference(five, messages, 1).at(2).next, 3u);
  CallCounts callers = five;
  callers[2] = 7;
  const auto links = lead_to_reference(callers, around(), 1);
  EXPECT_EQ(links.at(3).next, 4u);
  EXPECT_EQ(links.at(3).hops, 3u);
}

TEST(CallLinks, hop_at_once_where_nobody_leads) {
  MessageCounts messages = around();
  messages.erase(3);
  const auto links = lead_to_reference(five, messages, 0);
  EXPECT_EQ(links.at(3).next, 0u);
  EXPECT_EQ(links.at(3).hops, 1u);
  EXPECT_EQ(links.at(2).next, 1u);
}

}  // namespace
}  // namespace entrain::verify
