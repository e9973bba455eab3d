// SPDX-License-Identifier: BSD-3-Clause
#include "clock/latency.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace entrain::clock {
namespace {

constexpr auto k_other = LatencyClass::other;
constexpr auto k_node = LatencyClass::same_node;

TEST(Latency, QuarterOfTheSmallestRoundTrip) {
  // Clock 1 is 100 ticks late: delays 0 -> 1 look 100 shorter, 1 -> 0 look 100 longer.
  const MuTicks mu = estimate_round_trip_mu({{0, 1, k_other, 30 - 100},
                                             {0, 1, k_other, 24 - 100},
                                             {1, 0, k_other, 20 + 100},
                                             {1, 0, k_other, 50 + 100}});
  EXPECT_EQ(mu, (MuTicks{0, 0, 11}));  // (24 + 20) / 4
}

TEST(Latency, SmallestPairOfEachClassCounts) {
  const MuTicks mu = estimate_round_trip_mu({{0, 1, k_node, 4},
                                             {1, 0, k_node, 4},
                                             {0, 2, k_other, 40},
                                             {2, 0, k_other, 40},
                                             {1, 2, k_other, 20},
                                             {2, 1, k_other, 40}});
  EXPECT_EQ(mu, (MuTicks{0, 2, 15}));
}

TEST(Latency, OneDirectionAloneSaysNothing) {
  // 0 -> 1 and 2 -> 0 are opposite to nothing, though together they look like a round trip.
  EXPECT_EQ(estimate_round_trip_mu({{0, 1, k_other, 8}, {2, 0, k_other, 8}}), MuTicks{});
  EXPECT_EQ(estimate_round_trip_mu({}), MuTicks{});
}

TEST(Latency, NegativeRoundTripIsClamped) {
  EXPECT_EQ(estimate_round_trip_mu({{0, 1, k_other, -50}, {1, 0, k_other, 10}}), MuTicks{});
}

TEST(Latency, SelfMessagesAreIgnored) {
  EXPECT_EQ(estimate_round_trip_mu({{3, 3, LatencyClass::same_process, 8}}), MuTicks{});
}

TEST(Latency, OrderDoesNotMatter) {
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

}  // namespace
}  // namespace entrain::clock
