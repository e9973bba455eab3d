// SPDX-License-Identifier: BSD-3-Clause
#include "causal/latency_scale.hpp"

#include <algorithm>
#include <limits>
#include <tuple>
#include <vector>

namespace entrain::causal {

double latency_scale(std::span<const ClockConstraint> constraints, std::int64_t begin,
                     std::int64_t width, const ClockErrors* errors) {
  struct Directed {
    std::uint32_t low, high;
    std::int64_t window;
    bool up;
    double slack;
  };
  std::vector<Directed> directed;
  for (const ClockConstraint& constraint : constraints) {
    double slack = static_cast<double>(constraint.slack);
    if (errors != nullptr) {
      slack += (*errors)(constraint.from, constraint.from_time) -
               (*errors)(constraint.to, constraint.to_time);
    }
    const auto [low, high] = std::minmax(constraint.from, constraint.to);
    directed.push_back(
        {low, high, (constraint.to_time - begin) / width, constraint.from == low, slack});
  }
  std::sort(directed.begin(), directed.end(), [](const Directed& a, const Directed& b) {
    return std::tie(a.low, a.high, a.window, a.up, a.slack) <
           std::tie(b.low, b.high, b.window, b.up, b.slack);
  });
  // The tightest one of each direction; those of both directions are neighbours then.
  directed.erase(std::unique(directed.begin(), directed.end(),
                             [](const Directed& a, const Directed& b) {
                               return std::tie(a.low, a.high, a.window, a.up) ==
                                      std::tie(b.low, b.high, b.window, b.up);
                             }),
                 directed.end());
  double shortest = std::numeric_limits<double>::max();
  for (std::size_t i = 1; i < directed.size(); ++i) {
    const Directed &a = directed[i - 1], &b = directed[i];
    if (std::tie(a.low, a.high, a.window) != std::tie(b.low, b.high, b.window)) continue;
    // Below a tick per way the clocks bend within the window, and the sum says nothing.
    if (a.slack + b.slack >= 4) shortest = std::min(shortest, a.slack + b.slack);
  }
  return shortest == std::numeric_limits<double>::max() ? 1 : shortest / 4;
}

}  // namespace entrain::causal
