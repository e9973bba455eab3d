// SPDX-License-Identifier: BSD-3-Clause
#include "constraints/clock_errors.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace entrain::constraints {
namespace {

TEST(ClockErrors, are_straight_between_knots_and_beyond) {
  const ClockErrors errors(1'000, 100, 3, {0, 20, 10});
  EXPECT_EQ(errors(0, 1'000), 0);
  EXPECT_EQ(errors(0, 1'050), 10);
  EXPECT_EQ(errors(0, 1'100), 20);
  EXPECT_EQ(errors(0, 1'200), 10);
  EXPECT_EQ(errors(0, 1'300), 0);
  EXPECT_EQ(errors(0, 950), -10);
}

TEST(ClockErrors, every_clock_has_its_own_values) {
  const ClockErrors errors(0, 10, 2, {0, 10, 5, 5});
  EXPECT_EQ(errors(0, 5), 5);
  EXPECT_EQ(errors(1, 7), 5);
  EXPECT_EQ(errors.of(1).size(), 2u);
  EXPECT_EQ(errors.of(1)[1], 5);
  EXPECT_EQ(errors.distance(1), 10);
  EXPECT_EQ(ClockErrors().knots(), 0u);
}

}  // namespace
}  // namespace entrain::constraints
