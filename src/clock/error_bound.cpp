// SPDX-License-Identifier: BSD-3-Clause
#include "clock/error_bound.hpp"

#include <algorithm>

namespace entrain::clock {

ErrorBound::ErrorBound(std::vector<std::uint64_t> times, std::vector<double> at_sessions,
                       std::vector<double> inside, double wander)
    : times_(std::move(times)),
      at_sessions_(std::move(at_sessions)),
      inside_(std::move(inside)),
      wander_(wander) {}

double ErrorBound::outside(std::size_t segment, double length, double distance) const {
  // An error that is a parabola of height `wander` over the segment goes on as one.
  const double x = distance / length;
  return inside_[segment] + x * (at_sessions_[segment] + at_sessions_[segment + 1]) +
         4 * wander_ * x * (1 + x);
}

std::optional<double> ErrorBound::at(std::uint64_t local) const {
  if (!known()) return std::nullopt;
  const std::size_t last = times_.size() - 1;
  if (local < times_.front()) {
    return outside(0, static_cast<double>(times_[1] - times_[0]),
                   static_cast<double>(times_.front() - local));
  }
  if (local > times_[last]) {
    return outside(last - 1, static_cast<double>(times_[last] - times_[last - 1]),
                   static_cast<double>(local - times_[last]));
  }
  const auto next = std::upper_bound(times_.begin() + 1, times_.end() - 1, local);
  return inside_[static_cast<std::size_t>(next - times_.begin()) - 1];
}

std::optional<double> ErrorBound::worst() const {
  if (!known()) return std::nullopt;
  return *std::max_element(inside_.begin(), inside_.end());
}

}  // namespace entrain::clock
