// SPDX-License-Identifier: BSD-3-Clause
#include "engine/edges.hpp"

#include <memory>

#include "base/margin.hpp"
#include "base/try.hpp"
#include "constraints/node_times.hpp"
#include "engine/check_times.hpp"
#include "engine/timeline.hpp"
#include "formats/registry/open.hpp"
#include "formats/tables/write_tables.hpp"
#include "match/deciding_pairs.hpp"
#include "trace/phase.hpp"
#include "trace/workers.hpp"

namespace entrain::engine {
namespace {

void fill_margins(const match::Graph& graph, const BigVector<std::int64_t>& times,
                  ArchiveEdges& result) {
  for (const match::Edge& edge : graph.edges) {
    result.edge_margins.push_back(margin(times[edge.receive], times[edge.send]));
  }
  result.member_margins.resize(result.list.members.size(), tables::Margins::k_none);
  for (std::size_t i = 0; i < graph.exchanges.size(); ++i) {
    const match::Exchange& exchange = graph.exchanges[i];
    const CollectiveInstance& instance = result.list.instances[i];
    const match::Participant* const begins = graph.sends(exchange).data();
    const match::Participant* const ends = graph.receives(exchange).data();
    match::for_deciding_pairs(graph, exchange, times, [&](const auto& begin, const auto& end) {
      const std::uint64_t member = instance.first + instance.begins + (&end - ends);
      result.deciding.push_back({instance.first + (&begin - begins), member, i});
      result.member_margins[member] = margin(times[end.node], times[begin.node]);
    });
  }
}

/// The times of all nodes by the clocks as measured.
BigVector<std::int64_t> measured_times(const constraints::Context& context, const Timeline& t) {
  BigVector<std::int64_t> times;
  constraints::evaluate_nodes(
      context, times, [&](LocationIndex l) { return ClockMap::Cursor(t.measured.maps[l]); });
  return times;
}

}  // namespace

Result<ArchiveEdges> read_edges(const Paths& archive, const CheckOptions& options,
                                Progress* progress) {
  trace::Workers workers(options.threads);
  TRY_ASSIGN(const std::unique_ptr<formats::Source> source,
             formats::open(archive, options.threads, formats::read_options(options)));
  TRY(source->check_options(options));
  TRY_ASSIGN(const Timeline t,
             find_timeline(workers, *source, options, {.purpose = Purpose::bounds}, progress));
  trace::begin_phase(progress, "check");
  ArchiveEdges result;
  TRY_ASSIGN(result.clocks, source->clock_table(t.loaded, options.clock_samples));
  if (t.has_given_edges) result.names = trace::clock_names(t.loaded.trace.definitions);
  result.list = formats::list_of(t.graph, t.mu.ticks);
  TRY_ASSIGN(result.report, check_times(setting_of(workers, *source, t, options, progress),
                                        t.loaded, t.measured.maps));
  result.report.presync = t.measured.method;
  fill_margins(t.graph, measured_times(causal_context(workers, t, progress), t), result);
  TRY(trace::check_unchanged(workers.processes(), t.loaded));
  return result;
}

}  // namespace entrain::engine
