// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/names.hpp"

namespace entrain {
namespace {

TEST(NaturalOrder, CountsNumbersByValue) {
  std::vector<std::string> names{"host10", "host2", "host", "host010", "a99999999999999999999b",
                                 "host1",  "a9b",   "b"};
  std::sort(names.begin(), names.end(), in_natural_order);
  EXPECT_THAT(names, testing::ElementsAre("a9b", "a99999999999999999999b", "b", "host", "host1",
                                          "host2", "host010", "host10"));
}

}  // namespace
}  // namespace entrain
