// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace entrain::clocks {

/// An estimate of the largest error of a presync map at any local time: unknown as a whole, or
/// known everywhere.
///
/// It is a prediction, not a proof. At sessions it is certain. Between them it adds the `wander`:
/// the largest distance of any session from the curve through the others, which spans a gap twice
/// as wide. The estimate fails if a clock wanders in the same way between all of its sessions.
/// Outside of the sessions it grows: linearly by the uncertainty of the rate, quadratically by the
/// wander.
///
/// Example: sessions at 1000 and 2000, error 5 between them, rates uncertain by 0.01, wander 1. The
/// error is 5 at 1500. It is 5 + 0.01 * 500 + 4 * 1 * 0.5 * 1.5 = 13 at 2500, and the same at 500.
struct ErrorEstimate {
  std::vector<std::uint64_t> times{};  ///< of the sessions, two or more, increasing; empty: unknown
  std::vector<double> inside{};        ///< largest error between every two neighbours, ticks
  double rate_before = 0, rate_after = 0;  ///< uncertainty of the rate outside, ticks per tick
  double wander = 0;                       ///< ticks

  [[nodiscard]] bool known() const { return !times.empty(); }

  /// Largest error at `local`, ticks; empty if unknown.
  [[nodiscard]] std::optional<double> at(std::uint64_t local) const {
    if (!known()) return std::nullopt;
    const std::size_t last = times.size() - 1;
    if (local < times[0]) {
      return inside.front() + growth(rate_before, times[1] - times[0], times[0] - local);
    }
    if (local > times[last]) {
      return inside.back() + growth(rate_after, times[last] - times[last - 1], local - times[last]);
    }
    const auto next = std::upper_bound(times.begin() + 1, times.end() - 1, local);
    return inside[static_cast<std::size_t>(next - times.begin()) - 1];
  }
  /// Largest error between the first and the last session; empty if unknown.
  [[nodiscard]] std::optional<double> worst() const {
    if (!known()) return std::nullopt;
    return *std::ranges::max_element(inside);
  }

 private:
  /// Growth of an error at `distance` from the outermost session. A parabola of height `wander`
  /// over the outermost gap, `length` wide, goes on as one.
  [[nodiscard]] double growth(double rate, std::uint64_t length, std::uint64_t distance) const {
    const double x = static_cast<double>(distance) / static_cast<double>(length);
    return rate * static_cast<double>(distance) + 4 * wander * x * (1 + x);
  }
};

}  // namespace entrain::clocks
