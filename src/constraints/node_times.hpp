// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "base/big_vector.hpp"
#include "base/executor.hpp"
#include "constraints/context.hpp"
#include "match/halo.hpp"

namespace entrain::constraints {

/// Computes the times of all nodes of the graph, ghosts too, ticks. clock_of(l) returns the
/// function from stamps to times of a location of this process; it is called with increasing
/// stamps. Parallel over locations; collective over processes.
template <class ClockOf>
void evaluate_nodes(const Context& context, BigVector<std::int64_t>& times, ClockOf clock_of) {
  const match::Graph& graph = context.graph;
  const std::vector<LocationIndex> own = context.share.own();
  times.resize(graph.node_count());
  for_each_in_parallel(context.threads, own.size(), [&](std::size_t i) {
    const LocationIndex l = own[i];
    auto clock = clock_of(l);
    for (NodeIndex n = graph.first_node[l]; n < graph.first_node[l + 1]; ++n) {
      times[n] = clock(graph.stamp[n]);
    }
  });
  match::HaloExchange(context.team(), graph).publish(times);
}

}  // namespace entrain::constraints
