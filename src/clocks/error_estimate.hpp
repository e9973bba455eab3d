// SPDX-License-Identifier: BSD-3-Clause
#pragma once

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
class ErrorEstimate {
 public:
  /// Nothing is known.
  ErrorEstimate() = default;
  /// `times`: of the sessions, two or more, increasing. `inside`: largest error between every two
  /// neighbours, wander included, ticks. `rate_before`, `rate_after`: uncertainty of the rate
  /// before the first and after the last session, ticks per tick. `wander`: ticks.
  ErrorEstimate(std::vector<std::uint64_t> times, std::vector<double> inside, double rate_before,
                double rate_after, double wander);

  [[nodiscard]] bool known() const { return !times_.empty(); }
  /// Largest error at `local`, ticks; empty if unknown.
  [[nodiscard]] std::optional<double> at(std::uint64_t local) const;
  /// Largest error between the first and the last session; empty if unknown.
  [[nodiscard]] std::optional<double> worst() const;

 private:
  std::vector<std::uint64_t> times_;
  std::vector<double> inside_;
  double rate_before_ = 0, rate_after_ = 0, wander_ = 0;
};

}  // namespace entrain::clocks
