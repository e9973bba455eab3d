// SPDX-License-Identifier: BSD-3-Clause
#include "engine/recorded_times.hpp"

#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/try.hpp"
#include "bounds/judge.hpp"
#include "bounds/prove.hpp"
#include "clocks/warnings.hpp"
#include "engine/align.hpp"
#include "engine/edge_counts.hpp"
#include "engine/page_survey.hpp"
#include "session/phase.hpp"
#include "verify/verdict.hpp"

namespace entrain::engine {

namespace fs = std::filesystem;

using formats::Recording;

namespace {

/// Adds the parts of a report that the graph cannot know: calls without edges, and facts about the
/// files.
void complete(const Recording& recording, const CheckOptions& options, CheckReport& report) {
  report.archive = recording.clocks.name;
  report.events = recording.events;
  report.communication_events = recording.calls;
  report.unmatched = recording.unmatched;
  report.skipped = recording.skipped;
  report.coverage = recording.coverage;
  report.judgement = verify::judge(report, options.strict_latency);
  if (report.checked_edges == 0) report.judgement = {Verdict::unproven, Doubt::no_edges};
}

}  // namespace

Result<void> check_use(const CheckOptions& options) {
  if (options.clock_domain != ClockDomain::automatic &&
      options.clock_domain != ClockDomain::location) {
    return fail(
        ErrorKind::usage,
        "which clock stamped what is known of such files, so that --clock-domain knows automatic "
        "and location only");
  }
  return {};
}

CheckOptions with_kind(CheckOptions options) {
  options.clock_domain = ClockDomain::location;
  if (options.clock_prior.kind == ClockKind::automatic) options.clock_prior.kind = ClockKind::wall;
  return options;
}

void set_clocks(const Recording& recording, ClockEstimation clocks, CheckReport& report) {
  report.clocks = std::move(clocks);
  clocks::warn_of_violations(report);
  for (const std::string& warning : recording.warnings) report.clocks.warnings.push_back(warning);
}

Result<void> check_names(const Recording& recording) {
  std::map<fs::path, const fs::path*> names;
  for (const fs::path& file : recording.files) {
    const auto [other, is_new] = names.emplace(file.filename(), &file);
    if (is_new) continue;
    return fail(ErrorKind::input, fmt::format("{} and {} have one name, so that their copies "
                                              "cannot stand in one folder; rename one",
                                              other->second->string(), file.string()));
  }
  return {};
}

Result<void> check_order(const Recording& recording, std::span<const ClockMap> maps) {
  for (std::size_t c = 0; c < maps.size(); ++c) {
    const Clock& clock = recording.clocks.clocks[c];
    if (!clock.events || maps[c].keeps_order(clock.events->first, clock.events->last)) continue;
    return fail(ErrorKind::input, fmt::format("{} of {}: its clock is so far from the others that "
                                              "time would run backward",
                                              clock.process.empty() ? clock.name : clock.process,
                                              recording.clocks.name));
  }
  return {};
}

Result<std::unique_ptr<RecordingTimeline>> RecordingTimeline::take(
    const Run& run, const Recording& recording, const CheckOptions& options, Purpose purpose,
    const std::vector<ClockMap>* aligned) {
  auto seen = std::unique_ptr<RecordingTimeline>(new RecordingTimeline(run, with_kind(options)));
  TRY_ASSIGN(AlignInput input,
             take_edges(recording.clocks, recording.edges(), {.check = seen->options_},
                        run.progress, purpose == Purpose::correction));
  const TimelineUse use{.purpose = purpose, .given = &input.given, .aligned = aligned};
  TRY_ASSIGN(seen->timeline, find_timeline(seen->workers_, {}, seen->options_, use, run.progress));
  return seen;
}

CheckReport RecordingTimeline::count(const Recording& recording, std::span<const ClockMap> maps,
                                     verify::EdgeObserver* observer) {
  const constraints::Context context = causal_context(workers_, timeline, progress_);
  CheckReport report = count_edges(context, maps, timeline.domains, options_, observer);
  report.mu_source = timeline.mu.source;
  complete(recording, options_, report);
  return report;
}

Result<ClockBounds> RecordingTimeline::bounds(std::span<const ClockMap> maps, bool page) {
  session::begin_phase(progress_, "bounds");
  const constraints::Context context = causal_context(workers_, timeline, progress_);
  TRY_ASSIGN(
      const bounds::ProvenIntervals proven,
      bounds::prove_intervals(context, timeline.shared_clocks, timeline.presync, options_.bounds));
  const bool rows = options_.bounds.rows || (page && few_rows(timeline, proven.windows));
  ClockBounds bounds = bounds::judge(context.share, proven, maps, rows);
  bounds.mu_source = timeline.mu.source;
  return bounds;
}

}  // namespace entrain::engine
