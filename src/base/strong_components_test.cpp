// SPDX-License-Identifier: BSD-3-Clause
#include "base/strong_components.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace entrain {
namespace {

void find(StrongComponents& components, const std::vector<Arc>& arcs) {
  components.find(arcs, [](const Arc& arc) { return arc; });
}

TEST(StrongComponents, of_a_cycle_with_ways_in_and_out) {
  StrongComponents components(5);
  find(components, {{0, 1}, {1, 2}, {2, 1}, {2, 3}});
  EXPECT_EQ(components.of(1), components.of(2));
  EXPECT_NE(components.of(0), components.of(1));
  EXPECT_NE(components.of(3), components.of(1));
  EXPECT_EQ(components.of(4), k_none);
}

TEST(StrongComponents, of_two_cycles_that_meet_are_one) {
  StrongComponents components(5);
  find(components, {{0, 1}, {1, 2}, {2, 0}, {3, 4}, {4, 2}, {1, 3}});
  for (std::uint32_t v = 1; v < 5; ++v) EXPECT_EQ(components.of(v), components.of(0)) << v;
}

TEST(StrongComponents, of_another_graph_forget_the_one_before) {
  StrongComponents components(3);
  find(components, {{0, 1}, {1, 0}});
  find(components, {{1, 2}, {2, 1}});
  EXPECT_EQ(components.of(0), k_none);
  EXPECT_EQ(components.of(1), components.of(2));
}

}  // namespace
}  // namespace entrain
