// SPDX-License-Identifier: BSD-3-Clause
#include "bounds/difference_constraints.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "base/exact.hpp"
#include "base/ids.hpp"
#include "constraints/edge_worklist.hpp"

namespace entrain::bounds {

namespace {

/// Units and bounds of the search for shortest paths; difference_constraints_test.cpp.
struct PathBounds {
  /// Parts of a tick in which costs are counted: a step between windows may cost less than a tick.
  static constexpr std::int64_t parts_of_tick = 256;
  static constexpr std::int64_t most_slack = std::int64_t{1} << 46;     ///< ticks; larger: ignored
  static constexpr std::int64_t most_distance = std::int64_t{1} << 50;  ///< ticks
  /// Labels below this, in parts, come from a negative cycle.
  static constexpr std::int64_t least_label = -(std::int64_t{1} << 61);
  /// Budget of steps: at least so many, and so many per edge and node. Most systems take fewer than
  /// 10 per edge and node, hard ones 50 (what_takes_too_many_steps_ends).
  static constexpr std::uint64_t least_steps = std::uint64_t{1} << 24, steps_each = 256;
  /// Nodes visited per search for cycles over all sweeps, as a multiple of all. Chosen, not
  /// measured.
  static constexpr std::uint64_t walks = 64;
};

/// distance * rate in parts of a tick, rounded up.
std::int64_t parts(std::int64_t distance, std::int64_t rate_ppb) {
  return static_cast<std::int64_t>(
      ceil_div(static_cast<Int128>(distance) * rate_ppb * PathBounds::parts_of_tick, k_ppb));
}

std::int64_t magnitude(std::int64_t a, std::int64_t b) {
  const Int128 distance = static_cast<Int128>(a) - b;
  return static_cast<std::int64_t>(
      std::min<Int128>(distance < 0 ? -distance : distance, std::int64_t{1} << 61));
}

/// Distances by which the two ends of a constraint are moved; 0 for the reference, which has no
/// error.
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
    return constraint.from != constraint.to && constraint.slack <= PathBounds::most_slack &&
           constraint.slack >= -PathBounds::most_slack && from <= PathBounds::most_distance &&
           to <= PathBounds::most_distance;
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
  const std::size_t size = edges_.size() + std::size_t{grid_.windows} * grid_.clocks;
  most_steps_ = std::max(PathBounds::least_steps, PathBounds::steps_each * size);
}

/// Bellman-Ford, window by window, forward and back, along the edges or (`reversed`) against them.
class DifferenceConstraints::Paths {
 public:
  Paths(const DifferenceConstraints& graph, const RateLimits& limits, bool reversed)
      : graph_(graph),
        g_(graph.grid_),
        limits_(limits),
        reversed_(reversed),
        worklist_(begins(), std::size_t{g_.windows} * g_.clocks + 1),
        fallen_{Fallen(g_.windows), Fallen(g_.windows)} {
    for (std::uint32_t c = 0; c < g_.clocks; ++c) steps_.push_back(parts(g_.width, limits.of(c)));
    label_.resize(std::size_t{g_.windows} * g_.clocks + 1);
    parent_.resize(label_.size());
    is_listed_.resize(label_.size(), {false, false});
    seen_.resize(label_.size(), 0);
    stale_.resize(g_.windows, true);
    reference_falls_.resize(g_.windows, 0);
    costs_.reserve(graph_.edges_.size());
    for (const Edge& edge : graph_.edges_) {
      costs_.push_back(edge.slack * PathBounds::parts_of_tick +
                       parts(edge.from_distance, limits.of(edge.from)) +
                       parts(edge.to_distance, limits.of(edge.to)));
    }
  }

  /// Starts at all nodes at once. Returns the nodes of a negative cycle, or none.
  std::vector<std::size_t> cycle() {
    std::fill(label_.begin(), label_.end(), 0);
    worklist_.mark_all();
    return settle();
  }
  /// Distances from the reference, ticks, rounded up. Unreached nodes keep
  /// ErrorIntervals::k_unbounded.
  std::vector<std::int64_t> distances() {
    std::fill(label_.begin(), label_.end(), ErrorIntervals::k_unbounded);
    label_[k_reference] = 0;
    settle();
    std::vector<std::int64_t> result(label_.begin() + 1, label_.end());
    for (std::int64_t& distance : result) {
      if (distance == ErrorIntervals::k_unbounded) continue;
      distance = static_cast<std::int64_t>(ceil_div(distance, PathBounds::parts_of_tick));
    }
    for (std::uint32_t w = 0; w < g_.windows; ++w) {
      result[std::size_t{w} * g_.clocks + g_.reference] = 0;
    }
    return result;
  }

