// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <entrain/align.hpp>
#include <entrain/error.hpp>
#include <entrain/progress.hpp>

#include "base/edge_list.hpp"
#include "match/graph.hpp"
#include "trace/definitions.hpp"

namespace entrain::formats {

/// The edges and exchanges of a graph with all nodes in this process, in its order: graph_of() of
/// the list is the same graph. `mu`: minimal latencies of the latency classes.
EdgeList list_of(const match::Graph& graph, const MuTicks& mu);

/// A graph made of edges, and the number of edges and instances that it ignores.
struct EdgeGraph {
  match::Graph graph;
  Counters left_out;  ///< "edges_inside_a_clock", "instances_without_pairs"; no zeros
};

/// Builds the happened-before graph of edges that check_edges() accepts: the result of
/// match::build_graph() for a trace with these edges, in one process. `definitions`: see
/// definitions_of(). Uses about 40 bytes per edge. O(n log n) on `threads` threads; the graph does
/// not depend on their number.
///
/// Errors: ErrorKind::input for more edges or stamps than 32 bits can number, and for more than
/// 65,535 different delays; ErrorKind::interrupted if `progress` (may be null) requests it.
Result<EdgeGraph> graph_of(const trace::Definitions& definitions, const Edges& edges,
                           const MuTicks& mu, unsigned threads, const Progress* progress);

/// Refuses invalid clocks and edges: arrays of different lengths, clocks that do not exist,
/// stamps above 2^62, delays below 0, ranges outside the members, two clocks of one name, two
/// begins of one clock in an instance. Errors: ErrorKind::usage, naming the element. O(edges), on
/// `threads` threads.
Result<void> check_edges(const Clocks& clocks, const Edges& edges, unsigned threads);

}  // namespace entrain::formats
