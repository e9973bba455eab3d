// SPDX-License-Identifier: BSD-3-Clause
#include "engine/edges.hpp"

#include <utility>

#include "base/try.hpp"
#include "causal/node_times.hpp"
#include "clocks/samples.hpp"
#include "edges/trace.hpp"
#include "engine/edge_counts.hpp"
#include "engine/timeline.hpp"
#include "session/phase.hpp"
#include "session/workers.hpp"

namespace entrain::engine {
namespace {

void fill_ticks(const match::Graph& graph, const BigVector<std::int64_t>& times,
                ArchiveEdges& result) {
  for (const match::Edge& edge : graph.edges) {
    result.cause_ticks.push_back(times[edge.send]);
    result.effect_ticks.push_back(times[edge.receive]);
  }
  for (const match::Exchange& exchange : graph.exchanges) {
    for (const auto side : {graph.sends(exchange), graph.receives(exchange)}) {
      for (const match::Participant& one : side) result.member_ticks.push_back(times[one.node]);
    }
  }
}

}  // namespace

Result<ArchiveEdges> read_edges(const std::filesystem::path& archive, const CheckOptions& options,
                                Progress* progress) {
  session::Workers workers(options.threads);
  TRY_ASSIGN(const Timeline t,
             find_timeline(workers, archive, options, {.purpose = Purpose::bounds}, progress));
  const causal::Context context = causal_context(workers, t, progress);
  const std::filesystem::path folder =
      options.clock_samples.empty() ? std::filesystem::path(t.loaded.trace.path).parent_path()
                                    : std::filesystem::path(options.clock_samples);
  TRY_ASSIGN(const auto exchanges,
             clocks::read_clock_samples(folder, t.loaded.trace, context.share.own()));
  session::begin_phase(progress, "check");
  ArchiveEdges result;
  result.clocks = edges::clocks_of(t.loaded.trace, exchanges);
  result.list = edges::list_of(t.graph, t.mu.ticks);
  result.report = count_edges(context, t.measured.maps, t.domains, options);
  result.report.presync = t.measured.method;
  result.report.mu_source = t.mu.source;
  BigVector<std::int64_t> times;
  causal::evaluate_nodes(context, times,
                         [&](LocationIndex l) { return ClockMap::Cursor(t.measured.maps[l]); });
  fill_ticks(t.graph, times, result);
  TRY(session::check_unchanged(workers.processes(), t.loaded));
  return result;
}

}  // namespace entrain::engine
