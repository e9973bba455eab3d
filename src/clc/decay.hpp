// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include <entrain/options.hpp>

#include "base/exact.hpp"

namespace entrain::clc {

/// How far a displacement has decayed: `top` ticks at time `since`, falling by 1 - gamma per tick.
///
/// The state is exact; only a reading is rounded, up to the next tick. A state that was rounded at
/// every node would never decay.
///
/// Example: top 50, since 960, gamma 0.99 (1 tick of displacement per 100 ticks of time). at(1160)
/// is 48, at(1161) is 48 (47.99 rounded up), at(5960) and later readings are 0.
struct Decay {
  std::int64_t top = 0;    ///< displacement at `since`, ticks, >= 0
  std::int64_t since = 0;  ///< C at the last jump, ticks

  /// ceil(max(0, top - (1 - gamma) * (c - since))), for c >= since.
  [[nodiscard]] std::int64_t at(std::int64_t c, Decimal9 gamma) const {
    if (top == 0) return 0;
    const Int128 fallen =
        floor_div(Int128{k_billion - gamma.billionths} * (Int128{c} - since), k_billion);
    return fallen >= top ? 0 : top - static_cast<std::int64_t>(fallen);
  }

  friend bool operator==(const Decay&, const Decay&) = default;
};

}  // namespace entrain::clc
