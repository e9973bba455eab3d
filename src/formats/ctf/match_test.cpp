// SPDX-License-Identifier: BSD-3-Clause
#include "formats/ctf/match.hpp"

#include <gtest/gtest.h>

namespace entrain::ctf {
namespace {

MessageEnd send(std::uint64_t message, std::uint32_t clock, std::uint64_t time,
                std::uint64_t place = 0) {
  return {.key = {message, 0}, .is_send = true, .place = place, .clock = clock, .time = time};
}

MessageEnd receive(std::uint64_t message, std::uint32_t clock, std::uint64_t time,
                   std::uint64_t place = 0) {
  return {.key = {message, 0}, .place = place, .clock = clock, .time = time};
}

Messages paired(std::vector<MessageEnd> ends) { return pair_ends(ends, 1); }

TEST(messages, equal_keys_are_a_message) {
  const Messages found = paired({receive(1, 1, 90), send(1, 0, 100), send(2, 1, 200),
                                 receive(2, 0, 190), send(3, 0, 300), receive(4, 1, 400)});
  ASSERT_EQ(found.edges.size(), 2u);
  EXPECT_EQ(found.edges[0].first.time, 100u);
  EXPECT_EQ(found.edges[0].second.time, 90u);
  EXPECT_EQ(found.edges[1].first.clock, 1u);
  EXPECT_EQ(found.paired_of_rule[0], 2u);
  EXPECT_EQ(found.without_receive, 1);
  EXPECT_EQ(found.coverage.lost, 1u);
}

TEST(messages, what_is_seen_twice_at_a_place_is_set_aside) {
  for (const auto& ends : {std::vector{send(1, 0, 1), send(1, 0, 2), receive(1, 1, 3)},
                           {send(1, 0, 1), receive(1, 1, 3), receive(1, 1, 4)},
                           {send(1, 0, 1), send(1, 2, 2), receive(1, 1, 3)}}) {
    const Messages found = paired(ends);
    EXPECT_TRUE(found.edges.empty());
    EXPECT_EQ(found.coverage.ambiguous, 1u);
    EXPECT_EQ(found.coverage.receives, 1u);
  }
}

TEST(messages, a_packet_passes_devices_in_order) {
  const Messages found = paired({send(1, 0, 12, 8), send(1, 0, 10, 9), receive(1, 1, 31, 4),
                                 receive(1, 1, 30, 5), receive(1, 0, 11, 3)});
  ASSERT_EQ(found.edges.size(), 1u);
  EXPECT_EQ(found.edges[0].first.time, 10u);
  EXPECT_EQ(found.edges[0].second.time, 30u);
  EXPECT_EQ(found.inside, 1);
}

TEST(messages, one_send_may_reach_several_hosts) {
  EXPECT_EQ(paired({send(1, 0, 10), receive(1, 1, 30), receive(1, 2, 40)}).edges.size(), 2u);
}

TEST(messages, edges_are_held_against_their_ends) {
  std::vector ends{send(1, 0, 10, 1), send(1, 0, 11, 2), receive(1, 1, 30), send(2, 0, 50),
                   send(2, 0, 51),    receive(2, 1, 60), send(3, 1, 70),    receive(3, 0, 80)};
  Messages found = pair_ends(ends, 1);
  ASSERT_EQ(found.edges.size(), 2u);
  EXPECT_EQ(drop_refuted(found.edges, ends), 0u);
  std::vector<std::pair<MessageEnd, MessageEnd>> wrong{{send(1, 0, 11, 2), receive(1, 1, 30)},
                                                       {send(2, 0, 50), receive(2, 1, 60)},
                                                       {send(1, 0, 10, 1), receive(3, 0, 80)},
                                                       {send(3, 1, 70), receive(3, 0, 81)},
                                                       {receive(3, 0, 80), send(3, 1, 70)}};
  EXPECT_EQ(drop_refuted(wrong, ends), 5u);
}

}  // namespace
}  // namespace entrain::ctf
