// SPDX-License-Identifier: BSD-3-Clause
#include "page/survey.hpp"

#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

namespace entrain::page {
namespace {

TEST(Bins, hold_every_value_between_their_edges) {
  for (const std::int64_t ticks :
       {0L, 1L, 7L, 8L, 9L, 10L, 15L, 16L, 100L, 1'000'000'007L, (1L << 62) - 1, 1L << 62,
        std::numeric_limits<std::int64_t>::max()}) {
    const std::size_t bin = Bins::bin_of(ticks);
    ASSERT_LT(bin, Bins::k_count);
    const std::size_t distance = bin - Bins::k_zero;
    EXPECT_LE(Bins::edge(distance), static_cast<std::uint64_t>(ticks)) << ticks;
    if (distance + 1 < Bins::k_positive) {
      EXPECT_GT(Bins::edge(distance + 1), static_cast<std::uint64_t>(ticks)) << ticks;
    }
    EXPECT_EQ(Bins::k_zero - Bins::bin_of(-ticks), distance) << ticks;
  }
  EXPECT_LT(Bins::bin_of(std::numeric_limits<std::int64_t>::min()), Bins::k_zero);
}

TEST(Bins, count) {
  Bins bins;
  bins.add(100);
  bins.add(111);
  bins.add(112);
  EXPECT_EQ(bins.counts()[Bins::bin_of(96)], 2);
  EXPECT_EQ(bins.counts()[Bins::bin_of(112)], 1);
}

}  // namespace
}  // namespace entrain::page
