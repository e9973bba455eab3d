// SPDX-License-Identifier: BSD-3-Clause
#include "causal/find_offsets.hpp"

#include <algorithm>
#include <cstdlib>

namespace entrain::causal {
namespace {

constexpr std::int64_t k_farthest = std::int64_t{1} << 55;  ///< so that sums never overflow

/// Applies all slacks until nothing moves; false if a circle of clocks goes on for ever.
template <class Step>
bool settle(std::size_t clocks, const TightestSlacks& tightest, const Step& step) {
  for (std::size_t round = 0; round <= clocks; ++round) {
    bool changed = false;
    for (const auto& [pair, slack] : tightest) changed |= step(pair.first, pair.second, slack);
    if (!changed) return true;
  }
  return false;
}

}  // namespace

void keep_tightest(TightestSlacks& tightest, std::span<const ClockConstraint> constraints,
                   std::span<const std::int64_t> moved) {
  for (const ClockConstraint& one : constraints) {
    const std::int64_t held = std::clamp(one.slack, -k_farthest, k_farthest);
    const std::int64_t slack = held - moved[one.to] + moved[one.from];
    const auto [found, is_new] = tightest.try_emplace({one.from, one.to}, slack);
    if (!is_new) found->second = std::min(found->second, slack);
  }
}

std::optional<std::vector<std::int64_t>> find_offsets(std::size_t clocks,
                                                      const TightestSlacks& tightest) {
  std::vector<std::int64_t> later(clocks, 0), earlier(clocks, 0);
  bool far = false;
  const auto moves = [&](std::int64_t& offset, std::int64_t to) {
    far |= std::abs(to) > k_farthest;
    if (far) return false;
    offset = to;
    return true;
  };
  const bool good =
      settle(clocks, tightest,
             [&](std::uint32_t from, std::uint32_t to, std::int64_t slack) {
               const std::int64_t least = later[from] - slack;
               return later[to] < least && moves(later[to], least);
             }) &&
      settle(clocks, tightest, [&](std::uint32_t from, std::uint32_t to, std::int64_t slack) {
        const std::int64_t most = earlier[to] + slack;
        return earlier[from] > most && moves(earlier[from], most);
      });
  if (!good || far) return std::nullopt;
  // Rounding down keeps what both ends keep.
  for (std::size_t c = 0; c < clocks; ++c) later[c] = (later[c] + earlier[c]) >> 1;
  return later;
}

}  // namespace entrain::causal
