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

/// Some edges and some exchanges of a graph, for loops side by side.
struct Part {
  std::span<const Edge> edges;
  std::span<const Exchange> exchanges;
};

/// Cuts a graph into at most one part for each of `threads` (0: all cores), of edges and exchanges
/// in their order. At least one; small graphs are not cut.
[[nodiscard]] std::vector<Part> parts_of(const Graph& graph, unsigned threads);

/// Calls body(edge, location) for the edges of a part, with the location of the receive.
template <class Body>
void for_edges(const Graph& graph, const Part& part, Body body) {
  if (part.edges.empty()) return;
  LocationIndex l = graph.location_of(part.edges.front().receive);
  for (const Edge& edge : part.edges) {
    while (edge.receive >= graph.first_node[l + 1]) ++l;
    body(edge, l);
  }
}

/// Runs body(part, i) for all parts, i their numbers, on a thread each.
template <class Body>
void for_parts(std::span<const Part> parts, Body body) {
  for_each_in_parallel(static_cast<unsigned>(parts.size()), parts.size(),
                       [&](std::size_t i) { body(parts[i], i); });
}

}  // namespace entrain::match
