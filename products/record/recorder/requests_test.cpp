// SPDX-License-Identifier: BSD-3-Clause
#include "record/recorder/requests.hpp"

#include <gtest/gtest.h>

namespace entrain::record {
namespace {

Pending numbered(std::uint64_t number) {
  Pending pending;
  pending.number = number;
  return pending;
}

TEST(RequestTable, operations_of_one_handle_are_found_in_order) {
  RequestTable table;
  EXPECT_EQ(table.find(7), nullptr);
  table.add(7, numbered(1));
  table.add(8, numbered(2));
  table.add(7, numbered(3));
  ASSERT_NE(table.find(7), nullptr);
  EXPECT_EQ(table.find(7)->number, 1u);
  table.remove(7);
  EXPECT_EQ(table.find(7)->number, 3u);
  EXPECT_EQ(table.find(8)->number, 2u);
  table.remove(7);
  EXPECT_EQ(table.find(7), nullptr);
  table.remove(7);  // nothing to remove
}

}  // namespace
}  // namespace entrain::record
