// SPDX-License-Identifier: BSD-3-Clause
#include "causal/difference_constraints.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/exact.hpp"
#include "base/ids.hpp"

namespace entrain::causal {

namespace {

/// Costs are counted in parts of a tick, since a step from window to window may cost less than one.
constexpr std::int64_t k_parts = 256;
/// Constraints beyond this many ticks are no limit.
constexpr std::int64_t k_most_ticks = std::int64_t{1} << 46;
constexpr std::int64_t k_most_distance = std::int64_t{1} << 50;
/// A label below this can only come from a circle.
constexpr std::int64_t k_lowest = -(std::int64_t{1} << 61);

/// distance * rate in parts of a tick, rounded up.
std::int64_t parts(std::int64_t distance, std::int64_t rate_ppb) {
  return static_cast<std::int64_t>(
      ceil_div(static_cast<Int128>(distance) * rate_ppb * k_parts, k_ppb));
}

std::int64_t magnitude(std::int64_t a, std::int64_t b) {
  const Int128 distance = static_cast<Int128>(a) - b;
  return static_cast<std::int64_t>(
      std::min<Int128>(distance < 0 ? -distance : distance, std::int64_t{1} << 61));
}

/// How far the two ends of a constraint are moved. The reference is right at all times: moving it
/// costs nothing.
std::pair<std::int64_t, std::int64_t> distances_of(const ConstraintGrid& problem,
                                                   const ClockConstraint& constraint) {
  const std::int64_t middle = problem.middle(problem.window_of(constraint.to_time));
  return {constraint.from == problem.reference ? 0 : magnitude(constraint.from_time, middle),
          constraint.to == problem.reference ? 0 : magnitude(constraint.to_time, middle)};
}

}  // namespace

std::int64_t spread(std::int64_t distance, std::int64_t rate_ppb) {
  return static_cast<std::int64_t>(ceil_div(static_cast<Int128>(distance) * rate_ppb, k_ppb));
}

std::uint32_t ConstraintGrid::window_of(std::int64_t time) const {
  if (time <= begin) return 0;
  const std::uint64_t past = static_cast<std::uint64_t>(time) - static_cast<std::uint64_t>(begin);
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(past / static_cast<std::uint64_t>(width), windows - 1));
}

DifferenceConstraints::DifferenceConstraints(const ConstraintGrid& problem)
    : grid_(problem), first_edge_(problem.windows + 1, 0) {
  grid_.constraints = {};
  const auto counts = [&](const ClockConstraint& constraint) {
    const auto [from, to] = distances_of(problem, constraint);
    return constraint.from != constraint.to && constraint.slack <= k_most_ticks &&
           constraint.slack >= -k_most_ticks && from <= k_most_distance && to <= k_most_distance;
  };
  for (const ClockConstraint& constraint : problem.constraints) {
    if (counts(constraint)) ++first_edge_[problem.window_of(constraint.to_time) + 1];
  }
  for (std::uint32_t w = 0; w < grid_.windows; ++w) first_edge_[w + 1] += first_edge_[w];
  edges_.resize(first_edge_.back());
  std::vector<std::uint32_t> next(first_edge_.begin(), first_edge_.end() - 1);
  for (const ClockConstraint& constraint : problem.constraints) {
    if (!counts(constraint)) continue;
    const auto [from, to] = distances_of(problem, constraint);
    edges_[next[problem.window_of(constraint.to_time)]++] = {constraint.from, constraint.to,
                                                             constraint.slack, from, to};
  }
}

/// Bellman-Ford, window by window, forward and back: labels fall until no edge is too short. Goes
/// along the edges, or (`reversed`) against them.
class DifferenceConstraints::Paths {
 public:
  Paths(const DifferenceConstraints& graph, const RateLimits& limits, bool reversed)
      : graph_(graph), g_(graph.grid_), limits_(limits), reversed_(reversed) {
    for (std::uint32_t c = 0; c < g_.clocks; ++c) steps_.push_back(parts(g_.width, limits.of(c)));
    label_.resize(std::size_t{g_.windows} * g_.clocks + 1);
    parent_.resize(label_.size());
    stale_.resize(g_.windows, true);
    costs_.reserve(graph_.edges_.size());
    for (const Edge& edge : graph_.edges_) {
      costs_.push_back(edge.slack * k_parts + parts(edge.from_distance, limits.of(edge.from)) +
                       parts(edge.to_distance, limits.of(edge.to)));
    }
  }

