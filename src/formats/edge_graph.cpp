// SPDX-License-Identifier: BSD-3-Clause
#include "formats/edge_graph.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

#include "base/cancel.hpp"
#include "base/executor.hpp"
#include "base/flat_map.hpp"
#include "base/try.hpp"
#include "match/parts.hpp"

namespace entrain::formats {

namespace {

/// Least number of edges per slice, the work of one thread.
constexpr std::size_t k_smallest_slice = 1 << 14;

/// Finds nodes by their stamps: exponential search from the last one found, which is mostly near.
class NodeFinder {
 public:
  NodeFinder(std::span<const NodeIndex> first_node, std::span<const std::uint64_t> stamps)
      : first_node_(first_node), stamps_(stamps), near_(first_node.begin(), first_node.end() - 1) {}

  /// The node of a stamp; it must exist.
  NodeIndex find(LocationIndex l, std::uint64_t time) {
    const std::size_t begin = first_node_[l], end = first_node_[l + 1];
    std::size_t low = near_[l], high = low + 1, step = 1;
    while (low > begin && stamps_[low] > time) {
      high = low;
      low = low - begin > step ? low - step : begin;
      step *= 2;
    }
    while (high < end && stamps_[high] <= time) {
      low = high;
      high = end - high > step ? high + step : end;
      step *= 2;
    }
    const auto from = stamps_.begin();
    const auto next = std::upper_bound(from + static_cast<std::ptrdiff_t>(low),
                                       from + static_cast<std::ptrdiff_t>(high), time);
    near_[l] = static_cast<NodeIndex>(next - from - 1);
    return near_[l];
  }

 private:
  std::span<const NodeIndex> first_node_;
  std::span<const std::uint64_t> stamps_;
  std::vector<NodeIndex> near_;  ///< last node found; index: location
};

/// Runs graph_of() once.
class GraphBuilder {
 public:
  GraphBuilder(const trace::Definitions& definitions, const Edges& edges, const MuTicks& mu,
               unsigned threads, const Progress* progress)
      : edges_(edges),
        mu_(mu),
        threads_(worker_count(threads)),
        cancel_(progress),
        locations_(definitions.locations.size()) {
    graph().process_of = definitions.process_of;
    graph().node_of = definitions.node_of;
    slices_ = std::clamp<std::size_t>(edge_rows() / k_smallest_slice, 1, threads_);
  }

  Result<EdgeGraph> run() {
    TRY(number_delays());
    collect_stamps();
    TRY(cancel_.check());
    TRY(sort_stamps());
    TRY(cancel_.check());
    make_edges();
    TRY(cancel_.check());
    make_exchanges();
    count_left_out();
    return std::move(result_);
  }

 private:
  match::Graph& graph() { return result_.graph; }
  [[nodiscard]] std::size_t edge_rows() const { return edges_.cause_clock.size(); }
  [[nodiscard]] bool is_inside(std::size_t i) const {
    return edges_.cause_clock[i] == edges_.effect_clock[i];
  }
  [[nodiscard]] std::span<const InstanceMember> members(const CollectiveInstance& one) const {
    return edges_.members.subspan(one.first, std::size_t{one.begins} + one.ends);
  }
  /// False if an instance has no begin, no end, or only one of each, of one clock.
  [[nodiscard]] bool has_pairs(const CollectiveInstance& one) const {
    if (one.begins == 0 || one.ends == 0) return false;
    const auto all = members(one);
    return all.size() > 2 || all[0].clock != all[1].clock;
  }

  [[nodiscard]] std::pair<std::size_t, std::size_t> slice(std::size_t s, std::size_t count) const {
    return {count * s / slices_, count * (s + 1) / slices_};
  }

  /// Calls body(location, time) for all ends of a slice of the edges and instances.
  template <class Body>
  void for_ends(std::size_t s, Body body) const {
    const auto [begin, end] = slice(s, edge_rows());
    for (std::size_t i = begin; i < end; ++i) {
      if (is_inside(i)) continue;
      body(edges_.cause_clock[i], edges_.cause_time[i]);
      body(edges_.effect_clock[i], edges_.effect_time[i]);
    }
    const auto [first, last] = slice(s, edges_.instances.size());
    for (const CollectiveInstance& one : edges_.instances.subspan(first, last - first)) {
      if (!has_pairs(one)) continue;
      for (const InstanceMember& member : members(one)) body(member.clock, member.time);
    }
  }

  /// Numbers the different delays above mu; the numbers are those of Edge::pair.
  Result<void> number_delays() {
    std::vector<std::int64_t>& extra = graph().extra_mu;
    for (const std::int64_t delay : edges_.min_delay) {
      if (delay == 0) continue;
      for (const std::int64_t of_class : mu_) {
        const std::int64_t more = std::max<std::int64_t>(delay - of_class, 0);
        if (more == 0 || delays_.find(static_cast<std::uint64_t>(more)) != nullptr) continue;
        if (extra.empty()) extra.push_back(0);
        if (extra.size() > std::numeric_limits<std::uint16_t>::max()) {
          return input_error(
              "the edges have more than 65,535 different delays min_delay; round them down");
        }
        delays_.insert(static_cast<std::uint64_t>(more), static_cast<std::uint16_t>(extra.size()));
        extra.push_back(more);
      }
    }
    return {};
  }

