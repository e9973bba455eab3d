// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>

namespace entrain {

// Integer arithmetic that neither overflows nor rounds. A product of two 64-bit numbers (a time in
// ticks and a rate, or a time difference and a resolution) needs up to 128 bits; in a double, which
// holds 53 bits, such a result would be off by whole ticks.

/// A signed integer of 128 bits: holds the product of any two 64-bit integers.
__extension__ using Int128 = __int128;

/// Largest integer q with q * divisor <= dividend; divisor > 0. Rounds down, also below zero, where
/// the operator `/` rounds towards zero: floor_div(7, 2) = 3, floor_div(-7, 2) = -4, -7 / 2 = -3.
constexpr Int128 floor_div(Int128 dividend, Int128 divisor) {
  // Most are small, and a division of 128 bits is a call that takes several times as long.
  const auto small = static_cast<std::int64_t>(dividend);
  const auto by = static_cast<std::int64_t>(divisor);
  if (small == dividend && by == divisor) {
    return small / by - (small % by != 0 && small < 0 ? 1 : 0);
  }
  const Int128 q = dividend / divisor;
  return q - (dividend % divisor != 0 && dividend < 0 ? 1 : 0);
}

/// Smallest integer q with q * divisor >= dividend; divisor > 0. ceil_div(7, 2) = 4,
/// ceil_div(-7, 2) = -3.
constexpr Int128 ceil_div(Int128 dividend, Int128 divisor) {
  return -floor_div(-dividend, divisor);
}

/// Nanoseconds per second, and the denominator of rates in parts per billion. A clock that gains
/// 20 ppm = 20,000 ppb shows floor_div(Int128{t} * 20'000, k_billion) ticks too much after t ticks.
inline constexpr std::int64_t k_billion = 1'000'000'000;

/// Returns a + b, clamped.
inline std::int64_t clamped_sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b < 0 ? std::numeric_limits<std::int64_t>::min()
               : std::numeric_limits<std::int64_t>::max();
}

/// Returns a - b, clamped.
inline std::int64_t margin(std::int64_t a, std::int64_t b) {
  std::int64_t difference = 0;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return a < b ? std::numeric_limits<std::int64_t>::min()
               : std::numeric_limits<std::int64_t>::max();
}

}  // namespace entrain
