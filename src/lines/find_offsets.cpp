// SPDX-License-Identifier: BSD-3-Clause
#include "lines/find_offsets.hpp"

#include <algorithm>

#include "base/ids.hpp"
#include "constraints/edge_worklist.hpp"

namespace entrain::lines {
namespace {

/// Search for offsets; find_offsets_test.cpp.
struct OffsetThresholds {
  static constexpr std::int64_t farthest = std::int64_t{1} << 55;  ///< ticks; sums never overflow
  static constexpr std::uint64_t most_steps = std::uint64_t{1} << 27;  ///< slacks tried; about 1 s
};

/// Least offsets, all at least 0, that keep every slack; empty if there is a negative cycle.
/// `away`: with the opposite sign, if clocks are moved earlier.
std::optional<std::vector<std::int64_t>> least_moves(std::size_t clocks,
                                                     const TightestSlacks& tightest, bool away) {
  std::vector<std::uint32_t> begins, ends;
  std::vector<std::int64_t> slacks;
  for (const auto& [pair, slack] : tightest) {
    begins.push_back(away ? pair.second : pair.first);
    ends.push_back(away ? pair.first : pair.second);
    slacks.push_back(slack);
  }
  std::vector<std::int64_t> moved(clocks, 0);
  std::vector<std::uint32_t> parents(clocks, k_none);
  constraints::EdgeWorklist worklist(begins, clocks);
  worklist.mark_all();
  bool far = false;
  const auto step = [&](std::uint32_t e) {
    const std::int64_t least = moved[begins[e]] - slacks[e];
    if (far || moved[ends[e]] >= least) return k_none;
    far = least > OffsetThresholds::farthest;
    moved[ends[e]] = least;
    parents[ends[e]] = begins[e];
    return ends[e];
  };
  std::uint64_t next_look = clocks;
  while (worklist.round(step)) {
    if (far || worklist.steps() > OffsetThresholds::most_steps) return std::nullopt;
    if (worklist.steps() < next_look) continue;
    if (constraints::any_cycle(parents)) return std::nullopt;
    next_look = worklist.steps() + clocks;
  }
  return moved;
}

}  // namespace

void keep_tightest(TightestSlacks& tightest,
                   std::span<const constraints::ClockConstraint> constraints,
                   std::span<const std::int64_t> moved) {
  for (const constraints::ClockConstraint& one : constraints) {
    const std::int64_t held =
        std::clamp(one.slack, -OffsetThresholds::farthest, OffsetThresholds::farthest);
    const std::int64_t slack = held - moved[one.to] + moved[one.from];
    const auto [found, is_new] = tightest.try_emplace({one.from, one.to}, slack);
    if (!is_new) found->second = std::min(found->second, slack);
  }
}

std::optional<std::vector<std::int64_t>> find_offsets(std::size_t clocks,
                                                      const TightestSlacks& tightest) {
  auto later = least_moves(clocks, tightest, false);
  if (!later) return std::nullopt;
  const auto earlier = least_moves(clocks, tightest, true);
  if (!earlier) return std::nullopt;
  // Rounding down keeps every slack that both keep.
  for (std::size_t c = 0; c < clocks; ++c) (*later)[c] = ((*later)[c] - (*earlier)[c]) >> 1;
  return later;
}

}  // namespace entrain::lines
