// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include <entrain/progress.hpp>

#include "base/big_vector.hpp"
#include "base/executor.hpp"
#include "clocks/rate_prior.hpp"
#include "clocks/reference.hpp"
#include "match/graph.hpp"
#include "match/halo.hpp"
#include "trace/share.hpp"

namespace entrain::constraints {

/// Arguments that the functions of this folder share: trace, edges and execution. Holds references,
/// which must outlive it. Cheap to copy.
struct Context {
  trace::Share share;                  ///< locations of this process, and the team of all processes
  const match::Graph& graph;           ///< edges between the nodes of this process
  MuTicks mu{};                        ///< least latency of a message per latency class, ticks
  clocks::RatePrior prior{};           ///< assumed limits on clock rates
  clocks::Reference reference{};       ///< choice of the reference for unmeasured clocks
  unsigned threads = 1;                ///< threads of this process; 0: all cores
  const Progress* progress = nullptr;  ///< cancellation; may be null

  [[nodiscard]] Team& team() const { return share.team; }
  [[nodiscard]] const trace::Trace& trace() const { return share.trace; }
};

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
