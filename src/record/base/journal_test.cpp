// SPDX-License-Identifier: BSD-3-Clause
#include "record/base/journal.hpp"

#include <gtest/gtest.h>

#include <set>

namespace entrain::record {
namespace {

TEST(Journal, keys_stay_short) {
  EXPECT_EQ(short_key("world:0/1:0"), "world:0/1:0");
  std::string key = "world:0", other = "world:1";
  std::set<std::string> keys;
  for (int i = 0; i < 2000; ++i) {
    key = short_key(key + "/0:0");
    other = short_key(other + "/0:0");
    EXPECT_LE(key.size(), 120u);
    keys.insert(key);
    keys.insert(other);
  }
  EXPECT_EQ(keys.size(), 4000u);
}

}  // namespace
}  // namespace entrain::record
