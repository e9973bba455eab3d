// SPDX-License-Identifier: BSD-3-Clause
#include "clocks/curves.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/exact.hpp"

namespace entrain::clocks {
namespace {

/// Rounded, and limited to twice the range of a clock map; 0 for a value that is no number.
std::int64_t ticks(double x) {
  if (std::isnan(x)) return 0;
  constexpr double k_limit = 2305843009213693952.0;  // 2^61
  return std::llrint(std::clamp(x, -k_limit, k_limit));
}

/// Derivative of the parabola through three points where the pieces `near` (at the point) and
/// `far` have these lengths and slopes; between two pieces if `inside`.
double parabola_slope(double near_length, double near_slope, double far_length, double far_slope,
                      bool inside) {
  const double both = near_length + far_length;
  if (inside) return (far_length * near_slope + near_length * far_slope) / both;
  return near_slope + (near_slope - far_slope) * near_length / both;
}

/// Largest second derivative of a cubic on [0, length]: it is linear, so at an end.
double bend(double second, double third, double length) {
  return std::max(std::abs(2 * second), std::abs(2 * second + 6 * third * length));
}

Int128 global_of(const SessionPoint& p) { return static_cast<Int128>(p.local) + p.offset; }

/// A knot whose global time lies in [low, high]: far from its points, the rounding of doubles
/// could turn a flat piece of a curve back.
ClockKnot knot_between(std::uint64_t local, std::int64_t offset, Int128 low, Int128 high) {
  const Int128 global = std::clamp(static_cast<Int128>(local) + offset, low, high);
  return {local, static_cast<std::int64_t>(global - static_cast<Int128>(local))};
}

constexpr Int128 k_any = static_cast<Int128>(1) << 100;

}  // namespace

Line::Line(std::span<const WeightedPoint> points)
    : reference_local_(points.front().local), reference_offset_(points.front().offset) {
  for (const WeightedPoint& p : points) {
    weights_ += p.weight;
    mean_time_ += p.weight * difference(p.local, reference_local_);
    mean_offset_ += p.weight * static_cast<double>(p.offset - reference_offset_);
  }
  mean_time_ /= weights_;
  mean_offset_ /= weights_;
  double product = 0;
  for (const WeightedPoint& p : points) {
    const double x = difference(p.local, reference_local_) - mean_time_;
    const double y = static_cast<double>(p.offset - reference_offset_) - mean_offset_;
    spread_ += p.weight * x * x;
    product += p.weight * x * y;
  }
  slope_ = product / spread_;
}

std::vector<ClockKnot> Line::knots(std::uint64_t first, std::uint64_t last) const {
  return {{first, reference_offset_ + ticks(after_reference(first))},
          {last, reference_offset_ + ticks(after_reference(last))}};
}

Spline::Spline(std::span<const SessionPoint> points)
    : points_(points.begin(), points.end()), rates_(points.size()) {
  const std::size_t segments = points_.size() - 1;
  std::vector<double> lengths(segments), slopes(segments);
  for (std::size_t i = 0; i < segments; ++i) {
    lengths[i] = difference(points_[i + 1].local, points_[i].local);
    slopes[i] = static_cast<double>(points_[i + 1].offset - points_[i].offset) / lengths[i];
  }
  for (std::size_t k = 0; k < rates_.size(); ++k) {
    const bool inside = k > 0 && k < segments;
    const std::size_t near = k == 0 ? 0 : k - 1;
    const std::size_t far = segments == 1 ? near : inside ? k : k == 0 ? 1 : k - 2;
    const double rate =
        parabola_slope(lengths[near], slopes[near], lengths[far], slopes[far], inside);
    const double smaller = inside ? std::min(slopes[near], slopes[far]) : slopes[near];
    rates_[k] = std::clamp(rate, -1.0, std::max(-1.0, 3 * (1 + smaller) - 1));
  }
  for (std::size_t i = 0; i < segments; ++i) {
    const double h = lengths[i];
    cubics_.push_back({h, rates_[i], (3 * slopes[i] - 2 * rates_[i] - rates_[i + 1]) / h,
                       (rates_[i] + rates_[i + 1] - 2 * slopes[i]) / (h * h)});
  }
}

std::uint64_t Spline::pieces(std::size_t segment, double tolerance) const {
  const Cubic& c = cubics_[segment];
  const double wanted = c.length * std::sqrt(bend(c.second, c.third, c.length) / (8 * tolerance));
  const double most = std::min(static_cast<double>(k_knots_per_segment), c.length);
  return static_cast<std::uint64_t>(std::clamp(std::ceil(wanted), 1.0, most));
}

double Spline::chord_error(double tolerance) const {
  double largest = 0;
  for (std::size_t i = 0; i < cubics_.size(); ++i) {
    const Cubic& c = cubics_[i];
    const double piece = c.length / static_cast<double>(pieces(i, tolerance));
    largest = std::max(largest, bend(c.second, c.third, c.length) * piece * piece / 8);
  }
  return largest;
}

void Spline::add_knots(std::size_t segment, double tolerance, std::vector<ClockKnot>& knots) const {
  const SessionPoint &begin = points_[segment], &end = points_[segment + 1];
  const std::uint64_t count = pieces(segment, tolerance);
  const std::uint64_t length = end.local - begin.local;
  const std::uint64_t step = length / count, rest = length % count;
  Int128 low = global_of(begin);
  for (std::uint64_t j = 0; j < count; ++j) {
    const std::uint64_t local = begin.local + j * step + j * rest / count;
    knots.push_back(
        knot_between(local, begin.offset + ticks(after(segment, local)), low, global_of(end)));
    low = static_cast<Int128>(local) + knots.back().offset;
  }
}

std::vector<ClockKnot> Spline::knots(double tolerance) const {
  std::vector<ClockKnot> knots;
  const SessionPoint &first = points_.front(), &last = points_.back();
  const std::uint64_t before = std::min(first.local, points_[1].local - first.local);
  if (before > 0) {
    const std::int64_t fall = ticks(rates_.front() * static_cast<double>(before));
    knots.push_back(
        knot_between(first.local - before, first.offset - fall, -k_any, global_of(first)));
  }
  for (std::size_t i = 0; i < cubics_.size(); ++i) add_knots(i, tolerance, knots);
  knots.push_back({last.local, last.offset});
  const std::uint64_t room = std::numeric_limits<std::uint64_t>::max() - last.local;
  const std::uint64_t after = std::min(room, last.local - points_[points_.size() - 2].local);
  if (after > 0) {
    const std::int64_t rise = ticks(rates_.back() * static_cast<double>(after));
    knots.push_back(knot_between(last.local + after, last.offset + rise, global_of(last), k_any));
  }
  return knots;
}

double left_out_of_line(std::span<const SessionPoint> points, std::size_t k) {
  const SessionPoint &a = points[k - 1], &b = points[k + 1];
  const double share = difference(points[k].local, a.local) / difference(b.local, a.local);
  return static_cast<double>(points[k].offset - a.offset) -
         share * static_cast<double>(b.offset - a.offset);
}

double left_out_of_spline(std::span<const SessionPoint> points, std::size_t k) {
  std::vector<SessionPoint> others;
  std::size_t segment = 0;
  for (std::size_t i = k < 2 ? 0 : k - 2; i < std::min(points.size(), k + 3); ++i) {
    if (i == k) continue;
    if (i + 1 == k) segment = others.size();
    others.push_back(points[i]);
  }
  const Spline spline(others);
  return static_cast<double>(points[k].offset - points[k - 1].offset) -
         spline.after(segment, points[k].local);
}

}  // namespace entrain::clocks
