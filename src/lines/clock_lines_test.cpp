// SPDX-License-Identifier: BSD-3-Clause
#include "lines/clock_lines.hpp"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace entrain::lines {
namespace {

/// Straight clocks: reading = truth + offset + rate * truth.
struct Clock {
  double offset = 0, rate = 0;
  [[nodiscard]] std::int64_t reading(double truth) const {
    return std::llround(truth * (1 + rate) + offset);
  }
};

std::vector<constraints::ClockConstraint> messages(std::span<const Clock> clocks,
                                                   std::uint32_t from, std::uint32_t to, int count,
                                                   std::mt19937_64& random) {
  std::vector<constraints::ClockConstraint> constraints;
  for (int i = 0; i < count; ++i) {
    const double sent = static_cast<double>(random() % 60'000'000'000);
    const double received = sent + 1'000 + static_cast<double>(random() % 20'000);
    const std::int64_t s = clocks[from].reading(sent), r = clocks[to].reading(received);
    constraints.push_back({from, to, s, r, r - s});
  }
  return constraints;
}

std::int64_t aligned(const ClockLine& line, std::int64_t t) {
  return t + line.offset + std::llround(line.rate * static_cast<double>(t - line.base));
}

TEST(ClockLines, brings_clocks_together_that_are_seconds_off_and_drift) {
  std::mt19937_64 random(5);
  const std::vector<Clock> clocks{{0, 0}, {1e10, 1e-4}, {-7e9, -8e-5}, {3e9, 2e-5}};
  std::vector<constraints::ClockConstraint> constraints;
  // A chain: clock 3 only talks to clock 1, clock 1 to clock 2, clock 2 to clock 0.
  for (const auto& [a, b] : {std::pair(3u, 1u), std::pair(1u, 2u), std::pair(2u, 0u)}) {
    for (const auto& part :
         {messages(clocks, a, b, 500, random), messages(clocks, b, a, 500, random)}) {
      constraints.insert(constraints.end(), part.begin(), part.end());
    }
  }
  const auto lines = find_clock_lines(4, constraints);
  for (const double truth : {0.0, 1e9, 3e10, 6e10}) {
    const std::int64_t reference = aligned(lines[0], clocks[0].reading(truth));
    for (std::size_t c = 1; c < 4; ++c) {
      EXPECT_EQ(lines[c].component, 0u);
      EXPECT_NEAR(static_cast<double>(aligned(lines[c], clocks[c].reading(truth)) - reference), 0,
                  3 * 1'000)
          << c << " at " << truth;
    }
  }
}

TEST(ClockLines, one_way_traffic_aligns_nothing) {
  std::mt19937_64 random(6);
  const std::vector<Clock> clocks{{0, 0}, {1e10, 1e-4}, {5e6, 0}};
  std::vector<constraints::ClockConstraint> constraints = messages(clocks, 0, 1, 100, random);
  for (const auto& part :
       {messages(clocks, 0, 2, 100, random), messages(clocks, 2, 0, 100, random)}) {
    constraints.insert(constraints.end(), part.begin(), part.end());
  }
  const auto lines = find_clock_lines(3, constraints);
  EXPECT_EQ(lines[1].component, 1u);
  EXPECT_EQ(lines[1].offset, 0);
  EXPECT_EQ(lines[1].rate, 0);
  EXPECT_EQ(lines[2].component, 0u);
  EXPECT_NEAR(static_cast<double>(lines[2].offset), -5e6, 2e3);
}

TEST(ClockLines, groups_between_which_messages_go_one_way_are_moved_until_none_is_early) {
  std::mt19937_64 random(7);
  // Both ways between 0 and 1, and between 2 and 3, but only from these to those.
  const std::vector<Clock> clocks{{0, 0}, {2e6, 1e-5}, {5e9, 0}, {5.001e9, -1e-5}};
  std::vector<constraints::ClockConstraint> constraints;
  for (const auto& [a, b] : {std::pair(0u, 1u), std::pair(1u, 0u), std::pair(2u, 3u),
                             std::pair(3u, 2u), std::pair(2u, 1u)}) {
    const auto part = messages(clocks, a, b, 200, random);
    constraints.insert(constraints.end(), part.begin(), part.end());
  }
  const auto lines = find_clock_lines(4, constraints);
  EXPECT_EQ(lines[1].component, 0u);
  EXPECT_EQ(lines[3].component, 2u);
  EXPECT_EQ(lines[2].offset, 0);
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (const constraints::ClockConstraint& constraint : constraints) {
    if (constraint.from != 2 || constraint.to != 1) continue;
    least = std::min(
        least, aligned(lines[1], constraint.to_time) - aligned(lines[2], constraint.from_time));
  }
  EXPECT_EQ(least, 0);
  EXPECT_NEAR(static_cast<double>(lines[0].offset), 5e9, 1e5);
}

TEST(ClockLines, what_goes_around_in_cycles_one_way_moves_nothing) {
  const std::vector<constraints::ClockConstraint> constraints{
      {0, 1, 1'000, 500, -500}, {1, 2, 2'000, 1'500, -500}, {2, 0, 3'000, 2'500, -500}};
  for (const ClockLine& line : find_clock_lines(3, constraints)) EXPECT_EQ(line.offset, 0);
}

TEST(ClockLines, groups_move_as_one) {
  // 0 and 1 are aligned already. Clock 2 is held by one of them from each side.
  std::vector<constraints::ClockConstraint> constraints;
  for (std::int64_t t = 0; t < 10'000'000; t += 500'000) {
    constraints.push_back({0, 2, t, t + 1'000'900, 1'000'900});
    constraints.push_back({2, 1, t + 1'050'000, t + 50'900, -999'100});
  }
  EXPECT_EQ(find_clock_lines(3, constraints)[2].component, 2u);
  const std::vector<std::uint32_t> groups{0, 0, 2};
  const auto lines = find_clock_lines(3, constraints, groups);
  EXPECT_EQ(lines[2].component, 0u);
  EXPECT_EQ(lines[1].offset, 0);
  EXPECT_NEAR(static_cast<double>(aligned(lines[2], 6'000'000)), 5e6, 1'000);
}

TEST(ClockLines, few_messages_do_not_make_clocks_drift_more_than_they_can) {
  // Between the first pair of messages and the last one goes anything from -1 % to 1 %.
  const std::vector<constraints::ClockConstraint> constraints{
      {0, 1, 0, 5'000'000, 5'000'000},
      {1, 0, 1'000, 5'001'000, 5'000'000},
      {0, 1, 1'000'000'000, 1'000'100'000, 100'000},
      {1, 0, 1'000'001'000, 1'009'901'000, 9'900'000}};
  const auto lines = find_clock_lines(2, constraints);
  EXPECT_LE(std::abs(lines[1].rate), 2.5e-4);
}

TEST(ClockLines, nothing_is_known_without_edges) {
  const auto lines = find_clock_lines(2, {});
  EXPECT_EQ(lines[1].component, 1u);
  EXPECT_EQ(lines[1].offset, 0);
}

}  // namespace
}  // namespace entrain::lines
