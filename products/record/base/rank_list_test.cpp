// SPDX-License-Identifier: BSD-3-Clause
#include "record/base/rank_list.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace entrain::record {
namespace {

TEST(RankList, ranks_are_written_short) {
  EXPECT_EQ(join_ranks({0, 1, 2, 3, 7, 9, 8}), "0-3,7,9,8");
  EXPECT_EQ(split_ranks("0-3,7"), (std::vector<std::uint32_t>{0, 1, 2, 3, 7}));
  EXPECT_TRUE(split_ranks("3-1").empty());
  EXPECT_TRUE(split_ranks("0-99999999999").empty());
}

RC_GTEST_PROP(RankList, ranks_come_back, (std::vector<std::uint16_t> drawn)) {
  std::vector<int> ranks(drawn.begin(), drawn.end());
  const std::vector<std::uint32_t> back = split_ranks(join_ranks(ranks));
  RC_ASSERT(std::vector<int>(back.begin(), back.end()) == ranks);
}

}  // namespace
}  // namespace entrain::record
