// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/read/read_definitions.hpp"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace entrain::otf2 {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::uint32_t> ranks(const trace::RankSet& set) {
  std::vector<std::uint32_t> result;
  set.for_each_below(100, [&](std::uint32_t rank) { result.push_back(rank); });
  return result;
}

TEST(PartnersText, names_both_directions) {
  const auto partners = parse_partners("to 0-2,7 from 4");
  ASSERT_TRUE(partners);
  EXPECT_THAT(ranks(partners->to), ElementsAre(0, 1, 2, 7));
  EXPECT_THAT(ranks(partners->from), ElementsAre(4));
}

TEST(PartnersText, may_name_nobody) {
  const auto nobody = parse_partners("to from");
  ASSERT_TRUE(nobody);
  EXPECT_THAT(ranks(nobody->to), IsEmpty());
  EXPECT_THAT(ranks(nobody->from), IsEmpty());
  const auto one_way = parse_partners("to from 3");
  ASSERT_TRUE(one_way);
  EXPECT_THAT(ranks(one_way->from), ElementsAre(3));
}

TEST(PartnersText, of_another_form_is_refused) {
  for (const char* text :
       {"", "to", "to 1", "from 1", "to 1 from 2 ", "to 1, from 2", "to 2-1 from", "to 3,2 from",
        "to 1,1 from", "to -1 from", "to 1- from", "to 1 from x", "to 5000000000 from",
        "to  1 from", "to 1,,2 from", "together from 1"}) {
    EXPECT_FALSE(parse_partners(text)) << text;
  }
}

TEST(RankSet, finds_ranks_in_its_ranges) {
  trace::RankSet set;
  ASSERT_TRUE(set.add(2, 4));
  ASSERT_TRUE(set.add(9, 9));
  EXPECT_FALSE(set.add(9, 12));
  for (std::uint32_t rank = 0; rank < 12; ++rank) {
    EXPECT_EQ(set.contains(rank), (rank >= 2 && rank <= 4) || rank == 9) << rank;
  }
}

}  // namespace
}  // namespace entrain::otf2
