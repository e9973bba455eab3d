// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "formats/spans/edges.hpp"
#include "formats/spans/spans.hpp"

namespace entrain::spans {

/// Numbers of rejected edges.
struct RejectedEnds {
  std::uint64_t contradicted = 0, asynchronous = 0, shown_twice = 0;
  std::vector<DroppedEnds> operations;  ///< contradicted ones, the most first
  std::vector<DoubtfulPair> doubtful;   ///< in order
  std::vector<ClockShownTwice> clocks_shown_twice;
  std::vector<Fold> folds;  ///< in order
};

/// Sets Edge::rejection of the edges that are no evidence about clocks; see edges_of(). `hosts`:
/// number of clocks.
RejectedEnds mark_unreliable_ends(const Spans& spans, std::size_t hosts, BigVector<Edge>& edges);

}  // namespace entrain::spans
