// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "base/executor.hpp"
#include "match/graph.hpp"

namespace entrain::match {

/// Edges and exchanges of a graph that one thread works on.
struct Part {
  std::span<const Edge> edges;
  std::span<const Exchange> exchanges;
};

/// Cuts a graph into at least one part and at most one per thread (0: all cores). Edges and
/// exchanges stay in order; small graphs are not cut.
[[nodiscard]] std::vector<Part> parts_of(const Graph& graph, unsigned threads);

/// Calls body(edge, location) for the edges of a part, with the location of the receive. The part
/// must hold edges in the order of the graph.
template <class Body>
void for_edges(const Graph& graph, const Part& part, Body body) {
  if (part.edges.empty()) return;
  LocationIndex l = graph.location_of(part.edges.front().receive);
  for (const Edge& edge : part.edges) {
    while (edge.receive >= graph.first_node[l + 1]) ++l;
    body(edge, l);
  }
}

/// Runs body(part, i) for every part, i its number, each on a thread of its own.
template <class Body>
void for_parts(std::span<const Part> parts, Body body) {
  for_each_in_parallel(static_cast<unsigned>(parts.size()), parts.size(),
                       [&](std::size_t i) { body(parts[i], i); });
}

}  // namespace entrain::match
