// SPDX-License-Identifier: BSD-3-Clause
#include "base/free_memory.hpp"

#include <gtest/gtest.h>

#include "base/big_vector.hpp"

namespace entrain {
namespace {

TEST(FreeMemory, leaves_nothing) {
  std::vector<int> small(1000, 1);
  free_memory(small);
  EXPECT_EQ(small.capacity(), 0u);
  BigVector<int> big(1'000'000, 1);
  free_memory(big);
  EXPECT_EQ(big.capacity(), 0u);
}

}  // namespace
}  // namespace entrain
