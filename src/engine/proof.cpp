// SPDX-License-Identifier: BSD-3-Clause
#include "engine/proof.hpp"

#include <algorithm>

#include "bounds/judge.hpp"
#include "trace/phase.hpp"

namespace entrain::engine {

Result<bounds::ProvenIntervals> prove(trace::Workers& workers, const Timeline& timeline,
                                      const BoundsOption& option, Progress* progress) {
  trace::begin_phase(progress, "bounds");
  return bounds::prove_intervals(causal_context(workers, timeline, progress),
                                 timeline.shared_clocks, timeline.presync, option);
}

bool wants_rows(const Timeline& timeline, const bounds::ProvenIntervals& proven,
                const BoundsOption& option, bool page) {
  // Larger tables are not made for a page: it shows bounds without bands then.
  constexpr std::uint64_t k_most_page_rows = 400'000;
  const std::size_t clocks = std::max<std::size_t>(timeline.presync.maps.size(), 1);
  return option.rows || (page && proven.windows <= k_most_page_rows / clocks);
}

ClockBounds judge(trace::Workers& workers, const Timeline& timeline,
                  const bounds::ProvenIntervals& proven, std::span<const ClockMap> maps,
                  bool rows) {
  ClockBounds bounds =
      bounds::judge(timeline.loaded.share(workers.processes()), proven, maps, rows);
  bounds.mu_source = timeline.mu.source;
  return bounds;
}

}  // namespace entrain::engine
