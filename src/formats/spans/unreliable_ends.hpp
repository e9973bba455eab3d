// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/spans/edges.hpp"
#include "formats/spans/spans.hpp"

namespace entrain::spans {

/// Numbers of rejected edges.
struct RejectedEnds {
  std::uint64_t unresolved = 0, contradicted = 0, asynchronous = 0, timed_out = 0;
  std::vector<DroppedEnds> operations;  ///< contradicted ones, the most first
};

/// Sets Edge::rejection of the edges that are no evidence about clocks; see edges_of(). `steps`:
/// resolution of the clock of each host, ns.
RejectedEnds mark_unreliable_ends(const Spans& spans, std::span<const std::uint64_t> steps,
                                  std::vector<Edge>& edges);

}  // namespace entrain::spans
