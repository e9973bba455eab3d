// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>

#include "base/big_vector.hpp"
#include "base/executor.hpp"
#include "match/graph.hpp"
#include "match/halo.hpp"
#include "session/workers.hpp"

namespace entrain::causal {

/// Fills `times`, ticks, of all nodes of a graph, ghosts too: those of a location `l` of `own`, the
/// locations of this process, by the function of stamps that clock_of(l) returns. It is called
/// with increasing stamps. Locations side by side; collective over the processes.
template <class ClockOf>
void evaluate_nodes(session::Workers& workers, const match::Graph& graph,
                    std::span<const LocationIndex> own, BigVector<std::int64_t>& times,
                    ClockOf clock_of) {
  times.resize(graph.node_count());
  static_cast<void>(parallel_for(workers.threads(), own.size(), [&](std::size_t i) -> Result<void> {
    const LocationIndex l = own[i];
    auto clock = clock_of(l);
    for (NodeIndex n = graph.first_node[l]; n < graph.first_node[l + 1]; ++n) {
      times[n] = clock(graph.stamp[n]);
    }
    return {};
  }));
  match::HaloExchange(workers.processes(), graph).publish(times);
}

}  // namespace entrain::causal
