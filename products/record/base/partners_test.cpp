// SPDX-License-Identifier: BSD-3-Clause
#include "record/base/partners.hpp"

#include <gmock/gmock.h>

#include "record/base/partner_list.hpp"

namespace entrain::record {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(PartnerLists, give_equal_lists_one_number_and_one_line) {
  Journal journal;
  PartnerLists lists(journal);
  EXPECT_EQ(lists.number("to 1 from 1"), 0u);
  EXPECT_EQ(lists.number("to 2 from 1"), 1u);
  EXPECT_EQ(lists.number("to 1 from 1"), 0u);
  EXPECT_EQ(journal.text(), "partners\t0\tto 1 from 1\npartners\t1\tto 2 from 1\n");
}

TEST(PartnerLists, have_room_for_so_many) {
  Journal journal;
  PartnerLists lists(journal);
  lists.set_up(1'000'000);  // 64 KiB each
  const std::string long_list(40'000, '1');
  EXPECT_EQ(lists.number(long_list), 0u);
  EXPECT_THAT(journal.text(), Not(HasSubstr("partners_full")));
  EXPECT_EQ(lists.number(long_list + '2'), k_no_partners);
  EXPECT_EQ(lists.number(long_list + '3'), k_no_partners);
  EXPECT_EQ(lists.number(long_list), 0u) << "known ones stay";
  const std::string text = journal.text();
  EXPECT_EQ(text.find("partners_full"), text.rfind("partners_full")) << "noted once";
  EXPECT_THAT(text, HasSubstr("partners_full"));
}

TEST(Partners, are_those_whose_bits_are_set) {
  Journal journal;
  PartnerLists lists(journal);
  Partners neighbours({7, -1, 3, 7}, {2, 2});
  neighbours.to_bits()[0] = 0b1111;
  neighbours.from_bits()[0] = 0b10;
  const std::uint32_t first = neighbours.number(lists);
  neighbours.to_bits()[0] = 0b0001;
  EXPECT_NE(neighbours.number(lists), first);
  neighbours.to_bits()[0] = 0b1100;  // the same ones by other places
  EXPECT_EQ(neighbours.number(lists), first);
  EXPECT_EQ(journal.text(), "partners\t0\tto 3,7 from 2\npartners\t1\tto 7 from 2\n");
}

TEST(Partners, may_be_more_than_64) {
  Journal journal;
  PartnerLists lists(journal);
  Partners everybody = Partners::everybody(130);
  everybody.to_bits()[0] = ~std::uint64_t{0};
  everybody.to_bits()[2] = 0b11;
  everybody.from_bits()[1] = 0b1;
  everybody.number(lists);
  EXPECT_EQ(journal.text(), "partners\t0\tto 0-63,128-129 from 64\n");
}

}  // namespace
}  // namespace entrain::record
