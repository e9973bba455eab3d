// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace entrain::constraints {

/// Error function of each clock: linear between knots at equal distances. The first and the last
/// piece extend beyond the knots.
///
/// Example: one clock, begin 1000, spacing 100, values {0, 20, 10}. The error is 0 at time 1000,
/// 10 at 1050, 20 at 1100, 10 at 1200, and 0 at 1300 by the last piece.
class ClockErrors {
 public:
  ClockErrors() = default;
  /// `values` has `knots` numbers per clock, ticks; the first knot is at `begin`.
  ClockErrors(std::int64_t begin, double spacing, std::size_t knots, std::vector<double> values)
      : begin_(begin),
        spacing_(spacing),
        per_tick_(1 / spacing),
        knots_(knots),
        values_(std::move(values)) {}

  /// Error of a clock at a presynchronised time, ticks.
  [[nodiscard]] double operator()(std::uint32_t clock, std::int64_t time) const {
    const double x = static_cast<double>(time - begin_) * per_tick_;
    const auto last = static_cast<std::int64_t>(knots_) - 2;
    const std::int64_t piece = std::clamp<std::int64_t>(static_cast<std::int64_t>(x), 0, last);
    const double* const values = values_.data() + clock * knots_ + piece;
    return values[0] + (x - static_cast<double>(piece)) * (values[1] - values[0]);
  }
  /// The values of a clock at its knots, ticks.
  [[nodiscard]] std::span<const double> of(std::uint32_t clock) const {
    return {values_.data() + clock * knots_, knots_};
  }
  [[nodiscard]] std::size_t knots() const { return knots_; }
  /// Presynchronised time of a knot, ticks from the first one.
  [[nodiscard]] double distance(std::size_t knot) const {
    return static_cast<double>(knot) * spacing_;
  }
  [[nodiscard]] std::int64_t begin() const { return begin_; }
  /// Ticks between neighbouring knots.
  [[nodiscard]] double spacing() const { return spacing_; }
  /// The values of all clocks, one clock after the other.
  [[nodiscard]] std::span<const double> values() const { return values_; }

 private:
  std::int64_t begin_ = 0;
  double spacing_ = 1, per_tick_ = 1;
  std::size_t knots_ = 0;
  std::vector<double> values_;
};

}  // namespace entrain::constraints
