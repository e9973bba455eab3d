// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "formats/spans/edges.hpp"
#include "formats/spans/spans.hpp"

namespace entrain::spans {

/// Sets Edge::rejection of the edges that are no evidence about clocks; see edges_of(). `hosts`:
/// number of clocks.
RejectedEnds mark_unreliable_ends(const Spans& spans, std::size_t hosts, BigVector<Edge>& edges);

}  // namespace entrain::spans