  [[nodiscard]] std::uint16_t pair_of(std::size_t i, LatencyClass latency_class) const {
    if (edges_.min_delay.empty()) return 0;
    const std::int64_t more = edges_.min_delay[i] - mu_[static_cast<std::size_t>(latency_class)];
    if (more <= 0) return 0;
    return *delays_.find(static_cast<std::uint64_t>(more));
  }

  /// Collects the stamps of all ends in one array, grouped by location.
  void collect_stamps() {
    std::vector<std::vector<std::size_t>> next(slices_, std::vector<std::size_t>(locations_));
    for_each_in_parallel(threads_, slices_, [&](std::size_t s) {
      for_ends(s, [&](std::uint32_t l, std::uint64_t) { ++next[s][l]; });
    });
    std::size_t sum = 0;
    for (std::size_t l = 0; l < locations_; ++l) {
      first_end_.push_back(sum);
      for (auto& of_slice : next) sum += std::exchange(of_slice[l], sum);
    }
    first_end_.push_back(sum);
    BigVector<std::uint64_t>& stamps = graph().stamp;
    stamps.resize(sum);
    for_each_in_parallel(threads_, slices_, [&](std::size_t s) {
      for_ends(s, [&](std::uint32_t l, std::uint64_t time) { stamps[next[s][l]++] = time; });
    });
  }

  /// Sorts the stamps of each location and removes duplicates.
  Result<void> sort_stamps() {
    BigVector<std::uint64_t>& stamps = graph().stamp;
    std::vector<std::size_t> kept(locations_);
    for_each_in_parallel(threads_, locations_, [&](std::size_t l) {
      const auto begin = stamps.begin() + static_cast<std::ptrdiff_t>(first_end_[l]);
      const auto end = stamps.begin() + static_cast<std::ptrdiff_t>(first_end_[l + 1]);
      if (!std::is_sorted(begin, end)) std::sort(begin, end);
      kept[l] = static_cast<std::size_t>(std::unique(begin, end) - begin);
    });
    std::uint64_t edges = 0, participants = 0;
    for (const CollectiveInstance& one : edges_.instances) participants += members(one).size();
    edges = edge_rows();
    TRY(match::require_countable({.nodes = std::accumulate(kept.begin(), kept.end(), std::size_t{}),
                                  .edges = edges,
                                  .exchanges = edges_.instances.size(),
                                  .participants = participants},
                                 "the set of edges"));
    std::size_t to = 0;
    for (std::size_t l = 0; l < locations_; ++l) {
      graph().first_node.push_back(static_cast<NodeIndex>(to));
      const auto from = stamps.begin() + static_cast<std::ptrdiff_t>(first_end_[l]);
      std::copy_n(from, kept[l], stamps.begin() + static_cast<std::ptrdiff_t>(to));
      to += kept[l];
    }
    graph().first_node.push_back(static_cast<NodeIndex>(to));
    stamps.resize(to);
    return {};
  }

  /// Groups the edges by receiving location, and sorts each group.
  void make_edges() {
    std::vector<std::vector<std::size_t>> next(slices_, std::vector<std::size_t>(locations_));
    for_each_in_parallel(threads_, slices_, [&](std::size_t s) {
      const auto [begin, end] = slice(s, edge_rows());
      for (std::size_t i = begin; i < end; ++i) {
        if (!is_inside(i)) ++next[s][edges_.effect_clock[i]];
      }
    });
    std::vector<std::size_t> first{0};
    for (std::size_t l = 0; l < locations_; ++l) {
      std::size_t sum = first.back();
      for (auto& of_slice : next) sum += std::exchange(of_slice[l], sum);
      first.push_back(sum);
    }
    BigVector<match::Edge>& edges = graph().edges;
    edges.resize(first.back());
    for_each_in_parallel(threads_, slices_, [&](std::size_t s) {
      NodeFinder finder(graph().first_node, graph().stamp);
      const auto [begin, end] = slice(s, edge_rows());
      for (std::size_t i = begin; i < end; ++i) {
        if (!is_inside(i)) edges[next[s][edges_.effect_clock[i]]++] = edge(i, finder);
      }
    });
    for_each_in_parallel(threads_, locations_, [&](std::size_t l) {
      sort_edges({edges.data() + first[l], first[l + 1] - first[l]}, graph().first_node[l],
                 graph().first_node[l + 1]);
    });
  }

