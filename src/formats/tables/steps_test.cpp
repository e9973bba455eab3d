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

TEST(Step, of_stamps_at_equal_distances_is_unknown) {
  Step step;
  for (std::uint64_t i = 0; i < 60; ++i) step.add(2 * k_s * i + (i < 30 ? 0 : 7200 * k_s));
  EXPECT_EQ(step.whole(), 1U);
  EXPECT_EQ(step.learned(), 1U);
}

}  // namespace
}  // namespace entrain::tables
