// SPDX-License-Identifier: BSD-3-Clause
#include "bounds/violated_edges.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/exact.hpp"
#include "base/executor.hpp"
#include "base/flat_map.hpp"

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

using match::Edge;
using match::Graph;

class BindingEdges {
 public:
  BindingEdges(const constraints::Context& context, std::span<const std::uint32_t> clock_of,
               std::span<const std::int64_t> times, const RateLimits& limits)
      : context_(context), graph_(context.graph), clock_of_(clock_of), times_(times) {
    for (const std::uint32_t clock : clock_of) rates_.push_back(of_u(limits.of(clock)));
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
    Latest latest;
    std::vector<Chosen> left;
    for (auto edge = begin; edge != end; ++edge) {
      if (end - edge > k_ahead) __builtin_prefetch(&times_[edge[k_ahead].send]);
      const LocationIndex from = graph_.location_of(edge->send);
      if (clock_of_[from] == clock_of_[to]) continue;
      const difference::Edge one{{from, times_[edge->send]},
                                 {to, times_[edge->receive]},
                                 graph_.mu_of(*edge, context_.mu)};
      if (take(one, latest)) left.push_back({*edge, one});
    }
    latest = {};
    std::vector<Edge> edges;
    for (auto one = left.rbegin(); one != left.rend(); ++one) {
      if (take(one->constraint, latest)) edges.push_back(one->edge);
    }
    std::ranges::reverse(edges);
    return edges;
  }

  /// An edge, and its constraint on the errors of its locations.
  struct Chosen {
    Edge edge;
    difference::Edge constraint;
  };
  /// The last edge of each sender that was taken.
  using Latest = FlatMap<LocationIndex, difference::Edge, IntegerHash>;

  /// Takes an edge. False if the last one of its sender implies it.
  bool take(const difference::Edge& one, Latest& latest) const {
    const LocationIndex from = one.cause.clock, to = one.effect.clock;
    const auto [last, is_new] = latest.insert(from, one);
    if (!is_new && is_implied_by(one, *last, rates_[from], rates_[to])) return false;
    *last = one;
    return true;
  }

  const constraints::Context& context_;
  const Graph& graph_;
  std::span<const std::uint32_t> clock_of_;
  std::span<const std::int64_t> times_;
  std::vector<RateRange> rates_;  ///< limits on the rates of u, one per location
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

ViolatedEdges::ViolatedEdges(const constraints::Context& context, const Setting& setting)
    : setting_(setting),
      graph_(binding_edges(context, setting.edges.clock_of, on_lines(context), setting.limits)),
      context_{.share = context.share,
               .graph = graph_,
               .mu = context.mu,
               .prior = context.prior,
               .reference = context.reference,
               .threads = context.threads,
               .progress = context.progress},
      times_(on_lines(context_)) {
  setting_.edges.times = times_;
  setting_.edges.windows = GenerationSizes::coarsest;
  setting_.edges.bits = bits_for(setting.edges.end - begin(), setting.most_error);
  setting_.edges.threads = context.threads;
}

/// Times of the nodes of a context along base lines.
BigVector<std::int64_t> ViolatedEdges::on_lines(const constraints::Context& context) const {
  BigVector<std::int64_t> times;
  constraints::evaluate_nodes(
      context, times, [&](LocationIndex l) { return setting_.lines[setting_.edges.clock_of[l]]; });
  return times;
}

void ViolatedEdges::begin_anew() {
  setting_.edges.windows = GenerationSizes::first;
  near_ = 1;
}

bool ViolatedEdges::collect(std::int64_t most_slack, std::int64_t rate_ppb) {
  setting_.edges.corrected = corrected_;
  setting_.edges.most_slack = most_slack;
  const auto found = constraints::collect_violated(context_.team(), graph_, setting_.edges);
  double worst = 0;
  for (const auto& [one, slack] : found) worst = std::min(worst, slack);
  if (worst >= 0 && most_slack == near_) return false;
  near_ = static_cast<std::int64_t>(-worst) / 32 + 1;
  // Windows in which errors change by about what edges may be near: of more edges of a pair in one
  // of them the tightest says nearly all.
  const Int128 change = (Int128{setting_.edges.end - begin()} << bits()) * rate_ppb;
  const std::uint32_t least = std::min(2 * setting_.edges.windows, GenerationSizes::finest);
  setting_.edges.windows = static_cast<std::uint32_t>(
      std::clamp<Int128>(change / k_billion / near_, least, GenerationSizes::finest));
  const std::size_t before = edges_.size();
  for (const auto& [one, slack] : found) edges_.push_back(edge_of(one, begin()));
  const auto added = edges_.begin() + static_cast<std::ptrdiff_t>(before);
  std::sort(added, edges_.end());
  std::inplace_merge(edges_.begin(), added, edges_.end());
  edges_.erase(std::unique(edges_.begin(), edges_.end()), edges_.end());
  return edges_.size() > before;
}

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
