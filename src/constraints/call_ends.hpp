// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace entrain::constraints {

/// Ends of calls that may be simultaneous.
struct CallEnds {
  struct End {
    std::uint32_t clock = 0;
    std::uint64_t time = 0;  ///< time by the present map, ticks
    friend auto operator<=>(const End&, const End&) = default;
  };
  std::vector<End> ends;           ///< grouped by call
  std::vector<std::size_t> first;  ///< offset in `ends` of each call, and the number of ends
};

}  // namespace entrain::constraints
