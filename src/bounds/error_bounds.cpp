// SPDX-License-Identifier: BSD-3-Clause
#include "bounds/error_bounds.hpp"

#include <cmath>
#include <tuple>

namespace entrain::bounds {

using difference::Exact;
using difference::k_tick;

namespace {

Interval rounded(const ClockBound::Point& point) {
  const Exact far = Exact{k_far} * k_tick;
  return {difference::floor_ticks(std::clamp(point.lower, -far, far)),
          difference::ceil_ticks(std::clamp(point.upper, -far, far))};
}

}  // namespace

/// The first point that is not before a time.
std::size_t ClockBound::next(std::int64_t time) const {
  const auto found = std::ranges::lower_bound(points_, time, {}, &Point::time);
  return static_cast<std::size_t>(found - points_.begin());
}

/// The bounds at a time not after the point `next` and not before the one ahead of it.
ClockBound::Point ClockBound::between(std::size_t next, std::int64_t time) const {
  Point result{.time = time};
  const auto take = [&](const Point& point) {
    const std::int64_t later = time - point.time;
    result.lower = std::max(result.lower, point.lower - rate_.most(-later));
    result.upper = std::min(result.upper, point.upper + rate_.most(later));
  };
  if (next < points_.size()) take(points_[next]);
  if (next > 0) take(points_[next - 1]);
  return result;
}

ClockBound::Point ClockBound::at(std::int64_t time) const { return between(next(time), time); }

Interval ClockBound::interval(std::int64_t time) const { return rounded(at(time)); }

Interval ClockBound::over(std::int64_t first, std::int64_t last) const {
  const std::size_t begin = next(first), end = next(last);
  Point widest = between(begin, first);
  const auto take = [&](const Point& point) {
    widest.lower = std::min(widest.lower, point.lower);
    widest.upper = std::max(widest.upper, point.upper);
  };
  take(between(end, last));
  for (std::size_t p = begin; p < end; ++p) take(points_[p]);
  // Between two points, bounds are the widest where those of both meet.
  const auto [slow, fast] = rate_;
  for (std::size_t p = std::max<std::size_t>(begin, 1); p <= end && p < points_.size(); ++p) {
    const Point &a = points_[p - 1], &b = points_[p];
    for (const auto& [rise, from, to] : {std::tuple(b.upper - a.upper, a.time, b.time),
                                         std::tuple(a.lower - b.lower, b.time, a.time)}) {
      if (slow == fast || difference::is_unbounded(rise)) continue;
      const Exact sum = rise + Exact{from} * fast - Exact{to} * slow;
      const Exact meeting = floor_div(sum, Exact{fast} - slow);
      for (const Exact time : {meeting, meeting + 1}) {
        if (time <= first || time >= last || time <= a.time || time >= b.time) continue;
        take(between(p, static_cast<std::int64_t>(time)));
      }
    }
  }
  return rounded(widest);
}

BoundCursor::BoundCursor(const ClockBound& bound, Course course, std::int64_t begin, unsigned bits)
    : bound_(bound),
      course_(course),
      begin_(begin),
      bits_(bits),
      lower_rate_(std::ldexp(static_cast<double>(bound.rate().lower_ppb), static_cast<int>(bits)) /
                  static_cast<double>(k_ppb)),
      upper_rate_(std::ldexp(static_cast<double>(bound.rate().upper_ppb), static_cast<int>(bits)) /
                  static_cast<double>(k_ppb)) {
  if (!bound.points().empty()) after_ = parts(0);
}

/// The error of a point moves times by this, parts: whole ticks of difference stay whole.
std::int64_t BoundCursor::parts(std::size_t point) const {
  const ClockBound::Point& at = bound_.points()[point];
  const Exact far = Exact{k_far} * k_tick;
  const Exact moved = std::clamp(course_ == Course::greatest ? -at.upper : -at.lower, -far, far);
  return static_cast<std::int64_t>(floor_div(moved << bits_, k_tick));
}

std::int64_t BoundCursor::operator()(std::int64_t time) {
  const std::vector<ClockBound::Point>& points = bound_.points();
  const std::int64_t local = time + begin_;
  const std::int64_t unmoved = time << bits_;
  const bool is_greatest = course_ == Course::greatest;
  if (points.empty()) return unmoved + (is_greatest ? -1 : 1) * (k_far << bits_);
  if (next_ < points.size() && points[next_].time < local) {
    while (next_ < points.size() && points[next_].time < local) ++next_;
    before_ = parts(next_ - 1);
    if (next_ < points.size()) after_ = parts(next_);
  }
  if (next_ < points.size() && points[next_].time == local) return unmoved + after_;
  if (course_ == Course::straight) return unmoved + straight(local);
  const auto from = [&](std::int64_t parts, std::int64_t later) {
    const double rate = (later > 0) == is_greatest ? upper_rate_ : lower_rate_;
    return parts - static_cast<std::int64_t>(rate * static_cast<double>(later));
  };
  if (next_ == 0) return unmoved + from(after_, local - points[0].time);
  const std::int64_t before = from(before_, local - points[next_ - 1].time);
  if (next_ == points.size()) return unmoved + before;
  const std::int64_t after = from(after_, local - points[next_].time);
  return unmoved + (is_greatest ? std::max(before, after) : std::min(before, after));
}

std::int64_t BoundCursor::straight(std::int64_t local) const {
  const std::vector<ClockBound::Point>& points = bound_.points();
  if (next_ == 0) return after_;
  if (next_ == points.size()) return before_;
  const double share = static_cast<double>(local - points[next_ - 1].time) /
                       static_cast<double>(points[next_].time - points[next_ - 1].time);
  return before_ + static_cast<std::int64_t>(share * static_cast<double>(after_ - before_));
}

}  // namespace entrain::bounds
