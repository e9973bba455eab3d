// SPDX-License-Identifier: BSD-3-Clause
#include "match/round_trip.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "match/testing.hpp"

namespace entrain::match {
namespace {

/// A message from one location to another, and its delay by their clocks, ticks.
struct Sent {
  LocationIndex from = 0, to = 0;
  std::int64_t delay = 0;
};

/// mu of these messages, each 1000 ticks after the one before, between three processes, of which
/// the first two share a machine.
MuTicks mu_of(const std::vector<Sent>& messages) {
  testing::TraceBuilder b(3, 1, 2);
  std::uint64_t time = 0;
  for (const Sent& one : messages) {
    time += 1000;
    b.message(trace::EventKind::send, one.from, time, one.to);
    b.message(trace::EventKind::recv, one.to, time + static_cast<std::uint64_t>(one.delay),
              one.from);
  }
  Solo solo;
  return round_trip_mu(solo, trace::undivided(b.trace().definitions), build_graph(b.trace(), {}),
                       std::vector<ClockMap>(3));
}

TEST(RoundTrip, quarter_of_the_smallest) {
  // Clock 2 is 100 ticks late: delays 0 -> 2 look 100 shorter, 2 -> 0 look 100 longer.
  EXPECT_EQ(mu_of({{0, 2, 30 - 100}, {0, 2, 24 - 100}, {2, 0, 20 + 100}, {2, 0, 50 + 100}}),
            (MuTicks{0, 0, 11}));  // (24 + 20) / 4
}

TEST(RoundTrip, smallest_pair_of_each_class_counts) {
  EXPECT_EQ(mu_of({{0, 1, 4}, {1, 0, 4}, {0, 2, 40}, {2, 0, 40}, {1, 2, 20}, {2, 1, 40}}),
            (MuTicks{0, 2, 15}));
}

TEST(RoundTrip, one_direction_alone_says_nothing) {
  // 0 -> 1 and 2 -> 0 are opposite to nothing, though together they look like a round trip.
  EXPECT_EQ(mu_of({{0, 1, 8}, {2, 0, 8}}), MuTicks{});
  EXPECT_EQ(mu_of({}), MuTicks{});
}

TEST(RoundTrip, negative_round_trip_is_clamped) {
  EXPECT_EQ(mu_of({{0, 2, -50}, {2, 0, 10}}), MuTicks{});
}

TEST(RoundTrip, self_messages_are_ignored) { EXPECT_EQ(mu_of({{2, 2, 8}}), MuTicks{}); }

TEST(RoundTrip, order_does_not_matter) {
  std::vector<Sent> messages{{0, 2, 9}, {1, 2, 7}, {2, 0, 5}, {2, 1, 8}, {0, 2, 6}};
  EXPECT_EQ(mu_of(messages), (MuTicks{0, 0, 2}));  // (6 + 5) / 4
  std::ranges::reverse(messages);
  EXPECT_EQ(mu_of(messages), (MuTicks{0, 0, 2}));
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
