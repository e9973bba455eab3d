// SPDX-License-Identifier: BSD-3-Clause
#include "causal/rate_limits.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "base/exact.hpp"

namespace entrain::causal {

namespace {

/// Largest number of times that limits are narrowed.
constexpr int k_rounds = 8;
/// A life is cut into so many parts; in each, the window with the narrowest interval counts.
constexpr std::uint32_t k_parts = 16;

/// How large the mean rates of errors may be by their intervals.
class OpenRates {
 public:
  OpenRates(const ConstraintGrid& grid, const ErrorIntervals& intervals, const RateLimits& limits)
      : grid_(grid), intervals_(intervals), limits_(limits) {}

  /// Largest mean rate of a clock over its life, ppb.
  [[nodiscard]] std::int64_t of(std::uint32_t clock, const Lifetime& life) const {
    const std::uint32_t begin = grid_.window_of(life.first), end = grid_.window_of(life.last);
    // Both events are up to half a window from a middle.
    const std::int64_t whole = between(clock, begin, end, life.last - life.first,
                                       spread(grid_.width, limits_.of(clock)) + 2);
    return std::min(whole, inside(clock, begin, end));
  }

 private:
  /// Largest mean rate from the middle of one window to the middle of another, `length` ticks
  /// apart, if the error may change by `more` ticks besides.
  [[nodiscard]] std::int64_t between(std::uint32_t clock, std::uint32_t from, std::uint32_t to,
                                     std::int64_t length, std::int64_t more) const {
    const auto a = intervals_.of(clock, from), b = intervals_.of(clock, to);
    if (!a.bounded() || !b.bounded() || length <= 0) return k_most_rate_ppb;
    const Int128 change =
        Int128{std::max(std::abs(b.upper - a.lower), std::abs(b.lower - a.upper))} + more;
    return static_cast<std::int64_t>(
        std::min<Int128>(ceil_div(change * k_ppb, length), k_most_rate_ppb));
  }

  /// Largest mean rate over the life by the mean rates between the windows with the narrowest
  /// intervals: the two differ by the wander at most.
  [[nodiscard]] std::int64_t inside(std::uint32_t clock, std::uint32_t begin,
                                    std::uint32_t end) const {
    std::vector<std::uint32_t> best;
    for (std::uint32_t part = 0; part < k_parts; ++part) {
      const auto border = [&](std::uint32_t p) {
        return begin + static_cast<std::uint32_t>(std::uint64_t{end - begin + 1} * p / k_parts);
      };
      const auto width = [&](std::uint32_t w) {
        const auto interval = intervals_.of(clock, w);
        return interval.bounded() ? interval.upper - interval.lower : ErrorIntervals::k_unbounded;
      };
      std::optional<std::uint32_t> narrowest;
      for (std::uint32_t w = border(part); w < border(part + 1); ++w) {
        if (!narrowest || width(w) < width(*narrowest)) narrowest = w;
      }
      if (narrowest) best.push_back(*narrowest);
    }
    std::int64_t least = k_most_rate_ppb;
    for (const std::uint32_t from : best) {
      for (const std::uint32_t to : best) {
        if (from >= to) continue;
        least = std::min(least, between(clock, from, to, std::int64_t{to - from} * grid_.width, 0));
      }
    }
    return std::min(least + limits_.wander_ppb, k_most_rate_ppb);
  }

  const ConstraintGrid& grid_;
  const ErrorIntervals& intervals_;
  const RateLimits& limits_;
};

}  // namespace

Narrowed narrow_limits(const DifferenceConstraints& constraints, std::span<const Lifetime> lives,
                       RateLimits start, bool may_contradict) {
  const ConstraintGrid& grid = constraints.grid();
  Narrowed result;
  result.limits = std::move(start);
  for (int round = 0; round < k_rounds; ++round) {
    if (may_contradict) {
      result.contradiction = constraints.contradiction(result.limits);
      if (result.contradiction) return result;
    }
    result.intervals = constraints.intervals(result.limits);
    if (round + 1 == k_rounds) break;
    std::vector<std::int64_t> extra = result.limits.extra_ppb;
    const OpenRates open(grid, result.intervals, result.limits);
    bool much = false;
    for (std::uint32_t c = 0; c < grid.clocks; ++c) {
      if (c == grid.reference || lives[c].first >= lives[c].last) continue;
      extra[c] = std::min(extra[c], open.of(c, lives[c]));
      const std::int64_t old = result.limits.extra_ppb[c];
      much = much || extra[c] < old - old / 16;
    }
    if (!much) break;
    result.limits.extra_ppb = std::move(extra);
  }
  return result;
}

}  // namespace entrain::causal
