// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "spans/edges.hpp"
#include "spans/spans.hpp"

namespace entrain::spans {

/// How many edges say nothing about clocks.
struct EndDoubts {
  std::uint64_t unresolved = 0, contradicted = 0, nobody_waits = 0, given_up = 0;
  std::vector<DroppedEnds> operations;  ///< of those that are contradicted, the most first
};

/// Marks the edges that say nothing about clocks, as edges_of() has it. `steps`: of the clock of
/// each host, ns.
EndDoubts doubt_ends(const Spans& spans, std::span<const std::uint64_t> steps,
                     std::vector<Edge>& edges);

}  // namespace entrain::spans
