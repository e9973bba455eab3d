// SPDX-License-Identifier: BSD-3-Clause
#include "bounds/binding_edges.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/exact.hpp"
#include "base/executor.hpp"
#include "base/flat_map.hpp"

namespace entrain::bounds {

namespace {

using match::Edge;
using match::Graph;

/// Chooses edges of a graph.
class BindingEdges {
 public:
  BindingEdges(const constraints::Context& context, std::span<const std::uint32_t> clock_of,
               std::span<const std::int64_t> times, const RateLimits& limits)
      : context_(context), graph_(context.graph), clock_of_(clock_of), times_(times) {
    for (const std::uint32_t clock : clock_of) rates_.push_back(limits.of(clock));
  }

  [[nodiscard]] BigVector<Edge> choose() const {
    std::vector<std::vector<Edge>> of_location(graph_.location_count());
    for_each_in_parallel(context_.threads, of_location.size(), [&](std::size_t l) {
      of_location[l] = received_by(static_cast<LocationIndex>(l));
    });
    BigVector<Edge> all;
    for (const std::vector<Edge>& own : of_location) all.insert(all.end(), own.begin(), own.end());
    return all;
  }

 private:
  /// Binding edges that a location receives, in order.
  [[nodiscard]] std::vector<Edge> received_by(LocationIndex to) const {
    constexpr std::ptrdiff_t k_ahead = 24;  // see match::for_edges()
    const auto ends_before = [](const Edge& edge, NodeIndex node) { return edge.receive < node; };
    const auto of_node = [&](NodeIndex node) {
      return std::lower_bound(graph_.edges.begin(), graph_.edges.end(), node, ends_before);
    };
    const auto begin = of_node(graph_.first_node[to]), end = of_node(graph_.first_node[to + 1]);
    FlatMap<LocationIndex, Latest, IntegerHash> latest;  // one per sender
    std::vector<Chosen> left;
    for (auto edge = begin; edge != end; ++edge) {
      if (end - edge > k_ahead) __builtin_prefetch(&times_[edge[k_ahead].send]);
      const LocationIndex from = graph_.location_of(edge->send);
      if (clock_of_[from] == clock_of_[to]) continue;
      const Constraint one{times_[edge->send], times_[edge->receive],
                           graph_.mu_of(*edge, context_.mu)};
      Latest& before = *latest.insert(from, Latest()).first;
      if (before.take(one, rates_[from], rates_[to])) left.push_back({*edge, one, from});
    }
    latest = {};
    std::vector<Edge> edges;
    for (auto one = left.rbegin(); one != left.rend(); ++one) {
      Latest& after = *latest.insert(one->from, Latest()).first;
      if (after.take(one->constraint, rates_[one->from], rates_[to])) edges.push_back(one->edge);
    }
    std::ranges::reverse(edges);
    return edges;
  }

  struct Constraint {
    std::int64_t begin = 0, end = 0, mu = 0;

    /// True if clocks with errors of these rates that meet `other` meet this.
    [[nodiscard]] bool is_implied_by(const Constraint& other, const RateRange& of_begin,
                                     const RateRange& of_end) const {
      const Int128 more = Int128{end - other.end} - (begin - other.begin) - (mu - other.mu);
      return more * k_billion >= of_end.most(end - other.end) + of_begin.most(other.begin - begin);
    }
  };
  struct Chosen {
    Edge edge;
    Constraint constraint;
    LocationIndex from = k_none;
  };

  /// Last edge from a location that no edge before it implies.
  struct Latest {
    bool is_known = false;
    Constraint constraint;

    bool take(const Constraint& one, const RateRange& of_begin, const RateRange& of_end) {
      if (is_known && one.is_implied_by(constraint, of_begin, of_end)) return false;
      *this = {true, one};
      return true;
    }
  };

  const constraints::Context& context_;
  const Graph& graph_;
  std::span<const std::uint32_t> clock_of_;
  std::span<const std::int64_t> times_;
  std::vector<RateRange> rates_;  ///< limits on the rates of errors, one per location
};

/// Takes the nodes that edges and calls of a graph touch out of another one.
void take_nodes(const Graph& all, Graph& graph) {
  BigVector<NodeIndex> number(all.own_count() + 1);  // first 1 for a node that is touched
  for (const Edge& edge : graph.edges) number[edge.send] = number[edge.receive] = 1;
  for (const match::Participant& one : graph.participants) number[one.node] = 1;
  for (std::size_t node = 0; node < all.own_count(); ++node) {
    if (number[node] != 0) graph.stamp.push_back(all.stamp[node]);
  }
  std::exclusive_scan(number.begin(), number.end(), number.begin(), NodeIndex{0});
  for (NodeIndex& first : graph.first_node) first = number[first];
  for (Edge& edge : graph.edges) {
    edge.send = number[edge.send], edge.receive = number[edge.receive];
  }
  for (match::Participant& one : graph.participants) one.node = number[one.node];
}

}  // namespace

Graph binding_edges(const constraints::Context& context, std::span<const std::uint32_t> clock_of,
                    std::span<const std::int64_t> times, const RateLimits& limits) {
  const Graph& all = context.graph;
  Graph graph{.first_node = all.first_node,
              .stamp = {},
              .edges = BindingEdges(context, clock_of, times, limits).choose(),
              .exchanges = all.exchanges,
              .participants = all.participants,
              .process_of = all.process_of,
              .node_of = all.node_of,
              .granule = all.granule,
              .extra_mu = all.extra_mu,
              .halo = all.halo,
              .unmatched = {},
              .skipped = {},
              .witness = {}};
  if (context.team().size() > 1) {
    graph.stamp = all.stamp;  // ghosts elsewhere name nodes by their numbers
  } else {
    take_nodes(all, graph);
  }
  return graph;
}

}  // namespace entrain::bounds
