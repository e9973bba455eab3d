// SPDX-License-Identifier: BSD-3-Clause
#include "formats/tables/steps.hpp"

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace entrain::tables {
namespace {

constexpr std::uint64_t k_s = 1'000'000'000;

TEST(Step, divides_all_stamps_of_a_clock_that_cuts_them) {
  for (const std::uint64_t gap : {k_s / 10, 3 * k_s}) {  // many stamps in a step, and seldom one
    RandomStream random(1, 1);
    Step step;
    for (std::uint64_t i = 0, time = 0; i < 40; ++i) {
      time += random.below(gap);
      step.add(time / k_s * k_s);
    }
    EXPECT_EQ(step.whole(), k_s) << gap;
  }
}

/// The step that so many stamps of a clock show that cuts its times.
std::uint64_t learned(std::uint64_t cut, int stamps) {
  RandomStream random(3, cut);
  Step step;
  for (std::uint64_t time = 7 * k_s; stamps-- > 0;) {
    time += 2 * cut + random.below(30 * k_s);
    step.add(time / cut * cut);
  }
  return step.learned();
}

TEST(Step, is_shown_by_a_dozen_stamps_if_it_is_large) {
  constexpr std::uint64_t k_board = 15'625'000;
  EXPECT_EQ(learned(k_board, 12), k_board);
  EXPECT_EQ(learned(k_board, 11), 1U);
  EXPECT_EQ(learned(4, 12), 1U);
  EXPECT_EQ(learned(4, 60), 4U);
  EXPECT_EQ(learned(1, 60), 1U);
}

/// Times since 1970 as doubles, with the fewest decimals that tell them apart.
TEST(Step, of_floating_point_numbers_is_their_distance) {
  struct Unit {
    double ticks;
    std::uint64_t shown, step;
  };
  for (const auto& [ticks, shown, step] :
       {Unit{1e9, 100, 239}, {1e6, 100, 245}, {1e3, 100, 250}, {1e9, 1, 239}}) {
    RandomStream random(5, static_cast<std::uint64_t>(ticks) + shown);
    Step cut(ticks), exact(ticks);
    for (std::uint64_t i = 0, time = 1'763'000'000 * k_s; i < 60; ++i) {
      time += random.below(k_s);
      const auto value = static_cast<double>(static_cast<long double>(time) / ticks);
      const auto near = static_cast<std::uint64_t>(static_cast<long double>(value) * ticks + 0.5L);
      cut.add((near + shown / 2) / shown * shown);
      EXPECT_NEAR(static_cast<double>(cut.nearest(time)), static_cast<double>(time), 512);
      exact.add(time / shown * shown);
    }
    EXPECT_EQ(cut.learned(), step) << ticks;
    EXPECT_EQ(exact.learned(), shown) << ticks;
  }
}

TEST(Step, of_stamps_at_equal_distances_is_unknown) {
  Step step;
  for (std::uint64_t i = 0; i < 60; ++i) step.add(2 * k_s * i + (i < 30 ? 0 : 7200 * k_s));
  EXPECT_EQ(step.whole(), 1U);
  EXPECT_EQ(step.learned(), 1U);
}

/// A call each minute, of which some are missing; two messages at each; barriers.
TEST(Step, of_stamps_that_a_schedule_gives_is_unknown) {
  for (const std::uint64_t stamps_at_once : {1U, 2U, 12U}) {
    Step step;
    for (std::uint64_t i = 0; i < 24; ++i) {
      const std::uint64_t minute = i / stamps_at_once;
      step.add(60 * k_s * (minute + (minute > 7 ? 1 : 0) + (minute > 12 ? 2 : 0)));
    }
    EXPECT_EQ(step.learned(), 1U) << stamps_at_once;
  }
}

}  // namespace
}  // namespace entrain::tables
