// SPDX-License-Identifier: BSD-3-Clause
#include "base/flat_map.hpp"

#include <unordered_map>

#include <gtest/gtest.h>

namespace entrain {
namespace {

TEST(FlatMap, agrees_with_the_standard_map_under_random_operations) {
  FlatMap<std::uint64_t, int, IntegerHash> map;
  std::unordered_map<std::uint64_t, int> reference;
  std::uint64_t state = 1;
  for (int i = 0; i < 200000; ++i) {
    state = mix(state + 0x9e3779b97f4a7c15ull);
    const std::uint64_t key = state % 500;
    if (state >> 40 & 1) {
      map.erase(key);
      reference.erase(key);
    } else {
      const auto [value, added] = map.insert(key, i);
      const auto [it, expected] = reference.try_emplace(key, i);
      ASSERT_EQ(added, expected);
      ASSERT_EQ(*value, it->second);
    }
    ASSERT_EQ(map.size(), reference.size());
  }
  for (std::uint64_t key = 0; key < 500; ++key) {
    const auto it = reference.find(key);
    const int* found = map.find(key);
    ASSERT_EQ(found != nullptr, it != reference.end());
    if (found != nullptr) {
      ASSERT_EQ(*found, it->second);
    }
  }
}

TEST(FlatMap, empty_map_finds_nothing) {
  FlatMap<std::uint64_t, int, IntegerHash> map;
  EXPECT_EQ(map.find(1), nullptr);
  map.erase(1);
  EXPECT_EQ(map.size(), 0u);
}

}  // namespace
}  // namespace entrain
