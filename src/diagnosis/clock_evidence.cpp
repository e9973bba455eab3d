// SPDX-License-Identifier: BSD-3-Clause
#include "diagnosis/clock_evidence.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "base/disjoint_sets.hpp"
#include "base/team.hpp"
#include "diagnosis/clock_figures.hpp"
#include "match/deciding_pairs.hpp"
#include "trace/layout.hpp"
#include "trace/share.hpp"

namespace entrain::diagnosis {

namespace {

using Times = BigVector<std::int64_t>;

void take_worst(ClockEvidence::OfLocation& of, std::int64_t margin, LocationIndex with) {
  std::tie(of.worst_ticks, of.worst_with) =
      std::min(std::pair(of.worst_ticks, of.worst_with), std::pair(margin, with));
}

/// Adds the edges of a graph to the evidence of the locations of their ends.
class EvidenceCollector {
 public:
  /// `place`: position of each location's clock in order of its move.
  EvidenceCollector(const match::Graph& graph, const Times& times,
                    const std::vector<std::uint32_t>& place, ClockEvidence& evidence)
      : graph_(graph),
        times_(times),
        place_(place),
        evidence_(evidence),
        sets_(graph.location_count()) {}

  /// The first place at which a clock contradicts one before it; k_none if none does.
  [[nodiscard]] std::uint32_t first_wrong() const { return first_wrong_; }

  void add_all() {
    for (const match::Edge& edge : graph_.edges) {
      note(graph_.location_of(edge.send), graph_.location_of(edge.receive), edge.send,
           edge.receive);
    }
    for (const match::Exchange& exchange : graph_.exchanges) add(exchange);
  }

  std::vector<std::uint32_t> groups() { return sets_.all(); }

 private:
  void add(const match::Exchange& exchange) {
    bool is_violated = false;
    match::for_deciding_pairs(graph_, exchange, times_, [&](const auto& begin, const auto& end) {
      is_violated = note(begin.location, end.location, begin.node, end.node) || is_violated;
    });
    if (is_violated) find_wrong(exchange);
    const auto sends = graph_.sends(exchange);
    for (const match::Participant& send : sends) sets_.join(sends.front().location, send.location);
  }

  /// The two locations with the least places.
  struct Least {
    LocationIndex first = k_none, second = k_none;
  };
  void take(Least& least, LocationIndex l) const {
    if (l == least.first || l == least.second) return;
    if (least.first == k_none || place_[l] < place_[least.first]) {
      least.second = std::exchange(least.first, l);
    } else if (least.second == k_none || place_[l] < place_[least.second]) {
      least.second = l;
    }
  }

  /// Takes the violated pairs of a collective.
  void find_wrong(const match::Exchange& exchange) {
    const auto sends = graph_.sends(exchange), receives = graph_.receives(exchange);
    std::vector<match::Participant> begins(sends.begin(), sends.end());
    std::vector<match::Participant> ends(receives.begin(), receives.end());
    const auto time = [&](const match::Participant& one) { return times_[one.node]; };
    std::ranges::sort(begins, std::ranges::greater(), time);
    if (exchange.ordered) return find_wrong_in_order(begins, ends);
    std::ranges::sort(ends, std::ranges::greater(), time);
    Least later;  // of the begins later than the end
    auto next = begins.begin();
    for (const match::Participant& end : ends) {
      for (; next != begins.end() && time(*next) > time(end); ++next) take(later, next->location);
      const LocationIndex l = later.first == end.location ? later.second : later.first;
      if (l != k_none) note_wrong(l, end.location);
    }
  }
  /// Likewise, of a scan.
  void find_wrong_in_order(std::span<const match::Participant> begins,
                           std::span<const match::Participant> ends) {
    for (const match::Participant& end : ends) {
      for (const match::Participant& begin : begins) {
        if (times_[begin.node] <= times_[end.node]) break;
        const bool is_edge = begin.location != end.location && begin.order < end.order;
        if (is_edge) note_wrong(begin.location, end.location);
        if (place_[end.location] >= first_wrong_) break;
      }
    }
  }

  void note_wrong(LocationIndex a, LocationIndex b) {
    first_wrong_ = std::min(first_wrong_, std::max(place_[a], place_[b]));
  }

  /// Notes an edge between two nodes. True if it is violated.
  bool note(LocationIndex cause, LocationIndex effect, NodeIndex send, NodeIndex receive) {
    sets_.join(cause, effect);
    const std::int64_t margin = times_[receive] - times_[send];
    if (margin < 0) note_wrong(cause, effect);
    note(cause, effect, margin);
    note(effect, cause, margin);
    return margin < 0;
  }
  void note(LocationIndex own, LocationIndex other, std::int64_t margin) {
    ClockEvidence::OfLocation& of = evidence_.of[own];
    ++of.edges;
    if (margin < 0) ++of.violations;
    take_worst(of, margin, other);
  }

