// SPDX-License-Identifier: BSD-3-Clause
#include "bounds/violated_edges.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "base/team.hpp"
#include "bounds/solve_errors.hpp"

namespace entrain::bounds {
namespace {

/// A random graph of messages between locations, each with a clock of its own, in which stamps are
/// times along base lines.
class RandomGraph {
 public:
  explicit RandomGraph(unsigned seed) : random_(seed) {
    const auto locations = static_cast<LocationIndex>(below(3) + 2);
    graph_.first_node.push_back(0);
    for (LocationIndex l = 0; l < locations; ++l) {
      std::int64_t stamp = 0;
      for (std::size_t n = below(40) + 2; n > 0; --n) {
        graph_.stamp.push_back(static_cast<std::uint64_t>(stamp += 1 + below(3) * 500));
      }
      graph_.first_node.push_back(static_cast<NodeIndex>(graph_.stamp.size()));
      clock_of_.push_back(l);
    }
    graph_.extra_mu = {0, 7, 40};
    for (LocationIndex to = 0; to < locations; ++to) {
      for (NodeIndex node = graph_.first_node[to]; node < graph_.first_node[to + 1]; ++node) {
        add_edges_to(to, node);
      }
    }
  }

  [[nodiscard]] std::int64_t below(int most) {
    return std::uniform_int_distribution<std::int64_t>(0, most - 1)(random_);
  }
  [[nodiscard]] const match::Graph& graph() const { return graph_; }

  [[nodiscard]] match::Graph binding(const RateLimits& limits, unsigned threads) {
    const std::vector<std::int64_t> times(graph_.stamp.begin(), graph_.stamp.end());
    return binding_edges(
        {.share = {solo_, partition_, trace_}, .graph = graph_, .mu = {}, .threads = threads},
        clock_of_, times, limits);
  }

  /// The edges of a graph as constraints.
  [[nodiscard]] ErrorProblem problem(const match::Graph& graph) const {
    ErrorProblem problem;
    problem.clocks = static_cast<std::uint32_t>(clock_of_.size());
    for (const match::Edge& edge : graph.edges) {
      const auto event = [&](NodeIndex node) -> difference::Event {
        return {graph.location_of(node), static_cast<std::int64_t>(graph.stamp[node])};
      };
      problem.edges.push_back({event(edge.send), event(edge.receive), graph.mu_of(edge, {})});
    }
    problem.lives.assign(problem.clocks, {0, 100'000});
    return problem;
  }

 private:
  void add_edges_to(LocationIndex to, NodeIndex node) {
    for (LocationIndex from = 0; from + 1 < graph_.first_node.size(); ++from) {
      if (from == to || below(3) == 0) continue;
      const NodeIndex first = graph_.first_node[from], end = graph_.first_node[from + 1];
      const auto send = first + static_cast<NodeIndex>(below(static_cast<int>(end - first)));
      // Near its begin or far from it; rarely violated by more than others.
      if (graph_.stamp[send] > graph_.stamp[node] + 20) continue;
      graph_.edges.push_back(
          {.send = send, .receive = node, .pair = static_cast<std::uint16_t>(below(3))});
    }
  }

  std::mt19937 random_;
  match::Graph graph_;
  std::vector<std::uint32_t> clock_of_;
  Solo solo_;
  trace::Trace trace_;
  trace::Partition partition_;
};

TEST(BindingEdges, leave_all_bounds_as_they_are) {
  std::size_t all = 0, left = 0, solved = 0;
  for (unsigned seed = 0; seed < 3'000; ++seed) {
    RandomGraph random(seed);
    RateLimits limits{random.below(3) * 10'000'000, {}};
    for (LocationIndex l = 0; l + 1 < random.graph().first_node.size(); ++l) {
      const std::int64_t middle = (random.below(5) - 2) * 5'000'000;
      limits.mean.push_back({middle - random.below(2) * 1'000'000, middle + 2'000'000});
    }
    limits.mean[0] = {0, 0};
    const match::Graph binding = random.binding(limits, 1);
    all += random.graph().edges.size();
    left += binding.edges.size();
    const auto expected = find_error_bounds(random.problem(random.graph()), limits);
    const auto found = find_error_bounds(random.problem(binding), limits);
    ASSERT_EQ(expected.has_value(), found.has_value()) << seed;
    if (!expected) continue;
    ++solved;
    for (std::uint32_t c = 0; c < expected->size(); ++c) {
      for (const ClockBound::Point& point : (*expected)[c].points()) {
        const ClockBound::Point at = (*found)[c].at(point.time);
        const auto is_same = [](difference::Exact a, difference::Exact b) {
          return a == b || (difference::is_unbounded(a) && difference::is_unbounded(b));
        };
        ASSERT_TRUE(is_same(at.lower, point.lower) && is_same(at.upper, point.upper))
            << seed << ", clock " << c << " at " << point.time;
      }
    }
  }
  EXPECT_LT(2 * left, all) << "most edges bind nothing";
  EXPECT_GT(solved, 1'000U);
}

TEST(BindingEdges, do_not_depend_on_threads) {
  RandomGraph random(1);
  const match::Graph one = random.binding({1'000'000, {}}, 1),
                     four = random.binding({1'000'000, {}}, 4);
  ASSERT_EQ(one.edges.size(), four.edges.size());
  for (std::size_t e = 0; e < one.edges.size(); ++e) {
    EXPECT_EQ(one.edges[e].send, four.edges[e].send);
    EXPECT_EQ(one.edges[e].receive, four.edges[e].receive);
  }
  EXPECT_EQ(one.stamp.size(), four.stamp.size());
  EXPECT_LT(one.edges.size(), random.graph().edges.size());
}

}  // namespace
}  // namespace entrain::bounds
