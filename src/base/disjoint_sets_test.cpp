// SPDX-License-Identifier: BSD-3-Clause
#include "base/disjoint_sets.hpp"

#include <gtest/gtest.h>

namespace entrain {
namespace {

TEST(DisjointSets, go_by_their_smallest_number) {
  DisjointSets sets(6);
  EXPECT_EQ(sets.find(5), 5u);
  EXPECT_TRUE(sets.join(5, 3));
  EXPECT_TRUE(sets.join(4, 2));
  EXPECT_TRUE(sets.join(5, 4));
  EXPECT_FALSE(sets.join(2, 3));
  for (const std::uint32_t number : {2u, 3u, 4u, 5u}) EXPECT_EQ(sets.find(number), 2u);
  EXPECT_EQ(sets.find(0), 0u);
  EXPECT_EQ(sets.find(1), 1u);
  EXPECT_EQ(sets.all(), (std::vector<std::uint32_t>{0, 1, 2, 2, 2, 2}));
}

TEST(DisjointSets, long_chains_are_followed) {
  constexpr std::uint32_t k_count = 100'000;
  DisjointSets sets(k_count);
  for (std::uint32_t n = k_count - 1; n > 0; --n) EXPECT_TRUE(sets.join(n, n - 1));
  EXPECT_EQ(sets.find(k_count - 1), 0u);
}

}  // namespace
}  // namespace entrain
