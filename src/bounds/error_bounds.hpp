// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "difference/solve.hpp"

namespace entrain::bounds {

/// Parts per billion: limits on clock rates are whole numbers of them.
inline constexpr std::int64_t k_ppb = k_billion;
/// Largest limit on rates that is considered: 10 %.
inline constexpr std::int64_t k_most_rate_ppb = k_ppb / 10;
/// Bounds beyond this say nothing, ticks: a clock that nothing ties has this one.
inline constexpr std::int64_t k_far = std::int64_t{1} << 46;

using difference::RateRange;

/// The rates of u (difference::System), which is the negative of an error.
[[nodiscard]] inline RateRange of_u(const RateRange& error) {
  return {-error.upper_ppb, -error.lower_ppb};
}

/// Limits on the rates of errors: by how much a rate leaves its mean, and where that lies.
struct RateLimits {
  std::int64_t wander_ppb = 0;
  std::vector<RateRange> mean;  ///< one per clock; empty: base lines have the mean rates

  [[nodiscard]] RateRange of(std::uint32_t clock) const {
    if (mean.empty()) return RateRange::within(wander_ppb);
    return {std::max(mean[clock].lower_ppb - wander_ppb, -k_most_rate_ppb),
            std::min(mean[clock].upper_ppb + wander_ppb, k_most_rate_ppb)};
  }
};

/// An interval of errors, ticks.
struct Interval {
  std::int64_t lower = -k_far, upper = k_far;
  [[nodiscard]] bool bounded() const { return lower > -k_far && upper < k_far; }
  [[nodiscard]] std::int64_t width() const { return upper - lower; }
};

/// Tightest bounds on the error of a clock at all times: shortest paths at some, and between these
/// what the limit on its rate leaves.
class ClockBound {
 public:
  struct Point {
    std::int64_t time = 0;  ///< ticks
    difference::Exact lower = -difference::k_unbounded, upper = difference::k_unbounded;
  };

  ClockBound() = default;
  /// `points`: in order of time, their differences within the limit on the rate of the error.
  ClockBound(RateRange rate, std::vector<Point> points) : rate_(rate), points_(std::move(points)) {}

  [[nodiscard]] const std::vector<Point>& points() const { return points_; }
  [[nodiscard]] const RateRange& rate() const { return rate_; }

  /// The bounds at a time; without points: none.
  [[nodiscard]] Point at(std::int64_t time) const;
  /// The same in whole ticks, rounded outward.
  [[nodiscard]] Interval interval(std::int64_t time) const;
  /// The interval of all errors from `first` to `last`.
  [[nodiscard]] Interval over(std::int64_t first, std::int64_t last) const;

 private:
  [[nodiscard]] std::size_t next(std::int64_t time) const;
  [[nodiscard]] Point between(std::size_t next, std::int64_t time) const;

  RateRange rate_{0, 0};
  std::vector<Point> points_;
};

/// Bounds per clock. The reference has an error of 0 at all times.
using ErrorBounds = std::vector<ClockBound>;

/// An error that a clock may have at all times: the least, the greatest, or, where both are equal
/// at the points, what lies straight between these.
enum class Course : std::uint8_t { least, greatest, straight };

/// Times of a clock without such an error, for increasing times. The error of a clock that nothing
/// ties is k_far.
class BoundCursor {
 public:
  /// Results are parts of 2^-bits ticks since `begin`.
  BoundCursor(const ClockBound& bound, Course course, std::int64_t begin, unsigned bits);
  /// `time`: since `begin`, ticks.
  [[nodiscard]] std::int64_t operator()(std::int64_t time);

 private:
  [[nodiscard]] std::int64_t parts(std::size_t point) const;
  [[nodiscard]] std::int64_t straight(std::int64_t local) const;

  const ClockBound& bound_;
  Course course_;
  std::int64_t begin_;
  unsigned bits_;
  double lower_rate_, upper_rate_;       ///< ends of the rate of the error, parts per tick
  std::size_t next_ = 0;                 ///< first point that is not before the last time
  std::int64_t before_ = 0, after_ = 0;  ///< parts() of the point before `next_`, and of `next_`
};

}  // namespace entrain::bounds
