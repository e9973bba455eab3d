// SPDX-License-Identifier: BSD-3-Clause
#include "lines/find_offsets.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace entrain::lines {
namespace {

using ::testing::ElementsAre;
using ::testing::Optional;

TEST(FindOffsets, are_in_the_middle_of_later_and_earlier) {
  EXPECT_THAT(find_offsets(2, {{{0, 1}, -10}, {{1, 0}, 30}}), Optional(ElementsAre(-5, 5)));
  EXPECT_THAT(find_offsets(2, {{{0, 1}, -9}, {{1, 0}, 9}}), Optional(ElementsAre(-5, 4)));
}

TEST(FindOffsets, keep_every_slack_along_chains) {
  EXPECT_THAT(find_offsets(3, {{{0, 1}, -10}, {{1, 2}, -10}, {{2, 0}, 21}}),
              Optional(ElementsAre(-10, 0, 10)));
}

TEST(FindOffsets, are_none_if_a_component_contradicts_itself) {
  EXPECT_EQ(find_offsets(2, {{{0, 1}, -10}, {{1, 0}, 9}}), std::nullopt);
  EXPECT_EQ(find_offsets(2, {{{0, 1}, std::numeric_limits<std::int64_t>::min() / 2}}),
            std::nullopt);
}

/// Every round over all slacks moves one clock: the time must not grow with the square.
TEST(FindOffsets, long_chains_in_the_worst_order_take_little_time) {
  constexpr std::uint32_t k_clocks = 100'000;
  TightestSlacks tightest;
  for (std::uint32_t c = 1; c < k_clocks; ++c) tightest[{c, c - 1}] = 10;
  tightest[{k_clocks - 1, k_clocks - 2}] = -50'000;
  const auto found = find_offsets(k_clocks, tightest);
  ASSERT_TRUE(found);
  EXPECT_EQ((*found)[k_clocks - 2], 25'000);
  EXPECT_EQ((*found)[k_clocks - 3], 25'000 - 5);
  tightest[{0, k_clocks - 1}] = -2'000'000;  // closes a cycle
  EXPECT_EQ(find_offsets(k_clocks, tightest), std::nullopt);
}

TEST(FindOffsets, slacks_are_those_of_clocks_before_they_moved) {
  TightestSlacks tightest{{{0, 1}, 5}};
  const std::vector<constraints::ClockConstraint> constraints{{.from = 0, .to = 1, .slack = 7},
                                                              {.from = 1, .to = 0, .slack = 2}};
  keep_tightest(tightest, constraints, std::vector<std::int64_t>{-1, 3});
  EXPECT_THAT(tightest,
              ElementsAre(std::pair(std::pair(0U, 1U), 3), std::pair(std::pair(1U, 0U), 6)));
}

}  // namespace
}  // namespace entrain::lines
