// SPDX-License-Identifier: BSD-3-Clause
#include "match/round_trip.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "match/testing.hpp"

namespace entrain::match {
namespace {

constexpr auto k_other = LatencyClass::other;
constexpr auto k_node = LatencyClass::same_node;

TEST(Latency, quarter_of_the_smallest_round_trip) {
  // Clock 1 is 100 ticks late: delays 0 -> 1 look 100 shorter, 1 -> 0 look 100 longer.
  const MuTicks mu = estimate_round_trip_mu({{0, 1, k_other, 30 - 100},
                                             {0, 1, k_other, 24 - 100},
                                             {1, 0, k_other, 20 + 100},
                                             {1, 0, k_other, 50 + 100}});
  EXPECT_EQ(mu, (MuTicks{0, 0, 11}));  // (24 + 20) / 4
}

TEST(Latency, smallest_pair_of_each_class_counts) {
  const MuTicks mu = estimate_round_trip_mu({{0, 1, k_node, 4},
                                             {1, 0, k_node, 4},
                                             {0, 2, k_other, 40},
                                             {2, 0, k_other, 40},
                                             {1, 2, k_other, 20},
                                             {2, 1, k_other, 40}});
  EXPECT_EQ(mu, (MuTicks{0, 2, 15}));
}

TEST(Latency, one_direction_alone_says_nothing) {
  // 0 -> 1 and 2 -> 0 are opposite to nothing, though together they look like a round trip.
  EXPECT_EQ(estimate_round_trip_mu({{0, 1, k_other, 8}, {2, 0, k_other, 8}}), MuTicks{});
  EXPECT_EQ(estimate_round_trip_mu({}), MuTicks{});
}

TEST(Latency, negative_round_trip_is_clamped) {
  EXPECT_EQ(estimate_round_trip_mu({{0, 1, k_other, -50}, {1, 0, k_other, 10}}), MuTicks{});
}

TEST(Latency, self_messages_are_ignored) {
  EXPECT_EQ(estimate_round_trip_mu({{3, 3, LatencyClass::same_process, 8}}), MuTicks{});
}

TEST(Latency, order_does_not_matter) {
  std::vector<OneWayDelay> delays{{0, 1, k_other, 9},
                                  {1, 2, k_other, 7},
                                  {1, 0, k_other, 5},
                                  {2, 1, k_other, 8},
                                  {0, 1, k_other, 6}};
  const MuTicks expected = estimate_round_trip_mu(delays);
  EXPECT_EQ(expected[2], 2);  // (6 + 5) / 4
  std::reverse(delays.begin(), delays.end());
  EXPECT_EQ(estimate_round_trip_mu(delays), expected);
}

TEST(RoundTrip, messages_give_mu_per_class) {
  testing::TraceBuilder b(2);
  b.message(trace::EventKind::send, 0, 1000, 1);
  b.message(trace::EventKind::recv, 1, 520, 0);  // clock 1 is 500 behind: true delay 20
  b.message(trace::EventKind::send, 1, 600, 0);
  b.message(trace::EventKind::recv, 0, 1124, 1);  // true delay 24
  const std::vector<ClockMap> maps(2);
  for (const unsigned members : {1U, 2U}) {
    trace::Partition partition;
    partition.owner = {0, members - 1};
    const auto result = run_team(members, [&](Team& team) -> Result<void> {
      const auto graph = build_graph({team, partition, b.trace()}, {});
      EXPECT_EQ(round_trip_mu(team, partition, *graph, maps), (MuTicks{0, 0, 11}));
      return {};
    });
    EXPECT_TRUE(result);
  }
}

}  // namespace
}  // namespace entrain::match
