// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

namespace entrain::lines {

/// Lower median; reorders `values`, which must not be empty.
inline std::int64_t lower_median(std::span<std::int64_t> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Mean of the lower and the upper median, rounded down; reorders `values`.
inline std::int64_t middle_median(std::span<std::int64_t> values) {
  const std::int64_t low = lower_median(values);
  const auto upper = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), upper, values.end());
  return low + (*upper - low) / 2;
}

/// Ticks from `from` to `to`, which are less than 2^63 apart.
inline double stamp_distance(std::uint64_t from, std::uint64_t to) {
  return static_cast<double>(static_cast<std::int64_t>(to - from));
}

}  // namespace entrain::lines
