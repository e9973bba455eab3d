// SPDX-License-Identifier: BSD-3-Clause
#include "base/names.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace entrain {
namespace {

TEST(MostSimilar, knows_slips_of_the_hand) {
  const std::vector<std::string> verbs{"info", "check", "clocks", "correct", "report"};
  EXPECT_EQ(most_similar("chekc", verbs), "check");
  EXPECT_EQ(most_similar("corect", verbs), "correct");
  EXPECT_EQ(most_similar("clock", verbs), "clocks");
  EXPECT_EQ(most_similar("ifno", verbs), "info");
  EXPECT_EQ(most_similar("zzz", verbs), "");
  EXPECT_EQ(most_similar("", verbs), "");
  EXPECT_EQ(most_similar(std::string(100'000, 'c'), verbs), "");
}

}  // namespace
}  // namespace entrain
