// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <entrain/report.hpp>

#include "verify/places.hpp"

namespace entrain::verify {

/// One side of an operation, with all that decides about its pairs.
struct Moment {
  std::int64_t time = 0;  ///< corrected, ticks
  EventRef event;
  std::uint32_t process = 0;
  std::uint32_t node = 0;            ///< machine node
  std::uint32_t rank = 0;            ///< only for ordered instances
  std::uint32_t component = k_none;  ///< cycle, see Cycles; k_none: none
};

/// Where an edge stands among those of its kind, whatever member finds it: of equally bad edges
/// the first one is reported. Compared number by number.
using EdgeOrder = std::array<std::uint64_t, 4>;

/// Many edges at once: every send precedes every receive of another location; in an ordered
/// instance only those of higher rank.
struct Instance {
  EdgeKind kind = EdgeKind::n_to_n;
  bool ordered = false;
  EdgeOrder order{};  ///< the last number is for the pair
  /// In order of rank if ordered, else of location; no location twice.
  std::vector<Moment> sends, receives;
};

/// Puts the sides in order.
void sort_sides(Instance& instance);

}  // namespace entrain::verify
