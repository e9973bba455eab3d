// SPDX-License-Identifier: BSD-3-Clause
#include "engine/edges.hpp"

#include <utility>

#include "base/try.hpp"
#include "clocks/samples.hpp"
#include "constraints/node_times.hpp"
#include "edges/trace.hpp"
#include "edges/write_tables.hpp"
#include "engine/edge_counts.hpp"
#include "engine/recordings.hpp"
#include "engine/timeline.hpp"
#include "match/extremes.hpp"
#include "session/phase.hpp"
#include "session/workers.hpp"
#include "verify/pair_counts.hpp"

namespace entrain::engine {
namespace {

void fill_margins(const match::Graph& graph, const BigVector<std::int64_t>& times,
                  ArchiveEdges& result) {
  for (const match::Edge& edge : graph.edges) {
    result.edge_margins.push_back(verify::margin(times[edge.receive], times[edge.send]));
  }
  result.member_margins.resize(result.list.members.size(), edges::Margins::k_none);
  const match::Exchange* last = nullptr;
  std::uint64_t member = 0;
  match::for_demands(
      graph, graph.exchanges, MuTicks{}, times,
      [&](const match::Exchange& one, const match::Participant& receive, std::int64_t demand) {
        if (&one != last) {
          const auto& instance = result.list.instances[&one - graph.exchanges.data()];
          member = instance.first + instance.begins;
          last = &one;
        }
        if (demand != match::k_no_demand) {
          result.member_margins[member] = verify::margin(times[receive.node], demand);
        }
        ++member;
      });
}

/// The times of all nodes by the clocks as measured.
BigVector<std::int64_t> measured_times(const constraints::Context& context, const Timeline& t) {
  BigVector<std::int64_t> times;
  constraints::evaluate_nodes(
      context, times, [&](LocationIndex l) { return ClockMap::Cursor(t.measured.maps[l]); });
  return times;
}

/// A recording knows its edges already.
Result<ArchiveEdges> edges_of(const formats::Recording& recording, const CheckOptions& options,
                              Progress* progress) {
  session::Workers workers(options.threads);
  TRY_ASSIGN(TimedRecording timed,
             time_recording({workers.processes(), progress}, recording, options));
  const Timeline& t = timed.timeline;
  ArchiveEdges result;
  result.clocks = recording.clocks;
  result.list = edges::list_of(t.graph, t.mu.ticks);
  result.report = std::move(timed.counts);
  fill_margins(t.graph, measured_times(causal_context(workers, t, progress), t), result);
  return result;
}

}  // namespace

Result<ArchiveEdges> read_edges(const Paths& archive, const CheckOptions& options,
                                Progress* progress) {
  TRY_ASSIGN(const auto recording,
             open_recording(archive, options.threads, options.max_unpacked_bytes));
  if (recording) return edges_of(*recording, options, progress);
  session::Workers workers(options.threads);
  TRY_ASSIGN(const Timeline t, find_timeline(workers, archive.front(), options,
                                             {.purpose = Purpose::bounds}, progress));
  const constraints::Context context = causal_context(workers, t, progress);
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
  fill_margins(t.graph, measured_times(context, t), result);
  TRY(session::check_unchanged(workers.processes(), t.loaded));
  return result;
}

}  // namespace entrain::engine