  /// Starts at all nodes at once. Returns the nodes of a circle below 0; empty: there is none.
  std::vector<std::size_t> circle() {
    std::fill(label_.begin(), label_.end(), 0);
    return settle();
  }
  /// Distances from the reference, ticks, rounded up. Nodes that are not reached keep
  /// ErrorIntervals::k_unbounded.
  std::vector<std::int64_t> distances() {
    std::fill(label_.begin(), label_.end(), ErrorIntervals::k_unbounded);
    label_[k_reference] = 0;
    settle();
    std::vector<std::int64_t> result(label_.begin() + 1, label_.end());
    for (std::int64_t& distance : result) {
      if (distance == ErrorIntervals::k_unbounded) continue;
      distance = static_cast<std::int64_t>(ceil_div(distance, k_parts));
    }
    for (std::uint32_t w = 0; w < g_.windows; ++w) {
      result[std::size_t{w} * g_.clocks + g_.reference] = 0;
    }
    return result;
  }

  [[nodiscard]] Contradiction describe(const std::vector<std::size_t>& circle) const {
    Contradiction found;
    // `fixed`: the part of its cost that does not depend on the limit for all clocks, in billionths
    // of ticks.
    Int128 fixed = 0, distance = 0;
    const auto move = [&](std::int64_t ticks, std::uint32_t clock) {
      distance += ticks;
      fixed += static_cast<Int128>(ticks) * (limits_.of(clock) - limits_.wander_ppb);
    };
    std::uint32_t first = g_.windows, last = 0;
    for (const std::size_t node : circle) {
      const Parent& parent = parent_[node];
      if (parent.edge == k_beside) {
        move(g_.width, clock_of(node));
      } else {
        const Edge& edge = graph_.edges_[parent.edge];
        fixed += static_cast<Int128>(edge.slack) * k_ppb;
        move(edge.from_distance, edge.from);
        move(edge.to_distance, edge.to);
      }
      found.clocks.push_back(clock_of(node));
      if (node == k_reference) continue;
      const auto window = static_cast<std::uint32_t>((node - 1) / g_.clocks);
      first = std::min(first, window);
      last = std::max(last, window);
    }
    std::sort(found.clocks.begin(), found.clocks.end());
    found.clocks.erase(std::unique(found.clocks.begin(), found.clocks.end()), found.clocks.end());
    found.begin = g_.middle(first);
    found.end = g_.middle(last);
    if (distance > 0) {
      const Int128 needed = ceil_div(-fixed, distance);
      if (needed <= k_most_rate_ppb) found.needed_ppb = static_cast<std::int64_t>(needed);
    }
    return found;
  }

 private:
  static constexpr std::size_t k_reference = 0;
  static constexpr std::uint32_t k_beside = k_none - 1;  ///< same clock, next or previous window
  struct Parent {
    std::size_t node = 0;
    std::uint32_t edge = k_none;  ///< k_none: never reached
  };

  [[nodiscard]] std::size_t node(std::uint32_t clock, std::uint32_t window) const {
    return clock == g_.reference ? k_reference : 1 + std::size_t{window} * g_.clocks + clock;
  }
  [[nodiscard]] std::uint32_t clock_of(std::size_t node) const {
    return node == k_reference ? g_.reference : static_cast<std::uint32_t>((node - 1) % g_.clocks);
  }
  /// True if the label of `to` fell.
  bool relax(std::size_t from, std::size_t to, std::int64_t cost, std::uint32_t edge) {
    if (cost > k_most_ticks * k_parts) return false;
    if (label_[from] == ErrorIntervals::k_unbounded || label_[from] < k_lowest) return false;
    const std::int64_t label = label_[from] + cost;
    if (label >= label_[to]) return false;
    label_[to] = label;
    parent_[to] = {from, edge};
    if (to == k_reference) std::fill(stale_.begin(), stale_.end(), true);
    return true;
  }

