// SPDX-License-Identifier: BSD-3-Clause
#include "bounds/mean_rates.hpp"

#include <algorithm>
#include <cmath>

namespace entrain::bounds {

std::vector<std::int64_t> limits_by_mean(std::span<const constraints::BaseLine> lines,
                                         std::uint32_t reference, std::int64_t mean_ppb) {
  std::vector<std::int64_t> limits(lines.size(), k_most_rate_ppb);
  const double mean = static_cast<double>(mean_ppb) / static_cast<double>(k_ppb);
  const double of_reference = 1 + lines[reference].rate;
  for (std::size_t c = 0; c < lines.size(); ++c) {
    double largest = 0;
    for (const double off : {-mean, mean}) {
      const double rate = (1 + off) * (1 + lines[c].rate) / of_reference - 1;
      largest = std::max(largest, std::abs(rate));
    }
    limits[c] = std::min(static_cast<std::int64_t>(std::ceil(largest * 1e9)) + 1, limits[c]);
  }
  limits[reference] = 0;
  return limits;
}

std::optional<std::int64_t> least_mean_rate(const DifferenceConstraints& constraints,
                                            std::span<const constraints::BaseLine> lines,
                                            std::int64_t wander_ppb, std::int64_t least_ppb) {
  const std::uint32_t reference = constraints.grid().reference;
  const auto fits = [&](std::int64_t mean_ppb) {
    return !constraints.contradiction({wander_ppb, limits_by_mean(lines, reference, mean_ppb)});
  };
  std::int64_t low = std::max<std::int64_t>(least_ppb, 1), high = low;
  do {
    if (high >= k_most_rate_ppb) return std::nullopt;
    low = high;
    high = std::min(2 * high, k_most_rate_ppb);
  } while (!fits(high));
  while (high - low > high / 16) {
    const std::int64_t middle = low + (high - low) / 2;
    (fits(middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace entrain::bounds
