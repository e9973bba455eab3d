// SPDX-License-Identifier: BSD-3-Clause
#include "difference/implied.hpp"

#include <algorithm>
#include <tuple>

namespace entrain::difference {

namespace {

/// Keeps the edges that the last one kept of the same clocks does not imply.
template <class Edges>
std::vector<Edge> passed(const Edges& edges, std::span<const ClockLimits> clocks) {
  std::vector<Edge> kept;
  for (const Edge& one : edges) {
    const bool is_implied = !kept.empty() && kept.back().cause.clock == one.cause.clock &&
                            kept.back().effect.clock == one.effect.clock &&
                            is_implied_by(one, kept.back(), clocks[one.cause.clock].rate,
                                          clocks[one.effect.clock].rate);
    if (!is_implied) kept.push_back(one);
  }
  return kept;
}

}  // namespace

std::vector<Edge> without_implied(std::span<const Edge> edges,
                                  std::span<const ClockLimits> clocks) {
  const auto key = [](const Edge& one) {
    return std::tie(one.cause.clock, one.effect.clock, one.effect.stamp, one.cause.stamp,
                    one.delay);
  };
  std::vector<Edge> sorted(edges.begin(), edges.end());
  std::ranges::sort(sorted, {}, key);
  // An edge implies others after it, and others before it.
  std::vector<Edge> kept = passed(sorted, clocks);
  std::ranges::reverse(kept);
  kept = passed(kept, clocks);
  std::ranges::reverse(kept);
  return kept;
}

}  // namespace entrain::difference
