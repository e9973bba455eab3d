// SPDX-License-Identifier: BSD-3-Clause
#include "constraints/tightest_edges.hpp"

#include <utility>

#include "base/executor.hpp"
#include "base/free_memory.hpp"

namespace entrain::constraints {

namespace {

/// Most groups of receiving clocks that threads share.
constexpr std::size_t k_groups = 64;

bool is_earlier(const LimitingEdge& edge, const LimitingEdge& other) {
  const ClockConstraint &a = edge.constraint, &b = other.constraint;
  return std::tie(a.to_time, a.from, a.from_time) < std::tie(b.to_time, b.from, b.from_time);
}

}  // namespace

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

/// Earliest edge of a pair; k_no_edge if there is none.
std::uint32_t TightestEdges::first_of(const ClockConstraint& pair) const {
  std::uint32_t at = latest_.find(pair);
  while (at != k_no_edge && known_[at].earlier != k_no_edge) at = known_[at].earlier;
  return at;
}

/// Drops the looser edge of each window that both a pair of this part, whose edges begin with
/// `first`, and the same pair of another part have.
void TightestEdges::drop_looser(std::uint32_t first, TightestEdges& other) {
  std::uint32_t theirs = other.first_of(known_[first].edge.constraint);
  for (std::uint32_t own = first; own != k_no_edge && theirs != k_no_edge;) {
    Known &a = known_[own], &b = other.known_[theirs];
    const std::uint64_t window_a = windows_.of(a.edge.constraint.to_time);
    const std::uint64_t window_b = windows_.of(b.edge.constraint.to_time);
    if (window_a == window_b && !a.is_dropped() && !b.is_dropped())
      (a.edge.before(b.edge) ? b : a).drop();
    if (window_a <= window_b) own = a.later;
    if (window_b <= window_a) theirs = b.later;
  }
}

/// Leaves one edge per pair and window over all parts.
void TightestEdges::drop_duplicates(std::span<TightestEdges> parts, std::size_t groups,
                                    unsigned threads) {
  const std::size_t workers = std::min<std::size_t>(worker_count(threads), groups);
  for (std::size_t p = 1; p < parts.size(); ++p) {
    for_each_in_parallel(threads, workers, [&](std::size_t worker) {
      for (std::uint32_t i = 0; i < parts[p].known_.size(); ++i) {
        const Known& known = parts[p].known_[i];
        if (known.earlier != k_no_edge || known.edge.constraint.to % workers != worker) continue;
        for (std::size_t q = 0; q < p; ++q) parts[p].drop_looser(i, parts[q]);
      }
    });
  }
}

std::vector<std::size_t> TightestEdges::received_by(std::uint32_t clocks) const {
  std::vector<std::size_t> counts(clocks, 0);
  for (const Known& known : known_) {
    if (!known.is_dropped()) ++counts[known.edge.constraint.to];
  }
  return counts;
}

std::vector<LimitingEdge> TightestEdges::merge(std::vector<TightestEdges> parts,
                                               std::uint32_t clocks, unsigned threads) {
  const std::size_t groups = std::min<std::size_t>(clocks, k_groups);
  drop_duplicates(parts, groups, threads);
  // By receiving clock, then by part.
  std::vector<std::vector<std::size_t>> next(parts.size());
  for_each_in_parallel(threads, parts.size(),
                       [&](std::size_t p) { next[p] = parts[p].received_by(clocks); });
  std::vector<std::size_t> first(clocks + std::size_t{1}, 0);
  std::size_t count = 0;
  for (std::uint32_t to = 0; to < clocks; ++to) {
    first[to] = count;
    for (std::vector<std::size_t>& of_part : next)
      of_part[to] = std::exchange(count, count + of_part[to]);
  }
  first[clocks] = count;
  std::vector<LimitingEdge> edges(count);
  for_each_in_parallel(threads, parts.size(), [&](std::size_t p) {
    for (const Known& known : parts[p].known_) {
      if (!known.is_dropped()) edges[next[p][known.edge.constraint.to]++] = known.edge;
    }
    free_memory(parts[p].known_);
  });
  for_each_in_parallel(threads, groups, [&](std::size_t group) {
    for (std::size_t to = group; to < clocks; to += groups) {
      const auto begin = edges.begin() + static_cast<std::ptrdiff_t>(first[to]);
      const auto end = edges.begin() + static_cast<std::ptrdiff_t>(first[to + 1]);
      if (!std::is_sorted(begin, end, is_earlier)) std::sort(begin, end, is_earlier);
    }
  });
  return edges;
}

}  // namespace entrain::constraints
