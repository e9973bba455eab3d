// SPDX-License-Identifier: BSD-3-Clause
#include "clocks/error_estimate.hpp"

#include <gtest/gtest.h>

namespace entrain::clocks {
namespace {

TEST(ErrorEstimate, the_example_of_the_header) {
  const ErrorEstimate estimate{{1'000, 2'000}, {5}, 0.01, 0.01, 1};
  EXPECT_EQ(estimate.at(1'500), 5);
  EXPECT_DOUBLE_EQ(*estimate.at(2'500), 13);
  EXPECT_DOUBLE_EQ(*estimate.at(500), 13);
}

TEST(ErrorEstimate, knows_nothing_by_itself) {
  const ErrorEstimate estimate;
  EXPECT_FALSE(estimate.known());
  EXPECT_FALSE(estimate.at(0));
  EXPECT_FALSE(estimate.worst());
}

TEST(ErrorEstimate, every_gap_between_sessions_has_its_own_error) {
  const ErrorEstimate estimate{{100, 200, 400}, {3, 7}, 0, 0, 0};
  EXPECT_EQ(estimate.at(100), 3);
  EXPECT_EQ(estimate.at(199), 3);
  EXPECT_EQ(estimate.at(201), 7);
  EXPECT_EQ(estimate.at(400), 7);
  EXPECT_EQ(estimate.worst(), 7);
}

TEST(ErrorEstimate, both_ends_grow_by_their_own_rates) {
  const ErrorEstimate estimate{{100, 200, 400}, {3, 7}, 0.5, 0.25, 0};
  EXPECT_DOUBLE_EQ(*estimate.at(0), 3 + 50);
  EXPECT_DOUBLE_EQ(*estimate.at(500), 7 + 25);
  EXPECT_EQ(estimate.worst(), 7) << "of the time between the sessions only";
}

}  // namespace
}  // namespace entrain::clocks