  /// Follows the edges inside a window until no label falls; false if that does not end.
  bool settle_window(std::uint32_t w) {
    for (std::uint32_t round = 0; round <= g_.clocks + 1; ++round) {
      bool fell = false;
      for (std::uint32_t e = graph_.first_edge_[w]; e < graph_.first_edge_[w + 1]; ++e) {
        const Edge& edge = graph_.edges_[e];
        const std::uint32_t from = reversed_ ? edge.to : edge.from;
        const std::uint32_t to = reversed_ ? edge.from : edge.to;
        fell = relax(node(from, w), node(to, w), costs_[e], e) || fell;
      }
      if (!fell) return true;
    }
    return false;
  }

  void carry(std::uint32_t from, std::uint32_t to) {
    for (std::uint32_t c = 0; c < g_.clocks; ++c) {
      if (c != g_.reference && relax(node(c, from), node(c, to), steps_[c], k_beside)) {
        stale_[to] = true;
      }
    }
  }

  std::vector<std::size_t> settle() {
    while (true) {
      bool ended = true, moved = false;
      const auto visit = [&](std::uint32_t w) {
        if (!stale_[w]) return;
        moved = true;
        stale_[w] = false;
        ended = settle_window(w) && ended;
      };
      for (std::uint32_t w = 0; w < g_.windows; ++w) {
        if (w > 0) carry(w - 1, w);
        visit(w);
      }
      for (std::uint32_t w = g_.windows - 1; w-- > 0;) {
        carry(w + 1, w);
        visit(w);
      }
      if (!moved) return {};
      // Parents close a circle only if the sum around it is below 0.
      if (auto circle = circle_of_parents(); !circle.empty()) return circle;
      if (!ended) std::fill(stale_.begin(), stale_.end(), true);
    }
  }

  [[nodiscard]] std::vector<std::size_t> circle_of_parents() const {
    std::vector<std::uint32_t> seen(label_.size(), k_none);
    for (std::size_t start = 0; start < label_.size(); ++start) {
      std::size_t at = start;
      while (seen[at] == k_none && parent_[at].edge != k_none) {
        seen[at] = static_cast<std::uint32_t>(start);
        at = parent_[at].node;
      }
      if (parent_[at].edge == k_none || seen[at] != start) continue;
      std::vector<std::size_t> circle;
      for (std::size_t n = at; circle.empty() || n != at; n = parent_[n].node) circle.push_back(n);
      return circle;
    }
    return {};
  }

  const DifferenceConstraints& graph_;
  const ConstraintGrid& g_;
  const RateLimits& limits_;
  bool reversed_;
  std::vector<std::int64_t> steps_;  ///< per clock: cost from window to window, parts of a tick
  std::vector<std::int64_t> label_;
  std::vector<Parent> parent_;
  std::vector<std::int64_t> costs_;  ///< per edge, likewise
  std::vector<char> stale_;          ///< per window: labels fell since it was settled
};

std::optional<Contradiction> DifferenceConstraints::contradiction(const RateLimits& limits) const {
  Paths paths(*this, limits, false);
  const std::vector<std::size_t> circle = paths.circle();
  if (circle.empty()) return std::nullopt;
  return paths.describe(circle);
}

DifferenceConstraints::LeastRate DifferenceConstraints::least_rate() const {
  LeastRate least;
  while (auto found = contradiction({least.rate_ppb, {}})) {
    if (!found->needed_ppb) return {least.rate_ppb, std::move(found)};
    // Go a step further than this circle asks for: others like it need a little more.
    least.rate_ppb = *found->needed_ppb + *found->needed_ppb / 16;
  }
  return least;
}

ErrorIntervals DifferenceConstraints::intervals(const RateLimits& limits) const {
  ErrorIntervals result;
  result.clocks = grid_.clocks;
  result.upper = Paths(*this, limits, false).distances();
  result.lower = Paths(*this, limits, true).distances();
  for (std::int64_t& value : result.lower) value = -value;
  return result;
}

}  // namespace entrain::causal
