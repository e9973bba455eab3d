// SPDX-License-Identifier: BSD-3-Clause
#include "bounds/violated_edges.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/exact.hpp"
#include "base/executor.hpp"
#include "base/flat_map.hpp"
#include "constraints/edge_constraints.hpp"

namespace entrain::bounds {

namespace {

/// Sizes; tests/bounds/prove_test.cpp. Chosen, not measured: the result does not depend on them.
struct GenerationSizes {
  static constexpr std::uint32_t coarsest = 4, first = 64, finest = 1U << 20;  ///< windows
  static constexpr int most_bits = 8;
};

/// Parts of a tick such that all times fit into 62 bits.
unsigned bits_for(std::int64_t span, std::int64_t most_error) {
  const auto used = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(span) +
                                                    2 * static_cast<std::uint64_t>(most_error)));
  return static_cast<unsigned>(std::clamp(62 - used, 0, GenerationSizes::most_bits));
}

}  // namespace

ViolatedEdges::ViolatedEdges(const constraints::Context& context, const Setting& setting)
    : setting_(setting),
      graph_(binding_edges(context, setting.clock_of, on_lines(context), setting.limits)),
      context_{.share = context.share,
               .graph = graph_,
               .mu = context.mu,
               .prior = context.prior,
               .reference = context.reference,
               .threads = context.threads,
               .progress = context.progress},
      bits_(bits_for(setting.end - setting.begin, setting.most_error)),
      windows_(GenerationSizes::coarsest),
      times_(on_lines(context_)) {}

/// Times of the nodes of a context along base lines.
BigVector<std::int64_t> ViolatedEdges::on_lines(const constraints::Context& context) const {
  BigVector<std::int64_t> times;
  constraints::evaluate_nodes(
      context, times, [&](LocationIndex l) { return setting_.lines[setting_.clock_of[l]]; });
  return times;
}

void ViolatedEdges::begin_anew() {
  windows_ = GenerationSizes::first;
  near_ = 1;
}

/// Windows in which errors change by about what edges may be near: of more edges of a pair in one
/// of them the tightest says nearly all.
void ViolatedEdges::choose_windows(std::int64_t rate_ppb) {
  const Int128 change = (static_cast<Int128>(setting_.end - setting_.begin) << bits_) * rate_ppb;
  const Int128 windows = change / k_billion / near_;
  windows_ = static_cast<std::uint32_t>(std::clamp<Int128>(
      windows, std::min(2 * windows_, GenerationSizes::finest), GenerationSizes::finest));
}

bool ViolatedEdges::collect(std::int64_t most_slack, std::int64_t rate_ppb) {
  constraints::ConstraintOptions options;
  options.times = times_;
  options.clock_of = setting_.clock_of;
  options.clocks = setting_.clocks;
  options.mu = setting_.mu;
  options.begin = setting_.begin;
  options.end = setting_.end;
  options.windows = windows_;
  options.corrected = corrected_;
  options.bits = bits_;
  options.most_slack = most_slack;
  options.margins = setting_.margins;
  options.threads = context_.threads;
  const auto found = constraints::collect_violated(context_.team(), context_.graph, options);
  double worst = 0;
  for (const auto& [one, slack] : found) worst = std::min(worst, slack);
  if (worst >= 0 && most_slack == near_) return false;
  near_ = static_cast<std::int64_t>(-worst) / 32 + 1;
  choose_windows(rate_ppb);
  return keep(found);
}

bool ViolatedEdges::keep(std::span<const constraints::LimitingEdge> found) {
  const std::size_t before = edges_.size();
  for (const auto& [one, slack] : found) {
    edges_.push_back({.cause = {one.from, one.from_time - setting_.begin},
                      .effect = {one.to, one.to_time - setting_.begin},
                      .delay = one.to_time - one.from_time - one.slack});
  }
  const auto added = edges_.begin() + static_cast<std::ptrdiff_t>(before);
  std::sort(added, edges_.end());
  std::inplace_merge(edges_.begin(), added, edges_.end());
  edges_.erase(std::unique(edges_.begin(), edges_.end()), edges_.end());
  return edges_.size() > before;
}

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
