// SPDX-License-Identifier: BSD-3-Clause
#include "lines/offsets.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace entrain::lines {
namespace {

using ::testing::ElementsAre;
using ::testing::Optional;

constraints::ClockConstraint slack(std::uint32_t from, std::uint32_t to, std::int64_t ticks) {
  return {.from = from, .to = to, .slack = ticks};
}

auto found(std::vector<char> fixed, std::vector<constraints::ClockConstraint> constraints) {
  const std::vector<std::int64_t> nothing(fixed.size(), 0);
  Offsets offsets(std::move(fixed));
  offsets.add(constraints, nothing);
  return offsets.find();
}

TEST(Offsets, are_in_the_middle_of_later_and_earlier) {
  EXPECT_THAT(found({0, 0}, {slack(0, 1, -10), slack(1, 0, 30)}), Optional(ElementsAre(-5, 5)));
  EXPECT_THAT(found({0, 0}, {slack(0, 1, -9), slack(1, 0, 9)}), Optional(ElementsAre(-5, 4)));
}

TEST(Offsets, keep_every_slack_along_chains) {
  EXPECT_THAT(found({0, 0, 0}, {slack(0, 1, -10), slack(1, 2, -10), slack(2, 0, 21)}),
              Optional(ElementsAre(-10, 0, 10)));
}

TEST(Offsets, are_none_if_a_component_contradicts_itself) {
  EXPECT_EQ(found({0, 0}, {slack(0, 1, -10), slack(1, 0, 9)}), std::nullopt);
}

TEST(Offsets, come_to_the_centre_of_what_fixed_clocks_leave) {
  EXPECT_THAT(found({1, 0}, {slack(0, 1, -10), slack(1, 0, 30)}), Optional(ElementsAre(0, 20)));
  EXPECT_THAT(found({1, 0}, {slack(0, 1, -10)}), Optional(ElementsAre(0, 10)));
  EXPECT_THAT(found({1, 0}, {slack(0, 1, 100), slack(1, 0, 20)}), Optional(ElementsAre(0, 0)));
}

TEST(Offsets, slacks_are_those_of_clocks_before_they_moved) {
  Offsets offsets({1, 0});
  offsets.add(std::vector{slack(0, 1, -10), slack(1, 0, 40)}, std::vector<std::int64_t>{0, 5});
  EXPECT_THAT(offsets.find(), Optional(ElementsAre(0, 30)));  // 15 to 45
}

/// Every round over all slacks moves one clock: the time must not grow with the square.
TEST(Offsets, long_chains_in_the_worst_order_take_little_time) {
  constexpr std::uint32_t k_clocks = 100'000;
  std::vector<constraints::ClockConstraint> slacks{slack(k_clocks - 1, k_clocks - 2, -50'000)};
  for (std::uint32_t c = 1; c + 1 < k_clocks; ++c) slacks.push_back(slack(c, c - 1, 10));
  const auto all = found(std::vector<char>(k_clocks, 0), slacks);
  ASSERT_TRUE(all);
  EXPECT_EQ((*all)[k_clocks - 2], 25'000);
  EXPECT_EQ((*all)[k_clocks - 3], 25'000 - 5);
  slacks.push_back(slack(0, k_clocks - 1, -2'000'000));  // closes a cycle
  EXPECT_EQ(found(std::vector<char>(k_clocks, 0), slacks), std::nullopt);
}

}  // namespace
}  // namespace entrain::lines
