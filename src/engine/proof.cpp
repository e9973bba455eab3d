// SPDX-License-Identifier: BSD-3-Clause
#include "engine/proof.hpp"

#include "bounds/judge.hpp"
#include "engine/page_survey.hpp"
#include "session/phase.hpp"

namespace entrain::engine {

Result<bounds::ProvenIntervals> prove(session::Workers& workers, const Timeline& timeline,
                                      const BoundsOption& option, Progress* progress) {
  session::begin_phase(progress, "bounds");
  return bounds::prove_intervals(causal_context(workers, timeline, progress),
                                 timeline.shared_clocks, timeline.presync, option);
}

bool wants_rows(const Timeline& timeline, const bounds::ProvenIntervals& proven,
                const BoundsOption& option, bool page) {
  return option.rows || (page && few_rows(timeline, proven.windows));
}

ClockBounds judge(session::Workers& workers, const Timeline& timeline,
                  const bounds::ProvenIntervals& proven, std::span<const ClockMap> maps,
                  bool rows) {
  ClockBounds bounds =
      bounds::judge(timeline.loaded.share(workers.processes()), proven, maps, rows);
  bounds.mu_source = timeline.mu.source;
  return bounds;
}

}  // namespace entrain::engine
