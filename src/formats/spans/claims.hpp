// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "formats/spans/edges.hpp"
#include "formats/spans/spans.hpp"

/// Verification of edges from the spans alone (McConnell et al. 2011, "Certifying algorithms"). How
/// parents and clocks were found plays no part in it.
namespace entrain::spans {

/// Drops the edges that spans contradict; returns their number. An edge holds if
///
/// * the child names the parent, or both have one id; or the child links to the parent;
/// * both times are those of the spans, by the clocks that these have, and the effect's is later by
///   no more than its step;
/// * an end is that of a server whose client waits;
/// * no other edge is of the same ends of the same child, links apart.
///
/// O(n + links log links).
std::uint64_t drop_refuted(BigVector<Edge>& edges, const Spans& spans);

}  // namespace entrain::spans
