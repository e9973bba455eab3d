// SPDX-License-Identifier: BSD-3-Clause
// The reference's ramps against their definition: they are the reference for clc/, so they are
// believed on two independent grounds, hand examples (reference_clc_test) and these properties.
#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "support/reference_clc.hpp"

namespace entrain::test {
namespace {

struct Curve {
  std::vector<std::uint64_t> stamp;
  std::vector<std::int64_t> lower, limit;
  std::vector<bool> jump;
};

/// Jumps and decays as forward amortization leaves them, and limits above them.
Curve any_curve(int max_nodes, double jump_share) {
  Curve curve;
  std::uint64_t t = 1000;
  std::int64_t d = 0;
  const int nodes = *rc::gen::inRange(1, max_nodes);
  const auto share = [](double p) {
    return *rc::gen::inRange(0, 1000) < static_cast<int>(1000 * p);
  };
  for (int i = 0; i < nodes; ++i) {
    const auto gap = *rc::gen::inRange<std::uint64_t>(1, 300);
    t += gap;
    d = std::max<std::int64_t>(0, d - static_cast<std::int64_t>(gap) / 50);
    const bool jump = share(jump_share);
    if (jump) d += *rc::gen::inRange(1, 40);
    curve.stamp.push_back(t);
    curve.lower.push_back(d);
    curve.jump.push_back(jump);
    curve.limit.push_back(share(0.5) ? d + *rc::gen::inRange(0, 30) : k_unlimited);
  }
  return curve;
}

RC_GTEST_PROP(ReferenceRampsProperty, stay_between_lower_curve_and_limits, ()) {
  const Curve curve = any_curve(40, 0.3);
  const auto e = reference_ramps(curve.stamp, curve.lower, curve.limit, curve.jump, 50'000'000);
  for (std::size_t i = 0; i < e.size(); ++i) {
    RC_ASSERT(e[i] >= curve.lower[i]);
    RC_ASSERT(e[i] <= curve.limit[i]);
    if (i == 0) continue;
    const auto gap = static_cast<std::int64_t>(curve.stamp[i] - curve.stamp[i - 1]);
    RC_ASSERT(e[i - 1] - e[i] <= gap);  // order
  }
}

RC_GTEST_PROP(ReferenceRampsProperty, without_limits_no_slope_above_the_largest, ()) {
  Curve curve = any_curve(40, 0.3);
  std::fill(curve.limit.begin(), curve.limit.end(), k_unlimited);
  const auto e = reference_ramps(curve.stamp, curve.lower, curve.limit, curve.jump, 50'000'000);
  for (std::size_t i = 1; i < e.size(); ++i) {
    const auto gap = static_cast<double>(curve.stamp[i] - curve.stamp[i - 1]);
    RC_ASSERT(static_cast<double>(e[i] - e[i - 1]) <= 0.05 * gap + 1);
  }
}

/// The lower convex hull of limits and top whose slopes are at least s_max, at one time: the
/// largest value that any line of such slope reaches there without passing above a point.
double hull_at(const Curve& curve, std::size_t top, std::size_t at, double s_max) {
  std::vector<std::pair<double, double>> points;  // distance to the right of `at`, height
  for (std::size_t i = 0; i <= top; ++i) {
    const std::int64_t height = i == top ? curve.lower[i] : curve.limit[i];
    if (height == k_unlimited) continue;
    points.emplace_back(static_cast<double>(curve.stamp[i]) - static_cast<double>(curve.stamp[at]),
                        static_cast<double>(height));
  }
  const auto value = [&](double m) {
    double lowest = std::numeric_limits<double>::infinity();
    for (const auto& [distance, height] : points) {
      lowest = std::min(lowest, height - m * distance);
    }
    return lowest;
  };
  double best = value(s_max);
  for (const auto& p : points) {
    for (const auto& q : points) {
      if (p.first == q.first) continue;
      const double m = (p.second - q.second) / (p.first - q.first);
      if (m > s_max) best = std::max(best, value(m));
    }
  }
  return best;
}

RC_GTEST_PROP(ReferenceRampsProperty, one_jump_gives_the_convex_hull, ()) {
  Curve curve = any_curve(14, 0);
  const std::size_t top = curve.stamp.size() - 1;
  curve.jump[top] = true;
  curve.lower[top] = *rc::gen::inRange(1, 60);
  const auto e = reference_ramps(curve.stamp, curve.lower, curve.limit, curve.jump, 50'000'000);
  for (std::size_t i = 0; i < top; ++i) {
    const double hull = std::max(0.0, hull_at(curve, top, i, 0.05));
    RC_ASSERT(std::abs(static_cast<double>(e[i]) - std::floor(hull + 1e-9)) < 0.5);
  }
}

}  // namespace
}  // namespace entrain::test
