// SPDX-License-Identifier: BSD-3-Clause
#include "trace/partition.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace entrain::trace {
namespace {

/// Locations of these processes.
Definitions definitions_of(std::vector<std::uint32_t> process_of) {
  Definitions definitions;
  definitions.locations.resize(process_of.size());
  definitions.process_of = std::move(process_of);
  return definitions;
}

TEST(Partition, blocks_of_neighbours_weigh_the_same) {
  const Definitions definitions = definitions_of({0, 1, 2, 3, 4, 5, 6, 7});
  const std::vector<std::uint64_t> even(8, 100);
  EXPECT_EQ(divide(definitions, even, 2).owner,
            (std::vector<std::uint32_t>{0, 0, 0, 0, 1, 1, 1, 1}));
  const std::vector<std::uint64_t> heavy{700, 100, 100, 100, 100, 100, 100, 100};
  EXPECT_EQ(divide(definitions, heavy, 2).owner,
            (std::vector<std::uint32_t>{0, 1, 1, 1, 1, 1, 1, 1}));
}

TEST(Partition, a_process_is_not_cut) {
  const Definitions definitions = definitions_of({0, 0, 1, 1, 0, 2});
  const std::vector<std::uint64_t> weight(6, 1);
  const std::vector<std::uint32_t> owner = divide(definitions, weight, 4).owner;
  EXPECT_EQ(owner[0], owner[1]);
  EXPECT_EQ(owner[0], owner[4]);
  EXPECT_EQ(owner[2], owner[3]);
}

TEST(Partition, what_belongs_together_stays_together) {
  const Definitions definitions = definitions_of({0, 0, 1, 2, 3, 4});
  const std::vector<std::uint64_t> weight(6, 1);
  const std::vector<std::uint32_t> together{0, 1, 2, 1, 3, 4};  // processes 0 and 2
  const std::vector<std::uint32_t> owner = divide(definitions, weight, 5, together).owner;
  EXPECT_EQ(owner[0], owner[1]);
  EXPECT_EQ(owner[1], owner[3]);
  EXPECT_NE(owner[1], owner[2]);
  EXPECT_EQ(divide(definitions, weight, 5, std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5}).owner,
            divide(definitions, weight, 5).owner);
}

TEST(Partition, more_members_than_processes_leave_some_idle) {
  const Definitions definitions = definitions_of({0, 1});
  const std::vector<std::uint64_t> weight{0, 0};
  const std::vector<std::uint32_t> owner = divide(definitions, weight, 7).owner;
  EXPECT_NE(owner[0], owner[1]);
  EXPECT_LT(*std::max_element(owner.begin(), owner.end()), 7u);
  EXPECT_TRUE(divide(definitions_of({}), {}, 3).owner.empty());
}

}  // namespace
}  // namespace entrain::trace
