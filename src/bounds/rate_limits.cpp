// SPDX-License-Identifier: BSD-3-Clause
#include "bounds/rate_limits.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "base/exact.hpp"

namespace entrain::bounds {

namespace {

/// Iteration of limits and intervals; rate_limits_test.cpp. Chosen, not measured.
struct NarrowingThresholds {
  static constexpr int rounds = 8;
  /// Parts of a life; the narrowest interval of each is used.
  static constexpr std::uint32_t parts = 16;
  /// Another round needs a limit that fell by more than 1 in so many.
  static constexpr std::int64_t worthwhile = 16;
};

/// Bounds on mean rates of errors that their intervals imply.
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
  /// Largest mean rate between the middles of two windows, `length` ticks apart, if the error may
  /// change by `more` ticks in addition.
  [[nodiscard]] std::int64_t between(std::uint32_t clock, std::uint32_t from, std::uint32_t to,
                                     std::int64_t length, std::int64_t more) const {
    const auto a = intervals_.of(clock, from), b = intervals_.of(clock, to);
    if (!a.bounded() || !b.bounded() || length <= 0) return k_most_rate_ppb;
    const Int128 change =
        Int128{std::max(std::abs(b.upper - a.lower), std::abs(b.lower - a.upper))} + more;
    return static_cast<std::int64_t>(
        std::min<Int128>(ceil_div(change * k_ppb, length), k_most_rate_ppb));
  }

  /// Largest mean rate over the life, from the narrowest intervals: it differs from the rate
  /// between two windows by the wander at most.
  [[nodiscard]] std::int64_t inside(std::uint32_t clock, std::uint32_t begin,
                                    std::uint32_t end) const {
    std::vector<std::uint32_t> best;
    for (std::uint32_t part = 0; part < NarrowingThresholds::parts; ++part) {
      const auto border = [&](std::uint32_t p) {
        return begin + static_cast<std::uint32_t>(std::uint64_t{end - begin + 1} * p /
                                                  NarrowingThresholds::parts);
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
  for (int round = 0; round < NarrowingThresholds::rounds; ++round) {
    if (may_contradict) {
      result.contradiction = constraints.contradiction(result.limits);
      if (result.contradiction) return result;
    }
    result.intervals = constraints.intervals(result.limits);
    if (round + 1 == NarrowingThresholds::rounds) break;
    std::vector<std::int64_t> extra = result.limits.extra_ppb;
    const OpenRates open(grid, result.intervals, result.limits);
    bool much = false;
    for (std::uint32_t c = 0; c < grid.clocks; ++c) {
      if (c == grid.reference || lives[c].first >= lives[c].last) continue;
      extra[c] = std::min(extra[c], open.of(c, lives[c]));
      const std::int64_t old = result.limits.extra_ppb[c];
      much = much || extra[c] < old - old / NarrowingThresholds::worthwhile;
    }
    if (!much) break;
    result.limits.extra_ppb = std::move(extra);
  }
  return result;
}

}  // namespace entrain::bounds
