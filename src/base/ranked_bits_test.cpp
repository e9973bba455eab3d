// SPDX-License-Identifier: BSD-3-Clause
#include "base/ranked_bits.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace entrain {
namespace {

TEST(RankedBits, counts_the_members_below) {
  std::mt19937_64 random(3);
  for (const std::size_t bound : {0, 1, 63, 64, 65, 1000}) {
    RankedBits bits(bound);
    std::vector<bool> plain(bound, false);
    for (std::size_t i = 0; i < bound; ++i) {
      if (random() % 3 != 0) continue;
      bits.set(i);
      plain[i] = true;
    }
    bits.seal();
    std::size_t below = 0;
    for (std::size_t i = 0; i < bound; ++i) {
      ASSERT_EQ(bits.rank(i), below) << bound << ' ' << i;
      ASSERT_EQ(bits.test(i), plain[i]) << bound << ' ' << i;
      below += plain[i] ? 1 : 0;
    }
    EXPECT_EQ(bits.rank(bound), below);
    EXPECT_EQ(bits.count(), below);
  }
}

}  // namespace
}  // namespace entrain
