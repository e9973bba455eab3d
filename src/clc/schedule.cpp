// SPDX-License-Identifier: BSD-3-Clause
#include "clc/schedule.hpp"

#include <cassert>
#include <utility>

#include "clc/components.hpp"
#include "clc/scheduler.hpp"

namespace entrain::clc {

std::optional<Schedule> order_nodes(const match::Graph& graph, const Incidence& incidence,
                                    std::vector<TiedNodes> tied, std::vector<std::uint32_t> tied_of,
                                    const Progress* progress) {
  Scheduler scheduler(graph, incidence, std::move(tied), std::move(tied_of));
  if (!scheduler.run(progress)) return std::nullopt;
  return scheduler.take();
}

Schedule make_schedule(match::Graph& graph, Incidence& incidence, const Progress* progress) {
  Components components;
  {
    Scheduler scheduler(graph, incidence, {}, {});
    if (scheduler.run(progress)) return scheduler.take();
    if (progress != nullptr && progress->cancelled()) return {};
    // What is left depends on itself. Tie or cut the cycles, then begin anew.
    components = find_components(graph, incidence, scheduler.cursor());
  }
  std::uint64_t dropped = 0;
  if (!components.errors.empty()) {
    dropped = drop_inner_edges(graph, components.errors);
    incidence = Incidence(graph);
  }
  std::vector<std::uint32_t> tied_of;
  if (!components.tied.empty()) {
    tied_of.assign(graph.node_count(), k_none);
    for (std::uint32_t c = 0; c < components.tied.size(); ++c) {
      for (const NodeIndex n : components.tied[c].nodes) tied_of[n] = c;
    }
  }
  std::optional<Schedule> schedule =
      order_nodes(graph, incidence, std::move(components.tied), std::move(tied_of));
  assert(schedule);
  schedule->dropped_components = components.errors.size();
  schedule->dropped_edges = dropped;
  return std::move(*schedule);
}

}  // namespace entrain::clc