  [[nodiscard]] match::Edge edge(std::size_t i, NodeFinder& finder) {
    const LocationIndex from = edges_.cause_clock[i], to = edges_.effect_clock[i];
    const LatencyClass latency_class = graph().latency_class(from, to);
    return {.send = finder.find(from, edges_.cause_time[i]),
            .receive = finder.find(to, edges_.effect_time[i]),
            .kind = edges_.kind.empty() ? EdgeKind::p2p : edges_.kind[i],
            .latency_class = latency_class,
            .pair = pair_of(i, latency_class)};
  }

  /// Sorts the edges of one location by receive, then send, as Graph::edges: a counting sort by
  /// receive, then a stable sort of those that end at one node.
  static void sort_edges(std::span<match::Edge> edges, NodeIndex first_node, NodeIndex end_node) {
    const auto by_ends = [](const match::Edge& a, const match::Edge& b) {
      return std::tie(a.receive, a.send) < std::tie(b.receive, b.send);
    };
    if (std::is_sorted(edges.begin(), edges.end(), by_ends)) return;
    const BigVector<match::Edge> unsorted(edges.begin(), edges.end());
    BigVector<std::uint32_t> next(std::size_t{end_node} - first_node + 1);
    for (const match::Edge& edge : unsorted) ++next[edge.receive - first_node + 1];
    std::partial_sum(next.begin(), next.end(), next.begin());
    for (const match::Edge& edge : unsorted) edges[next[edge.receive - first_node]++] = edge;
    const auto same = [](const match::Edge& a, const match::Edge& b) {
      return a.receive == b.receive;
    };
    for (auto begin = edges.begin();
         (begin = std::adjacent_find(begin, edges.end(), same)) != edges.end();) {
      const auto end =
          std::find_if_not(begin, edges.end(), [&](const auto& e) { return same(e, *begin); });
      std::stable_sort(begin, end, [](const auto& a, const auto& b) { return a.send < b.send; });
      begin = end;
    }
  }

  void make_exchanges() {
    NodeFinder finder(graph().first_node, graph().stamp);
    BigVector<match::Participant>& participants = graph().participants;
    for (const CollectiveInstance& one : edges_.instances) {
      if (!has_pairs(one)) continue;
      const auto first = static_cast<std::uint32_t>(participants.size());
      const bool ordered = one.kind == EdgeKind::scan;
      graph().exchanges.push_back({.kind = one.kind,
                                   .ordered = ordered,
                                   .first_send = first,
                                   .send_count = one.begins,
                                   .first_receive = first + one.begins,
                                   .receive_count = one.ends});
      for (const InstanceMember& member : members(one)) {
        participants.push_back({.node = finder.find(member.clock, member.time),
                                .location = member.clock,
                                .order = ordered ? member.rank : 0});
      }
    }
  }

  void count_left_out() {
    const std::size_t inside = edge_rows() - graph().edges.size();
    const std::size_t alone = edges_.instances.size() - graph().exchanges.size();
    if (inside > 0) result_.left_out.emplace_back("edges_inside_a_clock", inside);
    if (alone > 0) result_.left_out.emplace_back("instances_without_pairs", alone);
  }

  const Edges& edges_;
  MuTicks mu_;
  unsigned threads_;
  Cancel cancel_;
  std::size_t locations_;
  std::size_t slices_ = 1;
  FlatMap<std::uint64_t, std::uint16_t, IntegerHash> delays_;  ///< ticks above mu -> Edge::pair
  std::vector<std::size_t> first_end_;  ///< first unsorted stamp per location, then the end
  EdgeGraph result_;
};

}  // namespace

Result<EdgeGraph> graph_of(const trace::Definitions& definitions, const Edges& edges,
                           const MuTicks& mu, unsigned threads, const Progress* progress) {
  return GraphBuilder(definitions, edges, mu, threads, progress).run();
}

EdgeList list_of(const match::Graph& graph, const MuTicks& mu) {
  EdgeList list;
  const bool delays = mu != MuTicks{} || !graph.extra_mu.empty();
  const std::span<const std::uint64_t> stamps = graph.stamp;
  const auto add = [&](const match::Edge& edge, LocationIndex from, LocationIndex to) {
    list.add({from, graph.stamp[edge.send]}, {to, graph.stamp[edge.receive]});
    list.kind.push_back(edge.kind);
    if (delays) list.min_delay.push_back(graph.mu_of(edge, mu));
  };
  match::for_edges(graph, {graph.edges, {}}, stamps, add);
  for (const match::Exchange& exchange : graph.exchanges) {
    list.instances.push_back({.kind = exchange.kind,
                              .first = list.members.size(),
                              .begins = exchange.send_count,
                              .ends = exchange.receive_count});
    for (const auto side : {graph.sends(exchange), graph.receives(exchange)}) {
      for (const match::Participant& one : side) {
        list.members.push_back({one.location, one.order, graph.stamp[one.node]});
      }
    }
  }
  return list;
}

}  // namespace entrain::formats