  const match::Graph& graph_;
  const Times& times_;
  const std::vector<std::uint32_t>& place_;
  ClockEvidence& evidence_;
  DisjointSets sets_;
  std::uint32_t first_wrong_ = k_none;
};

/// Adds up what the members of a team know.
void combine(Team& team, ClockEvidence& evidence) {
  if (team.size() == 1) return;
  const std::size_t count = evidence.of.size();
  const std::vector<ClockEvidence::OfLocation> all = gather_everywhere(team, evidence.of);
  evidence.of.assign(count, {});
  for (std::size_t i = 0; i < all.size(); ++i) {
    ClockEvidence::OfLocation& of = evidence.of[i % count];
    of.edges += all[i].edges;
    of.violations += all[i].violations;
    take_worst(of, all[i].worst_ticks, all[i].worst_with);
  }
  DisjointSets sets(count);
  const std::vector<std::uint32_t> groups = gather_everywhere(team, evidence.group);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    sets.join(static_cast<std::uint32_t>(i % count), groups[i]);
  }
  evidence.group = sets.all();
}

/// Per location the position of its clock in order of how far the presync moves it.
std::vector<std::uint32_t> places(const ClocksOfTrace& of) {
  const trace::Share& share = of.context.share;
  const trace::Layout layout = trace::make_layout(share.trace.definitions, of.shared);
  const std::vector<std::optional<Figures>> clocks =
      by_clock(all_figures(share, of.measured, of.found, nullptr), layout);
  const std::int64_t common = common_distance(clocks);
  std::vector<std::uint32_t> order(clocks.size()), place(clocks.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(
      order, {}, [&](std::uint32_t c) { return clocks[c] ? size_of(*clocks[c], common) : 0; });
  for (std::uint32_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  std::vector<std::uint32_t> result;
  for (const std::uint32_t clock : layout.clock_of) result.push_back(place[clock]);
  return result;
}

/// Tells which clocks may stay as measured beside the others as estimated, each of which may move
/// by any constant.
class StayingClocks {
 public:
  /// `place`: position of each location's clock in order of its move.
  StayingClocks(const ClocksOfTrace& of, const Times& measured,
                const std::vector<std::uint32_t>& place)
      : graph_(of.context.graph),
        team_(of.context.team()),
        measured_(measured),
        clocks_(std::ranges::max(place) + 1) {
    constraints::evaluate_nodes(of.context, found_,
                                [&](LocationIndex l) { return ClockMap::Cursor(of.found[l]); });
    place_.resize(graph_.node_count());
    for (NodeIndex n = 0; n < place_.size(); ++n) place_[n] = place[graph_.location_of(n)];
    times_.resize(place_.size());
  }

  /// The most clocks that may stay, in order of their places, at most `most`. Collective.
  std::uint32_t count(std::uint32_t most) {
    if (may_stay(most)) return most;
    std::uint32_t few = 0;
    while (few + 1 < most) {
      const std::uint32_t middle = few + (most - few) / 2;
      (may_stay(middle) ? few : most) = middle;
    }
    return few;
  }

 private:
  static constexpr std::int64_t k_free = match::k_no_demand;

  /// True if constants for the clocks from place `staying` on exist by which no edge is violated
  /// more than it is by the estimate. They are the least ones that the edges from the others
  /// demand, found by relaxation (Bellman 1958); those that nothing demands of are free.
  bool may_stay(std::uint32_t staying) {
    staying_ = staying;
    shift_.assign(clocks_, k_free);
    std::fill_n(shift_.begin(), staying, 0);
    for (std::uint32_t round = 0; round <= clocks_; ++round) {
      const std::vector<std::int64_t> before = shift_;
      relax(round % 2 == 1);
      team_.reduce(Team::Reduction::max, shift_);
      if (std::any_of(shift_.begin(), shift_.begin() + staying, [](auto s) { return s > 0; })) {
        return false;
      }
      if (shift_ == before) return true;
    }
    return false;
  }

  /// `backward`: edges in reverse, so that few rounds pass on what chains of clocks demand.
  void relax(bool backward) {
    for (NodeIndex n = 0; n < times_.size(); ++n) times_[n] = time(n);
    const std::size_t edges = graph_.edges.size();
    for (std::size_t e = 0; e < edges; ++e) {
      const match::Edge& edge = graph_.edges[backward ? edges - 1 - e : e];
      demand(edge.send, edge.receive, excess(edge.send, edge.receive));
    }
    for (const match::Exchange& exchange : graph_.exchanges) {
      std::int64_t left = 0;
      match::for_deciding_pairs(graph_, exchange, found_, [&](const auto& begin, const auto& end) {
        left = std::max(left, excess(begin.node, end.node));
      });
      match::for_deciding_pairs(graph_, exchange, times_, [&](const auto& begin, const auto& end) {
        demand(begin.node, end.node, left);
      });
    }
  }

  /// By how much the estimate leaves an edge violated.
  [[nodiscard]] std::int64_t excess(NodeIndex cause, NodeIndex effect) const {
    return std::max<std::int64_t>(0, found_[cause] - found_[effect]);
  }
  [[nodiscard]] std::int64_t unshifted(NodeIndex n) const {
    return (place_[n] < staying_ ? measured_ : found_)[n];
  }
  [[nodiscard]] std::int64_t time(NodeIndex n) const {
    return shift_[place_[n]] == k_free ? k_free : unshifted(n) + shift_[place_[n]];
  }
  void demand(NodeIndex cause, NodeIndex effect, std::int64_t excess) {
    if (place_[cause] == place_[effect] || shift_[place_[cause]] == k_free) return;
    std::int64_t& shift = shift_[place_[effect]];
    shift = std::max(shift, time(cause) - excess - unshifted(effect));
  }

  const match::Graph& graph_;
  Team& team_;
  const Times& measured_;
  Times found_, times_;             ///< `times_`: shifted; k_free: of a clock that is free
  BigVector<std::uint32_t> place_;  ///< index: node
  std::uint32_t clocks_, staying_ = 0;
  std::vector<std::int64_t> shift_;  ///< index: place
};

/// Finds the locations that may be wrong without the others of their clock.
class ErringAlone {
 public:
  ErringAlone(const ClocksOfTrace& of, const Times& measured)
      : graph_(of.context.graph), clocks_(of.shared), measured_(measured) {
    constraints::evaluate_nodes(of.context, corrected_,
                                [&](LocationIndex l) { return ClockMap::Cursor(of.found[l]); });
  }

  void find(ClockEvidence& evidence) {
    is_compared_.resize(graph_.location_count());
    for (const match::Edge& edge : graph_.edges) compare(edge);
    for (const match::Exchange& exchange : graph_.exchanges) {
      for (const match::Participant& one : graph_.sends(exchange))
        is_compared_[one.location] = true;
      for (const match::Participant& one : graph_.receives(exchange)) {
        is_compared_[one.location] = true;
      }
    }
    std::vector<bool> is_whole(clocks_.count());  // its locations cannot be told apart
    for (std::size_t c = 0; c < clocks_.count(); ++c) {
      const auto& members = clocks_.members[c];
      is_whole[c] =
          std::ranges::any_of(members, [&](LocationIndex l) { return is_compared_[l]; }) &&
          !std::ranges::all_of(members, [&](LocationIndex l) { return is_compared_[l]; });
    }
    for (const match::Edge& edge : graph_.edges) {
      if (is_inner(edge) && is_met(edge, false) && !is_met(edge, true)) {
        is_whole[clock_of(edge.send)] = false;
      }
    }
    for (std::uint32_t l = 0; l < is_compared_.size(); ++l) {
      evidence.of[l].may_err_alone = is_compared_[l] && is_whole[clocks_.of[l]];
    }
  }

 private:
  [[nodiscard]] std::uint32_t clock_of(std::uint32_t node) const {
    return clocks_.of[graph_.location_of(node)];
  }
  [[nodiscard]] bool is_inner(const match::Edge& edge) const {
    return clock_of(edge.send) == clock_of(edge.receive);
  }
  void compare(const match::Edge& edge) {
    if (is_inner(edge)) return;
    is_compared_[graph_.location_of(edge.send)] = true;
    is_compared_[graph_.location_of(edge.receive)] = true;
  }
  /// `moved`: if only the locations move that are compared with other clocks.
  [[nodiscard]] bool is_met(const match::Edge& edge, bool moved) const {
    const auto time = [&](std::uint32_t node) {
      return (moved && is_compared_[graph_.location_of(node)] ? corrected_ : measured_)[node];
    };
    return time(edge.receive) >= time(edge.send);
  }

  const match::Graph& graph_;
  const trace::ClockDomains& clocks_;
  const Times& measured_;
  Times corrected_;
  std::vector<bool> is_compared_;  ///< it has edges with other clocks; index: location
};

}  // namespace

ClockEvidence clock_evidence(const ClocksOfTrace& of) {
  const constraints::Context& context = of.context;
  Times times;
  constraints::evaluate_nodes(context, times,
                              [&](LocationIndex l) { return ClockMap::Cursor(of.measured[l]); });
  ClockEvidence evidence;
  evidence.of.resize(context.graph.location_count());
  const std::vector<std::uint32_t> place = places(of);
  EvidenceCollector collector(context.graph, times, place, evidence);
  collector.add_all();
  evidence.group = collector.groups();
  combine(context.team(), evidence);
  std::int64_t first_wrong = context.team().reduce(
      Team::Reduction::min, static_cast<std::int64_t>(collector.first_wrong()));
  if (first_wrong != k_none) {
    first_wrong = StayingClocks(of, times, place).count(static_cast<std::uint32_t>(first_wrong));
  }
  for (std::size_t l = 0; l < place.size(); ++l) {
    evidence.of[l].is_right = static_cast<std::int64_t>(place[l]) < first_wrong;
  }
  if (of.are_edges_given && !of.shared.trivial()) ErringAlone(of, times).find(evidence);
  return evidence;
}

}  // namespace entrain::diagnosis
