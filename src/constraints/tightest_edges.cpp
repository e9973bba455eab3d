// SPDX-License-Identifier: BSD-3-Clause
#include "constraints/tightest_edges.hpp"

#include "base/executor.hpp"
#include "base/free_memory.hpp"

namespace entrain::constraints {

/// Moves from an edge of a pair (k_no_edge: none) to the latest one not after the selected window,
/// or to the earliest of all.
std::uint32_t TightestEdges::move_along(std::uint32_t at) const {
  if (at == k_no_edge) return at;
  while (time_of(at) >= end_ && known_[at].earlier != k_no_edge) at = known_[at].earlier;
  for (std::uint32_t next = known_[at].later; next != k_no_edge && time_of(next) < end_;
       next = known_[at].later) {
    at = next;
  }
  return at;
}

/// Adds an edge of the selected window next to another one of the pair (k_no_edge: it is the
/// first), in order of windows. Returns its number.
std::uint32_t TightestEdges::insert_next_to(std::uint32_t at, const LimitingEdge& edge) {
  const auto number = static_cast<std::uint32_t>(known_.size());
  Known added{.edge = edge};
  if (at != k_no_edge && time_of(at) < begin_) {
    added.earlier = at;
    added.later = known_[at].later;
  } else {
    added.later = at;
  }
  if (added.earlier != k_no_edge) known_[added.earlier].later = number;
  if (added.later != k_no_edge) known_[added.later].earlier = number;
  known_.push_back(added);
  return number;
}

/// All edges, by receiving clock and time.
std::vector<LimitingEdge> TightestEdges::sorted() const {
  std::vector<LimitingEdge> edges;
  edges.reserve(known_.size());
  for (const Known& known : known_) edges.push_back(known.edge);
  std::ranges::sort(edges, {}, [](const LimitingEdge& edge) {
    const ClockConstraint& one = edge.constraint;
    return std::tie(one.to, one.to_time, one.from, one.from_time);
  });
  return edges;
}

std::vector<LimitingEdge> TightestEdges::merge(std::vector<TightestEdges> parts,
                                               std::uint32_t clocks, unsigned threads) {
  if (parts.empty()) return {};
  if (parts.size() == 1) return parts.front().sorted();
  // Each thread merges what some of the clocks receive.
  const std::size_t groups = std::min<std::size_t>(worker_count(threads), clocks);
  std::vector<TightestEdges> merged(groups, TightestEdges(clocks, parts.front().windows_));
  for_each_in_parallel(threads, groups, [&](std::size_t group) {
    for (const TightestEdges& part : parts) {
      for (const Known& known : part.known_) {
        const bool is_own = known.edge.constraint.to * groups / clocks == group;
        if (is_own) merged[group].keep(known.edge);
      }
    }
  });
  free_memory(parts);
  std::vector<std::vector<LimitingEdge>> of_groups(groups);
  for_each_in_parallel(threads, groups, [&](std::size_t group) {
    of_groups[group] = merged[group].sorted();
    free_memory(merged[group].known_);
  });
  std::vector<LimitingEdge> edges;
  for (std::vector<LimitingEdge>& own : of_groups) {
    edges.insert(edges.end(), own.begin(), own.end());
    free_memory(own);
  }
  return edges;
}

}  // namespace entrain::constraints
