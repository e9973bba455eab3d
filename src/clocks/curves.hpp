// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <entrain/clock_map.hpp>

#include "clocks/sessions.hpp"

namespace entrain::clocks {

/// A point with a weight, for least squares.
struct WeightedPoint {
  std::uint64_t local = 0;
  std::int64_t offset = 0;
  double weight = 1;  ///< > 0
};

/// A straight line by weighted least squares: offset over local time. Integers hold the times,
/// doubles the differences to the first point.
class Line {
 public:
  /// Two points or more, of at least two different times.
  explicit Line(std::span<const WeightedPoint> points);

  /// Slope of the offset, ticks per tick.
  [[nodiscard]] double slope() const { return slope_; }
  /// Distance of a point from the line, ticks.
  [[nodiscard]] double residual(const WeightedPoint& point) const {
    return static_cast<double>(point.offset - reference_offset_) - after_reference(point.local);
  }
  /// Distance of a point from the line through all other points; `point` must be one of the line's.
  [[nodiscard]] double residual_left_out(const WeightedPoint& point) const {
    const double x = difference(point.local, reference_local_) - mean_time_;
    const double leverage = point.weight * (1 / weights_ + x * x / spread_);
    // A point that alone holds the line: without it nothing is known of its place.
    constexpr double k_least_freedom = 1e-6;
    return residual(point) / std::max(k_least_freedom, 1 - leverage);
  }
  /// Two knots, at `first` and `last`.
  [[nodiscard]] std::vector<ClockKnot> knots(std::uint64_t first, std::uint64_t last) const;

 private:
  /// Offset at `local`, in ticks after that of the first point.
  [[nodiscard]] double after_reference(std::uint64_t local) const {
    return mean_offset_ + slope_ * (difference(local, reference_local_) - mean_time_);
  }

  std::uint64_t reference_local_;
  std::int64_t reference_offset_;
  double slope_ = 0, mean_time_ = 0, mean_offset_ = 0, weights_ = 0, spread_ = 0;
};

/// A curve through all points, cubic in between, with a continuous first derivative and never
/// decreasing in global time.
///
/// The derivative at a point is that of the parabola through it and its two neighbours (at the
/// ends: the nearest two), limited to [0, 3 * the smaller slope beside it], which keeps cubics
/// monotone (Fritsch and Carlson 1980). All arithmetic is on the offsets, which are small, not on
/// the times. Outside of the points the curve goes on straight.
class Spline {
 public:
  /// Two points or more, in strictly increasing order of time. Global time must not decrease.
  explicit Spline(std::span<const SessionPoint> points);

  /// Offset at `local` between the points `segment` and `segment + 1`, in ticks after that of the
  /// former.
  [[nodiscard]] double after(std::size_t segment, std::uint64_t local) const {
    const Cubic& c = cubics_[segment];
    const double x = difference(local, points_[segment].local);
    return x * (c.first + x * (c.second + x * c.third));
  }
  /// Knots of a map whose straight pieces are within `tolerance` ticks (> 0) of the curve, if
  /// `k_knots_per_segment` suffice. The outermost knots lie outside of the points and give the
  /// direction there.
  [[nodiscard]] std::vector<ClockKnot> knots(double tolerance) const;
  /// Largest distance of these pieces from the curve, ticks.
  [[nodiscard]] double chord_error(double tolerance) const;

  static constexpr std::uint64_t k_knots_per_segment = 1024;

 private:
  struct Cubic {
    double length, first, second, third;  ///< x * (first + x * (second + x * third))
  };
  void add_knots(std::size_t segment, double tolerance, std::vector<ClockKnot>& knots) const;
  [[nodiscard]] std::uint64_t pieces(std::size_t segment, double tolerance) const;

  std::vector<SessionPoint> points_;
  std::vector<double> rates_;  ///< derivative of the offset at each point
  std::vector<Cubic> cubics_;
};

/// Distance of point `k` from the straight line between its neighbours, or from the spline through
/// the points around it: how well the other points predict it. 0 < k < size - 1. Ticks.
[[nodiscard]] double left_out_of_line(std::span<const SessionPoint> points, std::size_t k);
[[nodiscard]] double left_out_of_spline(std::span<const SessionPoint> points, std::size_t k);

}  // namespace entrain::clocks
