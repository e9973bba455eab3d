// SPDX-License-Identifier: BSD-3-Clause
#include "causal/rate_limits.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "base/exact.hpp"

namespace entrain::causal {

namespace {

/// Times that limits are narrowed by what follows from them, at most.
constexpr int k_rounds = 8;
/// Parts of a life in each of which the window that is known best tells of the rate.
constexpr std::uint32_t k_parts = 16;

/// What intervals leave open of the mean rates of errors.
class OpenRates {
 public:
  OpenRates(const GuaranteeProblem& grid, const ErrorIntervals& intervals, const RateLimits& limits)
      : grid_(grid), intervals_(intervals), limits_(limits) {}

  /// Of a clock over its life, ppb.
  [[nodiscard]] std::int64_t of(std::uint32_t clock, const Lifetime& life) const {
    const std::uint32_t begin = grid_.window_of(life.first), end = grid_.window_of(life.last);
    // Both events are up to half a window from a middle.
    const std::int64_t whole = between(clock, begin, end, life.last - life.first,
                                       spread(grid_.width, limits_.of(clock)) + 2);
    return std::min(whole, inside(clock, begin, end));
  }

 private:
  /// From the middle of a window to that of another one, if these are `length` apart and the error
  /// may have changed by `more` than between them.
  [[nodiscard]] std::int64_t between(std::uint32_t clock, std::uint32_t from, std::uint32_t to,
                                     std::int64_t length, std::int64_t more) const {
    const auto a = intervals_.of(clock, from), b = intervals_.of(clock, to);
    if (!a.bounded() || !b.bounded() || length <= 0) return k_most_rate_ppb;
    const Int128 change =
        Int128{std::max(std::abs(b.upper - a.lower), std::abs(b.lower - a.upper))} + more;
    return static_cast<std::int64_t>(
        std::min<Int128>(ceil_div(change * k_ppb, length), k_most_rate_ppb));
  }

  /// Between the windows in which it is known best; what is a mean there is within a wander of that
  /// of the life.
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

  const GuaranteeProblem& grid_;
  const ErrorIntervals& intervals_;
  const RateLimits& limits_;
};

}  // namespace

Narrowed narrow_limits(const Guarantee& guarantee, std::span<const Lifetime> lives,
                       RateLimits start, bool doubtful) {
  const GuaranteeProblem& grid = guarantee.grid();
  Narrowed result;
  result.limits = std::move(start);
  for (int round = 0; round < k_rounds; ++round) {
    if (doubtful) {
      result.contradiction = guarantee.contradiction(result.limits);
      if (result.contradiction) return result;
    }
    result.intervals = guarantee.intervals(result.limits);
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
