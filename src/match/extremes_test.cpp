// SPDX-License-Identifier: BSD-3-Clause
#include "match/extremes.hpp"

#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace entrain::match {
namespace {

/// Locations of a machine: `threads` per process, `processes` per node.
Graph machine(std::uint32_t locations, std::uint32_t threads, std::uint32_t processes) {
  Graph graph;
  for (std::uint32_t l = 0; l < locations; ++l) {
    graph.process_of.push_back(l / threads);
    graph.node_of.push_back(l / threads / processes);
  }
  return graph;
}

TEST(LargestTwo, leaves_out_one_owner) {
  LargestTwo two;
  EXPECT_EQ(two.without(3), k_no_demand);
  two.add(10, 1);
  EXPECT_EQ(two.without(1), k_no_demand);
  EXPECT_EQ(two.without(2), 10);
  two.add(30, 2);  // a new largest one
  two.add(20, 1);  // its owner is second now
  EXPECT_EQ(two.without(2), 20);
  EXPECT_EQ(two.without(1), 30);
  two.add(40, 2);  // the largest one grows: the second stays another owner's
  EXPECT_EQ(two.without(2), 20);
}

TEST(LargestTwo, equal_values_have_different_owners) {
  LargestTwo two;
  two.add(10, 1);
  two.add(10, 2);
  EXPECT_EQ(two.without(1), 10);
  EXPECT_EQ(two.without(2), 10);
}

TEST(LargestTwo, added_together_they_are_those_of_all_values_in_any_order) {
  std::mt19937 random(5);
  for (int round = 0; round < 2'000; ++round) {
    // Values of up to 8 owners, each of which some of the sets know.
    std::vector<std::int64_t> value(8);
    for (std::int64_t& v : value) v = static_cast<std::int64_t>(random() % 5);
    LargestTwo all, sum;
    for (int set = 0; set < 4; ++set) {
      LargestTwo part;
      for (std::uint32_t owner = 0; owner < value.size(); ++owner) {
        if (random() % 3 != 0) continue;
        part.add(value[owner], owner);
        all.add(value[owner], owner);
      }
      sum.add(LargestTwo(part.first(), part.second(), part.owner()));
    }
    for (std::uint32_t owner = 0; owner <= value.size(); ++owner) {
      ASSERT_EQ(sum.without(owner), all.without(owner)) << round;
    }
  }
}

TEST(Extremes, own_location_is_left_out) {
  const Graph graph = machine(3, 1, 1);
  Extremes extremes(graph, {5, 5, 5});
  EXPECT_TRUE(extremes.uniform());
  extremes.add(0, 100);
  EXPECT_EQ(extremes.demand(0), k_no_demand);
  EXPECT_EQ(extremes.demand(1), 105);
  extremes.add(1, 90);
  EXPECT_EQ(extremes.demand(0), 95);
}

TEST(Extremes, a_near_sender_may_demand_less_than_an_earlier_far_one) {
  // Locations 0, 1: one process; 2: same node; 4: another node.
  const Graph graph = machine(6, 2, 2);
  Extremes extremes(graph, {1, 10, 100});
  EXPECT_FALSE(extremes.uniform());
  extremes.add(1, 1000);
  EXPECT_EQ(extremes.demand(0), 1001);
  EXPECT_EQ(extremes.demand(2), 1010);
  EXPECT_EQ(extremes.demand(4), 1100);
  extremes.add(4, 950);
  EXPECT_EQ(extremes.demand(0), 1050);  // 950 + 100 beats 1000 + 1
  EXPECT_EQ(extremes.demand(2), 1050);
  EXPECT_EQ(extremes.demand(4), 1100);
  EXPECT_EQ(extremes.demand(5), 1100);
}

TEST(Extremes, clear_forgets_everything) {
  const Graph graph = machine(6, 2, 2);
  Extremes extremes(graph, {1, 10, 100});
  for (LocationIndex l = 0; l < 6; ++l) extremes.add(l, 1000);
  extremes.clear();
  for (LocationIndex l = 0; l < 6; ++l) EXPECT_EQ(extremes.demand(l), k_no_demand);
}

TEST(Extremes, a_sender_without_a_time_demands_nothing) {
  const Graph graph = machine(2, 1, 1);
  for (const MuTicks mu : {MuTicks{5, 5, 5}, MuTicks{1, 2, 3}}) {
    Extremes extremes(graph, mu);
    extremes.add(0, k_no_demand);
    EXPECT_EQ(extremes.demand(1), k_no_demand);
  }
}

TEST(Extremes, is_the_maximum_over_all_pairs) {
  std::mt19937 random(1);
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  for (int trial = 0; trial < 300; ++trial) {
    const Graph graph = machine(2 + below(12), 1 + below(3), 1 + below(3));
    const auto locations = static_cast<std::uint32_t>(graph.process_of.size());
    const MuTicks mu{below(4), below(30), below(300)};
    Extremes extremes(graph, mu);
    for (int instance = 0; instance < 3; ++instance) {
      extremes.clear();
      std::vector<std::pair<LocationIndex, std::int64_t>> senders;
      for (std::uint32_t i = below(2 * locations); i > 0; --i) {
        senders.emplace_back(below(locations), static_cast<std::int64_t>(below(400)) - 200);
        extremes.add(senders.back().first, senders.back().second);
      }
      for (LocationIndex receiver = 0; receiver < locations; ++receiver) {
        std::int64_t expected = k_no_demand;
        for (const auto& [sender, time] : senders) {
          if (sender == receiver) continue;
          const auto c = static_cast<std::size_t>(graph.latency_class(sender, receiver));
          expected = std::max(expected, time + mu[c]);
        }
        ASSERT_EQ(extremes.demand(receiver), expected) << "trial " << trial;
      }
    }
  }
}

}  // namespace
}  // namespace entrain::match