  [[nodiscard]] Contradiction describe(const std::vector<std::size_t>& cycle) const {
    Contradiction found;
    // `fixed`: part of its cost that does not depend on the wander, in billionths of ticks.
    Int128 fixed = 0, distance = 0;
    const auto move = [&](std::int64_t ticks, std::uint32_t clock) {
      distance += ticks;
      fixed += static_cast<Int128>(ticks) * (limits_.of(clock) - limits_.wander_ppb);
    };
    std::uint32_t first = g_.windows, last = 0;
    for (const std::size_t node : cycle) {
      const Parent& parent = parent_[node];
      if (parent.edge == k_next_window) {
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
  static constexpr std::uint32_t k_reference = 0;
  static constexpr std::uint32_t k_next_window =
      k_none - 1;  ///< a step to the next or previous window
  struct Parent {
    std::size_t node = 0;
    std::uint32_t edge = k_none;  ///< k_none: never reached
  };

  /// Direction of a step between windows.
  enum Direction : std::uint8_t { later, earlier };
  /// Clocks per window whose labels fell since they were carried in that direction.
  using Fallen = std::vector<std::vector<std::uint32_t>>;

  [[nodiscard]] std::uint32_t node(std::uint32_t clock, std::uint32_t window) const {
    return clock == g_.reference ? k_reference : 1 + window * g_.clocks + clock;
  }
  [[nodiscard]] std::uint32_t clock_of(std::size_t node) const {
    return node == k_reference ? g_.reference : static_cast<std::uint32_t>((node - 1) % g_.clocks);
  }
  [[nodiscard]] std::uint32_t begin_of(const Edge& edge) const {
    return reversed_ ? edge.to : edge.from;
  }
  [[nodiscard]] std::uint32_t end_of(const Edge& edge) const {
    return reversed_ ? edge.from : edge.to;
  }

  /// Node where each edge begins.
  [[nodiscard]] std::vector<std::uint32_t> begins() const {
    std::vector<std::uint32_t> nodes;
    nodes.reserve(graph_.edges_.size());
    for (std::uint32_t w = 0; w < g_.windows; ++w) {
      for (std::uint32_t e = graph_.first_edge_[w]; e < graph_.first_edge_[w + 1]; ++e) {
        nodes.push_back(node(begin_of(graph_.edges_[e]), w));
      }
    }
    return nodes;
  }
  [[nodiscard]] constraints::EdgeRange edges_of(std::uint32_t w) const {
    return {graph_.first_edge_[w], graph_.first_edge_[w + 1]};
  }

  /// True if the label of `to` fell.
  bool relax(std::uint32_t from, std::uint32_t to, std::int64_t cost, std::uint32_t edge) {
    if (cost > PathBounds::most_slack * PathBounds::parts_of_tick) return false;
    if (label_[from] == ErrorIntervals::k_unbounded || label_[from] < PathBounds::least_label)
      return false;
    const std::int64_t label = label_[from] + cost;
    if (label >= label_[to]) return false;
    label_[to] = label;
    parent_[to] = {from, edge};
    if (moved_.size() <= label_.size()) moved_.push_back(to);
    return true;
  }

  /// Marks a label to be carried to both neighbours of its window.
  void list(std::uint32_t clock, std::uint32_t w) {
    for (const Direction way : {later, earlier}) {
      bool& is_listed = is_listed_[node(clock, w)][way];
      if (!is_listed) fallen_[way][w].push_back(clock);
      is_listed = true;
    }
  }

  /// Relaxes the edges inside a window until no label falls; false if that does not end.
  bool settle_window(std::uint32_t w) {
    const auto step = [&](std::uint32_t e) {
      const Edge& edge = graph_.edges_[e];
      const std::uint32_t clock = end_of(edge), to = node(clock, w);
      if (!relax(node(begin_of(edge), w), to, costs_[e], e)) return k_none;
      to == k_reference ? static_cast<void>(++falls_of_reference_) : list(clock, w);
      return to;
    };
    for (std::uint32_t round = 0; round <= g_.clocks + 1 && !graph_.is_exhausted(); ++round) {
      const std::uint64_t before = worklist_.steps();
      const bool fell = worklist_.round(step, edges_of(w));
      graph_.steps_ += 1 + worklist_.steps() - before;
      if (!fell) return true;
    }
    return false;
  }

  void carry(std::uint32_t from, std::uint32_t to) {
    const Direction way = from < to ? later : earlier;
    for (const std::uint32_t c : fallen_[way][from]) {
      is_listed_[node(c, from)][way] = false;
      if (!relax(node(c, from), node(c, to), steps_[c], k_next_window)) continue;
      stale_[to] = true;
      worklist_.moved(node(c, to), edges_of(to));
      list(c, to);
    }
    graph_.steps_ += fallen_[way][from].size();
    fallen_[way][from].clear();
  }

  /// Relaxes a window where a label fell. False if that does not end.
  bool visit(std::uint32_t w) {
    stale_[w] = false;
    if (reference_falls_[w] != falls_of_reference_) {
      worklist_.moved(k_reference, edges_of(w));
    }
    const bool ended = settle_window(w);
    reference_falls_[w] = falls_of_reference_;
    return ended;
  }

  std::vector<std::size_t> settle() {
    while (true) {
      bool ended = true, moved = false;
      const auto visit_stale = [&](std::uint32_t w) {
        if (!stale_[w] && reference_falls_[w] == falls_of_reference_) return;
        moved = true;
        ended = visit(w) && ended;
      };
      for (std::uint32_t w = 0; w < g_.windows; ++w) {
        if (w > 0) carry(w - 1, w);
        visit_stale(w);
      }
      for (std::uint32_t w = g_.windows - 1; w-- > 0;) {
        carry(w + 1, w);
        visit_stale(w);
      }
      if (!moved || graph_.is_exhausted()) return {};
      // Parents close a cycle only if the sum around it is below 0.
      if (auto cycle = new_cycle(); !cycle.empty()) return cycle;
      if (!ended) std::fill(stale_.begin(), stale_.end(), true);
    }
  }

  /// Returns a cycle of parents that recent moves closed. Looks less often where looking costs much
  /// compared to the moves.
  std::vector<std::size_t> new_cycle() {
    const bool is_cheap = walked_ <= PathBounds::walks * label_.size();
    if (!is_cheap && graph_.steps_ - looked_at_ < label_.size()) return {};
    looked_at_ = graph_.steps_;
    const bool all = !is_cheap || moved_.size() > label_.size();
    const bool found = all || moved_close_a_cycle();
    moved_.clear();
    return found ? cycle_of_parents() : std::vector<std::size_t>();
  }
  bool moved_close_a_cycle() {
    const std::uint64_t before = walks_;
    for (const std::size_t start : moved_) {
      ++walks_;
      std::size_t at = start;
      for (; seen_[at] <= before && parent_[at].edge != k_none; at = parent_[at].node) {
        seen_[at] = walks_;
        ++walked_;
      }
      if (parent_[at].edge != k_none && seen_[at] == walks_) return true;
    }
    return false;
  }

  [[nodiscard]] std::vector<std::size_t> cycle_of_parents() const {
    std::vector<std::uint32_t> seen(label_.size(), k_none);
    for (std::size_t start = 0; start < label_.size(); ++start) {
      std::size_t at = start;
      while (seen[at] == k_none && parent_[at].edge != k_none) {
        seen[at] = static_cast<std::uint32_t>(start);
        at = parent_[at].node;
      }
      if (parent_[at].edge == k_none || seen[at] != start) continue;
      std::vector<std::size_t> cycle;
      for (std::size_t n = at; cycle.empty() || n != at; n = parent_[n].node) cycle.push_back(n);
      return cycle;
    }
    return {};
  }

  const DifferenceConstraints& graph_;
  const ConstraintGrid& g_;
  const RateLimits& limits_;
  bool reversed_;
  std::vector<std::int64_t> steps_;  ///< cost from window to window, parts of a tick; one per clock
  std::vector<std::int64_t> label_;
  std::vector<Parent> parent_;
  std::vector<std::int64_t> costs_;  ///< cost, parts of a tick; one per edge
  constraints::EdgeWorklist worklist_;
  std::array<Fallen, 2> fallen_;                ///< indexed by Direction
  std::vector<std::array<bool, 2>> is_listed_;  ///< member of `fallen_`, one per node
  std::vector<char> stale_;  ///< a label fell since the window was relaxed; one per window
  std::uint64_t falls_of_reference_ = 1;
  std::vector<std::uint64_t> reference_falls_;  ///< value at the last visit; one per window
  std::vector<std::size_t> moved_;              ///< nodes with new parents; if too many: all
  std::vector<std::uint64_t> seen_;             ///< last walk that visited it; one per node
  std::uint64_t walks_ = 0, walked_ = 0;        ///< walks along parents, and nodes visited
  std::uint64_t looked_at_ = 0;                 ///< steps at the last search for a cycle
};

std::optional<Contradiction> DifferenceConstraints::contradiction(const RateLimits& limits) const {
  Paths paths(*this, limits, false);
  const std::vector<std::size_t> cycle = paths.cycle();
  if (cycle.empty()) return std::nullopt;
  return paths.describe(cycle);
}

DifferenceConstraints::LeastRate DifferenceConstraints::least_rate() const {
  LeastRate least;
  while (auto found = contradiction({least.rate_ppb, {}})) {
    if (!found->needed_ppb) return {least.rate_ppb, std::move(found)};
    // A little more than this cycle needs: similar cycles need slightly more.
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

}  // namespace entrain::bounds
