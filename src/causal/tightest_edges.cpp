// SPDX-License-Identifier: BSD-3-Clause
#include "causal/tightest_edges.hpp"

#include <algorithm>
#include <numeric>
#include <span>

#include "base/executor.hpp"

namespace entrain::causal {

namespace {

/// Groups of receiving clocks that are shared out among threads, at most.
constexpr std::size_t k_groups = 64;

bool is_earlier(const LimitingEdge& a, const LimitingEdge& b) {
  return std::tie(a.constraint.to_time, a.constraint.from, a.constraint.from_time) <
         std::tie(b.constraint.to_time, b.constraint.from, b.constraint.from_time);
}

/// Leaves the tightest edge per sending clock and window of what one clock received, in order of
/// time. `last`: per sending clock, 1 + the place of the last edge looked at, in a list in which
/// these edges begin at `first`; less than that is of another receiver.
std::size_t leave_tightest(std::span<LimitingEdge> edges, std::size_t first,
                           std::vector<std::size_t>& last) {
  constexpr std::uint32_t k_dropped = std::numeric_limits<std::uint32_t>::max();
  for (std::size_t i = 0; i < edges.size(); ++i) {
    std::size_t& before = last[edges[i].constraint.from];
    if (before > first) {
      LimitingEdge& known = edges[before - 1 - first];
      if (known.window == edges[i].window) {
        const bool is_tighter = edges[i].before(known);
        (is_tighter ? known : edges[i]).window = k_dropped;
        if (!is_tighter) continue;
      }
    }
    before = first + i + 1;
  }
  const auto end = std::remove_if(edges.begin(), edges.end(),
                                  [](const LimitingEdge& e) { return e.window == k_dropped; });
  return static_cast<std::size_t>(end - edges.begin());
}

}  // namespace

/// From an edge of a pair (k_nobody: there is none) to the latest one of a window not after this
/// one, or to the earliest one of all.
std::uint32_t TightestEdges::move_along(std::uint32_t at, std::uint32_t window) const {
  if (at == k_nobody) return at;
  while (known_[at].edge.window > window && known_[at].earlier != k_nobody) at = known_[at].earlier;
  for (std::uint32_t next = known_[at].later;
       next != k_nobody && known_[next].edge.window <= window; next = known_[at].later) {
    at = next;
  }
  return at;
}

/// Adds an edge next to another one of the pair (k_nobody: it is the first), in order of windows.
/// Returns its number.
std::uint32_t TightestEdges::insert_beside(std::uint32_t at, const LimitingEdge& edge) {
  const auto number = static_cast<std::uint32_t>(known_.size());
  Known added{.edge = edge};
  if (at != k_nobody && known_[at].edge.window < edge.window) {
    added.earlier = at;
    added.later = known_[at].later;
  } else {
    added.later = at;
  }
  if (added.earlier != k_nobody) known_[added.earlier].later = number;
  if (added.later != k_nobody) known_[added.later].earlier = number;
  known_.push_back(added);
  return number;
}

std::vector<ClockConstraint> TightestEdges::merge(std::vector<TightestEdges> parts,
                                                  std::uint32_t clocks, unsigned threads) {
  // By receiving clock; of each, part by part.
  std::vector<std::vector<std::size_t>> next(parts.size(), std::vector<std::size_t>(clocks));
  for_each_in_parallel(threads, parts.size(), [&](std::size_t p) {
    for (const Known& known : parts[p].known_) ++next[p][known.edge.constraint.to];
  });
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
    for (const Known& known : parts[p].known_)
      edges[next[p][known.edge.constraint.to]++] = known.edge;
    parts[p] = TightestEdges(0);
  });
  // What a clock received, in order of time.
  std::vector<std::size_t> left(clocks + std::size_t{1}, 0);
  const std::size_t groups = std::min<std::size_t>(clocks, k_groups);
  const auto of_clock = [&](std::size_t to) {
    return std::span(edges).subspan(first[to], first[to + 1] - first[to]);
  };
  for_each_in_parallel(threads, groups, [&](std::size_t group) {
    std::vector<std::size_t> last(parts.size() > 1 ? clocks : 0, 0);
    for (std::size_t to = group; to < clocks; to += groups) {
      const std::span<LimitingEdge> received = of_clock(to);
      if (!std::is_sorted(received.begin(), received.end(), is_earlier))
        std::sort(received.begin(), received.end(), is_earlier);
      left[to + 1] = parts.size() > 1 ? leave_tightest(received, first[to], last) : received.size();
    }
  });
  std::partial_sum(left.begin(), left.end(), left.begin());
  std::vector<ClockConstraint> constraints(left.back());
  for_each_in_parallel(threads, groups, [&](std::size_t group) {
    for (std::size_t to = group; to < clocks; to += groups) {
      for (std::size_t i = left[to]; i < left[to + 1]; ++i)
        constraints[i] = edges[first[to] + i - left[to]].constraint;
    }
  });
  return constraints;
}

}  // namespace entrain::causal
