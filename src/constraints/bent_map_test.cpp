// SPDX-License-Identifier: BSD-3-Clause
#include "constraints/constrained_clocks.hpp"

#include <array>

#include <gtest/gtest.h>

namespace entrain::constraints {
namespace {

TEST(BentMap, moves_times_and_keeps_the_knots_of_the_map) {
  const ClockMap map = *ClockMap::from_knots({{1'000, 500}, {1'200, 520}, {1'400, 500}});
  trace::LocationSkeleton stamps;
  stamps.event_count = 3;
  stamps.first = 1'000;
  stamps.last = 1'400;
  const std::array<std::int64_t, 2> times{1'500, 1'900};
  const auto move = [](std::int64_t time) { return (time - 1'500) / 50; };
  const auto bent = bent_map(map, stamps, times, move);
  ASSERT_TRUE(bent);
  for (const std::uint64_t stamp : {1'000, 1'100, 1'200, 1'300, 1'400}) {
    const std::int64_t time = map(stamp);
    EXPECT_NEAR(static_cast<double>((*bent)(stamp)), static_cast<double>(time + move(time)), 1)
        << stamp;
  }
  EXPECT_EQ(bent->knots().size(), 3U);
}

}  // namespace
}  // namespace entrain::constraints
