// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include <entrain/clock_map.hpp>

#include "base/order.hpp"

namespace entrain::trace {

/// The stamps from `first` to `last` between which all maps are straight: these two, and the knots
/// between them, in order.
inline std::vector<std::uint64_t> straight_stamps(std::uint64_t first, std::uint64_t last,
                                                  std::initializer_list<const ClockMap*> maps) {
  std::vector<std::uint64_t> stamps{first, last};
  for (const ClockMap* const map : maps) {
    for (const ClockKnot& knot : map->knots()) {
      if (knot.local > first && knot.local < last) stamps.push_back(knot.local);
    }
  }
  sort_unique(stamps);
  return stamps;
}

}  // namespace entrain::trace
