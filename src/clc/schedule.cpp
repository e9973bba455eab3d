// SPDX-License-Identifier: BSD-3-Clause
#include "clc/schedule.hpp"

#include <cassert>
#include <span>
#include <utility>
#include <vector>

#include "base/try.hpp"
#include "clc/components.hpp"
#include "clc/scheduler.hpp"

namespace entrain::clc {

namespace {

/// Ties or cuts the cycles among the nodes that no order was found for: those from `left` (one per
/// location) on.
Cycles treat_cycles(match::Graph& graph, Incidence& incidence, std::span<const NodeIndex> left) {
  Components components = find_components(graph, incidence, left);
  Cycles cycles;
  cycles.dropped_components = components.errors.size();
  if (!components.errors.empty()) {
    cycles.dropped_edges = drop_inner_edges(graph, components.errors);
    incidence = Incidence(graph);
  }
  cycles.tied = std::move(components.tied);
  if (!cycles.tied.empty()) cycles.tied_of.assign(graph.node_count(), k_none);
  for (std::uint32_t c = 0; c < cycles.tied.size(); ++c) {
    for (const NodeIndex n : cycles.tied[c].nodes) cycles.tied_of[n] = c;
    cycles.tied_nodes += cycles.tied[c].nodes.size();
  }
  return cycles;
}

}  // namespace

std::optional<Schedule> order_nodes(const match::Graph& graph, const Incidence& incidence,
                                    const Cycles& cycles, const Cancel& cancel) {
  Scheduler scheduler(graph, incidence, cycles);
  if (!scheduler.run(cancel)) return std::nullopt;
  return scheduler.take();
}

Result<Schedule> make_schedule(match::Graph& graph, Incidence& incidence, Cycles& cycles,
                               const Cancel& cancel) {
  cycles = {};
  std::vector<NodeIndex> left;
  {
    Scheduler scheduler(graph, incidence, cycles);
    if (scheduler.run(cancel)) return scheduler.take();
    TRY(cancel.check());
    left = scheduler.cursor();
  }
  cycles = treat_cycles(graph, incidence, left);
  std::optional<Schedule> schedule = order_nodes(graph, incidence, cycles);
  assert(schedule);
  return *std::move(schedule);
}

}  // namespace entrain::clc
