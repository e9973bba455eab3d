// SPDX-License-Identifier: BSD-3-Clause
#include "clocks/error_estimate.hpp"

#include <algorithm>

namespace entrain::clocks {

ErrorEstimate::ErrorEstimate(std::vector<std::uint64_t> times, std::vector<double> inside,
                             double rate_before, double rate_after, double wander)
    : times_(std::move(times)),
      inside_(std::move(inside)),
      rate_before_(rate_before),
      rate_after_(rate_after),
      wander_(wander) {}

namespace {

/// Growth of an error at `distance` from the outermost session. A parabola of height `wander` over
/// the outermost gap, `length` wide, goes on as one.
double growth(double rate, double wander, double length, double distance) {
  const double x = distance / length;
  return rate * distance + 4 * wander * x * (1 + x);
}

}  // namespace

std::optional<double> ErrorEstimate::at(std::uint64_t local) const {
  if (!known()) return std::nullopt;
  const std::size_t last = times_.size() - 1;
  if (local < times_.front()) {
    return inside_.front() + growth(rate_before_, wander_,
                                    static_cast<double>(times_[1] - times_[0]),
                                    static_cast<double>(times_.front() - local));
  }
  if (local > times_[last]) {
    return inside_.back() + growth(rate_after_, wander_,
                                   static_cast<double>(times_[last] - times_[last - 1]),
                                   static_cast<double>(local - times_[last]));
  }
  const auto next = std::upper_bound(times_.begin() + 1, times_.end() - 1, local);
  return inside_[static_cast<std::size_t>(next - times_.begin()) - 1];
}

std::optional<double> ErrorEstimate::worst() const {
  if (!known()) return std::nullopt;
  return *std::ranges::max_element(inside_);
}

}  // namespace entrain::clocks
