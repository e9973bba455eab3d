// SPDX-License-Identifier: BSD-3-Clause
#include "picture/draw.hpp"

#include <limits>
#include <utility>

#include <gmock/gmock.h>

namespace entrain::picture {
namespace {

using testing::ElementsAre;

constexpr std::int64_t k_least = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t k_most = std::numeric_limits<std::int64_t>::max();

TEST(ToNs, rounds_down_and_ends_where_numbers_end) {
  EXPECT_EQ(to_ns(1007, 1000, 1'000'000'000), 7u);
  EXPECT_EQ(to_ns(1007, 1000, 4'000'000'000), 1u);
  EXPECT_EQ(to_ns(1007, 1000, 1'000'000), 7000u);
  EXPECT_EQ(to_ns(999, 1000, 1'000'000), 0u);
  EXPECT_EQ(to_ns(k_most, k_least, 1), static_cast<std::uint64_t>(k_most));
  EXPECT_EQ(duration_ns(-7, 2'000'000'000), -3);
  EXPECT_EQ(duration_ns(k_least, 1), -k_most);
}

TEST(Joined, makes_one_of_windows_that_touch) {
  const std::vector<Window> windows = joined({{50, 60}, {1, 10}, {10, 20}, {15, 18}, {61, 70}});
  ASSERT_EQ(windows.size(), 3u);
  EXPECT_EQ(windows[0].begin, 1);
  EXPECT_EQ(windows[0].end, 20);
  EXPECT_EQ(windows[1].end, 60);
  EXPECT_EQ(windows[2].begin, 61);
}

/// A graph of nodes at these times, one location per node.
struct SmallGraph {
  match::Graph graph;
  std::vector<std::int64_t> times;

  explicit SmallGraph(std::vector<std::int64_t> at) : times(std::move(at)) {
    for (std::uint32_t l = 0; l <= times.size(); ++l) graph.first_node.push_back(l);
    for (std::uint32_t l = 0; l < times.size(); ++l) {
      graph.stamp.push_back(static_cast<std::uint64_t>(times[l]));
      graph.process_of.push_back(l);
      graph.node_of.push_back(l);
    }
  }
  [[nodiscard]] BigVector<Flow> flows() const { return flows_of(graph, times, {1, 2, 3}); }
};

TEST(Flows, lead_to_an_end_from_the_begin_that_it_waited_for_last) {
  // Begins of three locations in nodes 0 to 2, ends of the same locations in the same nodes.
  SmallGraph small({100, 300, 200});
  for (int side = 0; side < 2; ++side) {
    for (std::uint32_t l = 0; l < 3; ++l) small.graph.participants.push_back({l, l, l});
  }
  small.graph.exchanges.push_back({EdgeKind::n_to_n, false, 0, 3, 3, 3});
  const auto flows = small.flows();
  ASSERT_EQ(flows.size(), 3u);
  EXPECT_EQ(flows[0].from, 1u);
  EXPECT_EQ(flows[0].margin, -200);
  EXPECT_EQ(flows[0].bound, 3);
  EXPECT_EQ(flows[1].from, 2u);  // not from itself
  EXPECT_EQ(flows[2].from, 1u);

  small.graph.exchanges[0].ordered = true;  // only from lower ranks
  const auto ordered = small.flows();
  ASSERT_EQ(ordered.size(), 2u);
  EXPECT_EQ(ordered[0].from, 0u);
  EXPECT_EQ(ordered[0].to, 1u);
  EXPECT_EQ(ordered[1].from, 1u);
}

TEST(Flows, are_ranked_by_margin_less_bound) {
  const std::vector<Flow> flows{{.margin = 5, .bound = 0},
                                {.margin = -5, .bound = 0},
                                {.margin = 0, .bound = 9},
                                {.margin = -5, .bound = 0}};
  EXPECT_THAT(worst_flows(flows, 3), ElementsAre(2u, 1u, 3u));
  EXPECT_THAT(worst_flows(flows, 9), ElementsAre(2u, 1u, 3u, 0u));
  EXPECT_THAT(worst_flows(flows, 0), ElementsAre());
}

}  // namespace
}  // namespace entrain::picture
