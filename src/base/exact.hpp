// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace entrain {

__extension__ using Int128 = __int128;

/// Largest integer q with q * divisor <= dividend; divisor > 0.
constexpr Int128 floor_div(Int128 dividend, Int128 divisor) {
  const Int128 q = dividend / divisor;
  return q - (dividend % divisor != 0 && dividend < 0 ? 1 : 0);
}

/// Smallest integer q with q * divisor >= dividend; divisor > 0.
constexpr Int128 ceil_div(Int128 dividend, Int128 divisor) {
  return -floor_div(-dividend, divisor);
}

inline constexpr std::int64_t k_billion = 1'000'000'000;

}  // namespace entrain
