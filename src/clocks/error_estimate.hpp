// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace entrain::clocks {

/// How wrong a presync map may be, at any local time. Unknown as a whole, or known everywhere.
///
/// A prediction, not a proof: at sessions it is certain, between them it adds the largest distance
/// of any session from what the others say there (the `wander`), which is taken over gaps twice as
/// wide as those that are left. It fails where a clock wanders between all of its sessions alike
/// and unseen. Outside of the sessions it grows: linearly by what the sessions leave open of the
/// rate, quadratically by the wander.
class ErrorEstimate {
 public:
  /// Nothing is known.
  ErrorEstimate() = default;
  /// `times`: of the sessions, two or more, increasing. `inside`: largest error between two of
  /// them, wander included, one less; ticks. `rate_before`, `rate_behind`: how wrong the rate may
  /// be at either end by what the sessions leave open, ticks per tick. `wander`: ticks.
  ErrorEstimate(std::vector<std::uint64_t> times, std::vector<double> inside, double rate_before,
                double rate_behind, double wander);

  [[nodiscard]] bool known() const { return !times_.empty(); }
  /// Largest error at `local`, ticks; empty if unknown.
  [[nodiscard]] std::optional<double> at(std::uint64_t local) const;
  /// Largest error between the first and the last session; empty if unknown.
  [[nodiscard]] std::optional<double> worst() const;

 private:
  std::vector<std::uint64_t> times_;
  std::vector<double> inside_;
  double rate_before_ = 0, rate_behind_ = 0, wander_ = 0;
};

}  // namespace entrain::clocks
