// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <entrain/align.hpp>
#include <entrain/error.hpp>
#include <entrain/progress.hpp>

#include "match/graph.hpp"
#include "trace/definitions.hpp"

namespace entrain::edges {

/// A graph made of edges, and the edges and instances that it has not.
struct EdgeGraph {
  match::Graph graph;
  Counters left_out;  ///< "edges_inside_a_clock", "instances_without_pairs"; no zeros
};

/// The happened-before graph of edges that check() accepts: what match::build_graph() makes of a
/// trace with these edges, for a team of one. `definitions` are those of trace_of(). Needs about 40
/// bytes per edge while it works. O(n log n) on `threads` threads; the graph does not depend on
/// their number.
///
/// Errors: ErrorKind::input for more edges or stamps than 32 bits can number, and for more than
/// 65,535 different delays; ErrorKind::interrupted when `progress` (may be null) says so.
Result<EdgeGraph> graph_of(const trace::Definitions& definitions, const Edges& edges,
                           const MuTicks& mu, unsigned threads, const Progress* progress);

}  // namespace entrain::edges
