// SPDX-License-Identifier: BSD-3-Clause
#include "clocks/disturbed.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "clocks/curves.hpp"

namespace entrain::clocks {
namespace {

using Points = std::vector<SessionPoint>;

double gap(const SessionPoint& a, const SessionPoint& b) {
  return static_cast<double>(b.local - a.local);
}

/// Half-width above which a session is wide, or nothing where one is unknown.
std::optional<double> wide_from(std::span<const SessionPoint> points) {
  std::vector<double> widths;
  for (const SessionPoint& point : points) {
    if (!point.half_width) return std::nullopt;
    widths.push_back(*point.half_width);
  }
  const auto middle = widths.begin() + static_cast<std::ptrdiff_t>(widths.size() / 2);
  std::nth_element(widths.begin(), middle, widths.end());
  return k_wide_session * *middle;
}

/// Largest distance of a session from the curve through its neighbours, per square of the gap
/// between them.
double bend_of(const Points& narrow) {
  double largest = 0;
  for (std::size_t k = 1; k + 1 < narrow.size(); ++k) {
    const double between = gap(narrow[k - 1], narrow[k + 1]);
    largest = std::max(largest, std::abs(left_out_of_spline(narrow, k)) / (between * between));
  }
  return largest;
}

/// Distance of `point` from the curve; two neighbours on either side determine the curve there.
/// `next`: number of the first one of `narrow` after `point`.
double distance_from_curve(const Points& narrow, std::size_t next, const SessionPoint& point) {
  constexpr std::size_t k_around = 2;
  const std::size_t first = next > k_around ? next - k_around : 0;
  const std::size_t end = std::min(narrow.size(), next + k_around);
  Points around(narrow.begin() + static_cast<std::ptrdiff_t>(first),
                narrow.begin() + static_cast<std::ptrdiff_t>(end));
  around.insert(around.begin() + static_cast<std::ptrdiff_t>(next - first), point);
  return std::abs(left_out_of_spline(around, next - first));
}

}  // namespace

std::vector<bool> disturbed_sessions(std::span<const SessionPoint> points) {
  std::vector<bool> disturbed(points.size(), false);
  const std::optional<double> wide = points.empty() ? std::nullopt : wide_from(points);
  if (!wide) return disturbed;
  const auto is_wide = [&](std::size_t k) {
    return k > 0 && k + 1 < points.size() && *points[k].half_width > *wide;
  };
  Points narrow;
  for (std::size_t k = 0; k < points.size(); ++k) {
    if (!is_wide(k)) narrow.push_back(points[k]);
  }
  if (narrow.size() < k_least_undisturbed || narrow.size() == points.size()) return disturbed;
  const double bend = bend_of(narrow);
  std::size_t next = 0;
  for (std::size_t k = 0; k < points.size(); ++k) {
    if (!is_wide(k)) {
      ++next;
      continue;
    }
    const double between = gap(narrow[next - 1], narrow[next]);
    const double width = *points[k].half_width;
    disturbed[k] =
        width > bend * between * between && distance_from_curve(narrow, next, points[k]) <= width;
  }
  return disturbed;
}

std::vector<SessionPoint> undisturbed(std::span<const SessionPoint> points) {
  const std::vector<bool> left_out = disturbed_sessions(points);
  Points result;
  for (std::size_t k = 0; k < points.size(); ++k) {
    if (!left_out[k]) result.push_back(points[k]);
  }
  return result;
}

}  // namespace entrain::clocks
