// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace entrain::page {

/// A histogram of ticks with bins that grow with their values: four per power of two, exact below
/// 8, negative values as mirror images of positive ones.
///
/// Example: 9 lies in the bin from 8 to 9, 100 in the one from 96 to 111, -100 in its mirror image.
class Bins {
 public:
  static constexpr std::size_t k_positive = 8 + 4 * 61;  ///< bins of values >= 0
  static constexpr std::size_t k_count = 2 * k_positive - 1;
  static constexpr std::size_t k_zero = k_positive - 1;  ///< the bin of 0

  [[nodiscard]] static std::size_t bin_of(std::int64_t ticks) {
    const std::uint64_t size =
        ticks < 0 ? ~static_cast<std::uint64_t>(ticks) + 1 : static_cast<std::uint64_t>(ticks);
    std::size_t bin = size;
    if (size >= 8) {
      const auto bits = static_cast<unsigned>(std::bit_width(size));
      bin = 8 + 4 * (bits - 4) + ((size >> (bits - 3)) & 3);
    }
    return ticks < 0 ? k_zero - bin : k_zero + bin;
  }
  /// The smallest value, in size, of the bin that is `distance` bins away from that of 0.
  [[nodiscard]] static std::uint64_t edge(std::size_t distance) {
    if (distance < 8) return distance;
    return std::uint64_t{4 + (distance - 8) % 4} << ((distance - 8) / 4 + 1);
  }

  void add(std::int64_t ticks) { ++counts_[bin_of(ticks)]; }
  [[nodiscard]] std::array<std::int64_t, k_count>& counts() { return counts_; }
  [[nodiscard]] const std::array<std::int64_t, k_count>& counts() const { return counts_; }

 private:
  std::array<std::int64_t, k_count> counts_{};
};

}  // namespace entrain::page
