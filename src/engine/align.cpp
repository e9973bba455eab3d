// SPDX-License-Identifier: BSD-3-Clause
#include "engine/align.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <entrain/entrain.hpp>

#include "base/stopwatch.hpp"
#include "base/try.hpp"
#include "bounds/judge.hpp"
#include "bounds/prove.hpp"
#include "clocks/warnings.hpp"
#include "edges/check.hpp"
#include "edges/graph.hpp"
#include "edges/trace.hpp"
#include "engine/edge_counts.hpp"
#include "engine/page_survey.hpp"
#include "lines/simultaneous_ends.hpp"
#include "session/phase.hpp"
#include "session/workers.hpp"

namespace entrain {

namespace engine {

namespace {

Result<void> check_options(const CheckOptions& options) {
  if (options.mu.source == MuSource::delays || options.mu.source == MuSource::round_trip) {
    return fail(ErrorKind::usage,
                "edges show no latencies; give mu in seconds, as 1tick or auto, or min_delay for "
                "each edge");
  }
  if (!options.clock_samples.empty()) {
    return fail(ErrorKind::usage,
                "edges belong to no ranks of MPI, so --clock-samples does not say whose "
                "measurements they are; give them as sessions of the clocks");
  }
  return {};
}

/// Returns the kind of all clocks: `wall` if any clock is one, since less is assumed of wall
/// clocks.
ClockKind kind_of(const Clocks& clocks) {
  ClockKind kind = ClockKind::automatic;
  for (const Clock& clock : clocks.clocks) {
    if (clock.kind == ClockKind::wall) return clock.kind;
    if (clock.kind == ClockKind::timer) kind = clock.kind;
  }
  return kind;
}

bool any_session(const Clocks& clocks) {
  return std::any_of(clocks.clocks.begin(), clocks.clocks.end(),
                     [](const Clock& clock) { return !clock.sessions.empty(); });
}

Result<void> take_graph(const Clocks& clocks, const Edges& edges, const CheckOptions& options,
                        Progress* progress, AlignInput& input) {
  session::begin_phase(progress, "match");
  TRY(edges::check(clocks, edges, options.threads));
  trace::Trace& trace = input.given.loaded.trace;
  trace.path = clocks.name;
  trace.definitions = edges::definitions_of(clocks);
  const MuTicks mu = choose_mu(trace, {}, options.mu).ticks;
  TRY_ASSIGN(edges::EdgeGraph made,
             edges::graph_of(trace.definitions, edges, mu, options.threads, progress));
  trace.locations = edges::skeletons_of(clocks, made.graph);
  for (const trace::LocationSkeleton& location : trace.locations) {
    made.graph.granule.push_back(location.granule);
  }
  input.given.loaded.partition = trace::undivided(trace.definitions);
  input.given.graph = std::move(made.graph);
  input.given.exchanges = edges::exchanges_of(clocks);
  input.left_out = std::move(made.left_out);
  return {};
}

}  // namespace

Result<AlignInput> take_edges(const Clocks& clocks, const Edges& edges, const AlignOptions& options,
                              Progress* progress, bool common_ends) {
  TRY(check_options(options.check));
  AlignInput input;
  input.kind = kind_of(clocks);
  {
    const Stopwatch watch(input.given.match_s);
    TRY(take_graph(clocks, edges, options.check, progress, input));
  }
  if (common_ends && !any_session(clocks)) {
    session::begin_phase(progress, "presync");
    const Stopwatch watch(input.given.presync_s);
    TRY_ASSIGN(input.given.common_ends,
               lines::find_simultaneous_ends(clocks, edges, options.check.threads, progress));
  }
  return input;
}

Result<Alignment> align(AlignInput input, const AlignOptions& options, page::Data* page,
                        Progress* progress) {
  CheckOptions check = options.check;
  if (check.clock_prior.kind == ClockKind::automatic) check.clock_prior.kind = input.kind;
  Alignment result;
  AlignReport& report = result.report;
  session::Workers workers(check.threads);
  const TimelineUse use{.purpose = Purpose::correction, .given = &input.given};
  TRY_ASSIGN(Timeline t, find_timeline(workers, {}, check, use, progress));
  const constraints::Context context = causal_context(workers, t, progress);
  std::optional<PageSurvey> survey;
  if (page != nullptr) survey.emplace(workers, t);
  if (check.bounds.wanted) {
    session::begin_phase(progress, "bounds");
    TRY_ASSIGN(const bounds::ProvenIntervals proven,
               bounds::prove_intervals(context, t.shared_clocks, t.presync, check.bounds));
    const bool rows = check.bounds.rows || (survey && few_rows(t, proven.windows));
    report.bounds = bounds::judge(context.share, proven, t.presync.maps, rows);
    report.bounds->mu_source = t.mu.source;
  }
  session::begin_phase(progress, "check");
  report.before =
      count_edges(context, t.measured.maps, t.domains, check, survey ? survey->before() : nullptr);
  report.before.presync = t.measured.method;
  report.before.clocks = std::move(t.measured.clocks);
  report.after =
      count_edges(context, t.presync.maps, t.domains, check, survey ? survey->after() : nullptr);
  report.after.presync = t.presync.method;
  report.before.mu_source = report.after.mu_source = t.mu.source;
  clocks::warn_of_violations(report.before);
  if (survey) {
    TRY_ASSIGN(*page,
               survey->corrected(t.presync.maps, true, report.bounds ? &*report.bounds : nullptr));
    if (report.bounds && !check.bounds.rows) report.bounds->rows.clear();
  }
  report.timeline = std::move(t.report);
  report.left_out = std::move(input.left_out);
  result.maps = std::move(t.presync.maps);
  return result;
}

}  // namespace engine

Result<Alignment> align(const Clocks& clocks, const Edges& edges, const AlignOptions& options,
                        Progress* progress) {
  const session::MemoryLimit limit(options.check.memory_limit_bytes);
  TRY_ASSIGN(engine::AlignInput input, engine::take_edges(clocks, edges, options, progress));
  return engine::align(std::move(input), options, nullptr, progress);
}

}  // namespace entrain
