// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <vector>

#include "base/executor.hpp"
#include "engine/timeline.hpp"

namespace entrain::engine {

void measure_shift(trace::Workers& workers, Timeline& timeline) {
  constexpr std::int64_t k_most = std::numeric_limits<std::int64_t>::max();
  struct Shift {
    std::int64_t largest = 0, sum = 0, nodes = 0;
    void take(std::int64_t most, std::int64_t more, std::int64_t count) {
      largest = std::max(largest, most);
      if (__builtin_add_overflow(sum, more, &sum)) sum = k_most;
      nodes += count;
    }
  };
  Team& processes = workers.processes();
  const match::Graph& graph = timeline.graph;
  const std::vector<LocationIndex> own = timeline.loaded.own(processes);
  std::vector<Shift> shifts(own.size());
  for_each_in_parallel(workers.threads(), own.size(), [&](std::size_t i) {
    const LocationIndex l = own[i];
    ClockMap::Cursor before(timeline.measured.maps[l]), after(timeline.presync.maps[l]);
    Shift shift;
    for (NodeIndex n = graph.first_node[l]; n < graph.first_node[l + 1]; ++n) {
      const std::int64_t moved = std::abs(after(graph.stamp[n]) - before(graph.stamp[n]));
      shift.take(moved, moved, 1);
    }
    shifts[i] = shift;
  });
  Shift all;
  for (const Shift& one : shifts) all.take(one.largest, one.sum, one.nodes);
  timeline.report.shift_max_ticks = processes.reduce(Team::Reduction::max, all.largest);
  const std::int64_t nodes = processes.reduce(Team::Reduction::sum, all.nodes);
  const std::int64_t sum =
      processes.reduce(Team::Reduction::sum, std::min(all.sum, k_most / processes.size()));
  if (nodes > 0) {
    timeline.report.shift_mean_ticks = static_cast<double>(sum) / static_cast<double>(nodes);
  }
}

}  // namespace entrain::engine
