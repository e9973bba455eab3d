// SPDX-License-Identifier: BSD-3-Clause
#include "engine/recordings.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

#include <fmt/core.h>

#include "base/file.hpp"
#include "base/link.hpp"
#include "base/peak_memory.hpp"
#include "base/staging.hpp"
#include "base/stopwatch.hpp"
#include "base/try.hpp"
#include "causal/prove.hpp"
#include "chrome/chrome.hpp"
#include "chrome/manifest.hpp"
#include "clc/amortize.hpp"
#include "clocks/presync.hpp"
#include "clocks/warnings.hpp"
#include "engine/align.hpp"
#include "engine/amortization.hpp"
#include "engine/constant_shifts.hpp"
#include "engine/correct_options.hpp"
#include "engine/edge_counts.hpp"
#include "engine/fewest_moves.hpp"
#include "engine/timeline.hpp"
#include "json/document.hpp"
#include "session/phase.hpp"
#include "session/workers.hpp"
#include "sim/distort.hpp"
#include "spans/recording.hpp"
#include "verify/verdict.hpp"

namespace entrain::engine {

namespace fs = std::filesystem;

namespace {

using formats::Recording;

constexpr double k_percentile = 0.99;

tl::unexpected<Error> useless(std::string sentence) {
  return fail(ErrorKind::usage, std::move(sentence));
}

Result<void> check_use(const Run& run, const CheckOptions& options) {
  if (run.processes.size() > 1) return useless("only OTF2 archives are shared among processes");
  if (run.page != nullptr) return useless("--report needs an OTF2 archive; try --json");
  if (options.clock_domain != ClockDomain::automatic &&
      options.clock_domain != ClockDomain::location) {
    return useless(
        "which clock stamped what is known of such files, so that --clock-domain knows automatic "
        "and location only");
  }
  return {};
}

Result<void> check_use(const Run& run, const CorrectOptions& options) {
  TRY(check_options(options));
  TRY(check_use(run, options.check));
  if (options.mode == WriteMode::overlay && options.mark_offsets) {
    return useless("--mark-offsets needs --mode rewrite: an overlay leaves files as they are");
  }
  return {};
}

CheckOptions with_kind(CheckOptions options) {
  options.clock_domain = ClockDomain::location;
  if (options.clock_prior.kind == ClockKind::automatic) options.clock_prior.kind = ClockKind::wall;
  return options;
}

/// What the graph cannot know: calls without edges, and what the files are.
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

/// The clocks of a report, and what there is to warn of.
void set_clocks(const Recording& recording, ClockEstimation clocks, CheckReport& report) {
  report.clocks = std::move(clocks);
  clocks::warn_of_violations(report);
  for (const std::string& warning : recording.warnings) report.clocks.warnings.push_back(warning);
}

/// The result of a correction may be replaced, and nothing else.
ReplaceRule replace_rule(bool force) {
  if (!force) return {};
  return [](const fs::path& existing) -> Result<void> {
    std::error_code error;
    bool own = fs::is_directory(existing, error);
    for (fs::directory_iterator it(existing, error), end; !error && it != end;
         it.increment(error)) {
      own &= json::is_document_name(it->path());
    }
    if (!error && own) return {};
    return fail(ErrorKind::output,
                fmt::format("{} is not replaced, because it holds more than files of JSON; remove "
                            "it or choose another folder",
                            existing.string()));
  };
}

/// A recording's edges with the times that clock maps give them.
class Seen {
 public:
  static Result<std::unique_ptr<Seen>> take(const Run& run, const Recording& recording,
                                            const CheckOptions& options, Purpose purpose) {
    auto seen = std::unique_ptr<Seen>(new Seen(run, with_kind(options)));
    TRY_ASSIGN(AlignInput input, take_edges(recording.clocks, recording.edges(),
                                            {.check = seen->options_}, run.progress));
    const TimelineUse use{.purpose = purpose, .given = &input.given};
    TRY_ASSIGN(seen->timeline,
               find_timeline(seen->workers_, {}, seen->options_, use, run.progress));
    return seen;
  }

  [[nodiscard]] CheckReport count(const Recording& recording, std::span<const ClockMap> maps) {
    const causal::Context context = causal_context(workers_, timeline, progress_);
    CheckReport report = count_edges(context, maps, timeline.domains, options_);
    report.mu_source = timeline.mu.source;
    complete(recording, options_, report);
    return report;
  }

  Result<ClockBounds> bounds(std::span<const ClockMap> maps) {
    session::begin_phase(progress_, "bounds");
    const causal::Context context = causal_context(workers_, timeline, progress_);
    TRY_ASSIGN(const causal::ProvenIntervals proven,
               causal::prove_intervals(context, timeline.shared_clocks, timeline.presync,
                                       options_.bounds));
    ClockBounds bounds = causal::judge(context.share, proven, maps, options_.bounds.rows);
    bounds.mu_source = timeline.mu.source;
    return bounds;
  }

  session::Workers& workers() { return workers_; }

  Timeline timeline;

 private:
  Seen(const Run& run, CheckOptions options)
      : options_(std::move(options)),
        workers_(run.processes, options_.threads),
        progress_(run.progress) {}

  CheckOptions options_;
  session::Workers workers_;
  Progress* progress_;
};

/// Aligns the clocks again, if more of them can stay as they are.
Result<void> keep_innocent_clocks(const Run& run, const Recording& recording,
                                  const CheckOptions& options, Seen& seen) {
  Timeline& t = seen.timeline;
  const bool all_free = options.presync == Presync::automatic && t.mu.ticks == MuTicks{} &&
                        (options.reference.empty() || options.reference == "consensus");
  if (!all_free || !t.violated || !recording.list.instances.empty()) return {};
  TRY_ASSIGN(std::optional<FewestMoves> moves,
             find_fewest_moves(recording.clocks, recording.edges(), t.presync.maps,
                               with_kind(options), run.progress));
  if (!moves) return {};
  t.presync.clocks.reason =
      fmt::format("{} of {} clocks stay as they are; the others are aligned to them by messages",
                  moves->kept, t.presync.maps.size());
  t.presync.maps = std::move(moves->maps);
  t.presync.method = t.report.presync = "causal";
  t.report.reason = t.presync.clocks.reason;
  const auto still = std::find_if(t.presync.maps.begin(), t.presync.maps.end(),
                                  [](const ClockMap& map) { return map.is_identity(); });
  t.reference.location = static_cast<LocationIndex>(still - t.presync.maps.begin());
  measure_shift(seen.workers(), t);
  return {};
}

/// The timeline that a correction starts from.
Result<std::unique_ptr<Seen>> aligned(const Run& run, const Recording& recording,
                                      const CheckOptions& options) {
  TRY_ASSIGN(std::unique_ptr<Seen> seen, Seen::take(run, recording, options, Purpose::correction));
  TRY(keep_innocent_clocks(run, recording, options, *seen));
  return seen;
}

/// Removes the violations that bent clocks leave.
Result<std::vector<ClockMap>> amortize(const Run& run, Seen& seen, const CorrectOptions& options,
                                       CorrectReport& report) {
  Timeline& t = seen.timeline;
  const clc::Options how = amortization_options(options, t, seen.workers().threads(), true);
  match::Graph graph = t.graph;
  TRY_ASSIGN(clc::Amortization result,
             clc::amortize(t.loaded.share(run.processes), std::move(graph), t.presync.maps, how,
                           run.progress));
  report_amortization(result, t, report);
  return std::move(result.maps);
}

/// Where an event was on its clock, and how far it moved.
struct Move {
  std::uint32_t clock = 0;
  std::uint64_t time = 0;
  std::int64_t by = 0;
};

/// Each event once, in order.
std::vector<Move> distinct(std::vector<Move> moves) {
  const auto place = [](const Move& move) { return std::pair(move.clock, move.time); };
  std::sort(moves.begin(), moves.end(),
            [&](const Move& a, const Move& b) { return place(a) < place(b); });
  const auto same = [&](const Move& a, const Move& b) { return place(a) == place(b); };
  moves.erase(std::unique(moves.begin(), moves.end(), same), moves.end());
  return moves;
}

std::vector<Move> moves_between(const Edges& before, const Edges& after) {
  std::vector<Move> moves;
  const auto add = [&](std::uint32_t clock, std::uint64_t from, std::uint64_t to) {
    moves.push_back({clock, from, static_cast<std::int64_t>(to - from)});
  };
  for (std::size_t i = 0; i < before.cause_clock.size(); ++i) {
    add(before.cause_clock[i], before.cause_time[i], after.cause_time[i]);
    add(before.effect_clock[i], before.effect_time[i], after.effect_time[i]);
  }
  for (std::size_t i = 0; i < before.members.size(); ++i) {
    add(before.members[i].clock, before.members[i].time, after.members[i].time);
  }
  return distinct(std::move(moves));
}

std::vector<Move> moves_by(std::span<const ClockMap> maps, const Edges& edges) {
  std::vector<Move> moves;
  const auto add = [&](std::uint32_t clock, std::uint64_t time) {
    moves.push_back({clock, time, maps[clock](time) - static_cast<std::int64_t>(time)});
  };
  for (std::size_t i = 0; i < edges.cause_clock.size(); ++i) {
    add(edges.cause_clock[i], edges.cause_time[i]);
    add(edges.effect_clock[i], edges.effect_time[i]);
  }
  for (const InstanceMember& member : edges.members) add(member.clock, member.time);
  return distinct(std::move(moves));
}

/// How far events at ends of edges moved.
CorrectionStatistics statistics_of(const std::vector<Move>& moves) {
  CorrectionStatistics result;
  std::vector<std::int64_t> moved;
  for (const Move& move : moves) {
    if (move.by != 0) moved.push_back(std::abs(move.by));
    result.mean_ticks += std::abs(static_cast<double>(move.by));
  }
  result.compared_events = moves.size();
  result.moved_events = moved.size();
  if (moved.empty()) return result;
  result.mean_ticks /= static_cast<double>(moved.size());
  std::sort(moved.begin(), moved.end());
  const auto rank = static_cast<std::size_t>(k_percentile * static_cast<double>(moved.size() - 1));
  result.p99_ticks = moved[rank];
  result.max_ticks = moved.back();
  return result;
}

/// Reads back what was written, and counts its edges by its own times.
Result<void> verify_written(const Run& run, const Recording& before, const fs::path& folder,
                            const CorrectOptions& options, CorrectReport& report) {
  const Stopwatch watch(report.phases.verify);
  session::begin_phase(run.progress, "verify");
  TRY_ASSIGN(const std::unique_ptr<Recording> written, before.read_back(folder));
  CheckOptions check = options.check;
  check.presync = Presync::none;
  TRY_ASSIGN(const std::unique_ptr<Seen> seen, Seen::take(run, *written, check, Purpose::bounds));
  report.after = seen->count(*written, seen->timeline.measured.maps);
  set_clocks(*written, {}, report.after);
  report.after.presync = "none";
  report.after.archive = report.output;
  report.statistics = statistics_of(moves_between(before.edges(), written->edges()));
  report.verified = true;
  report.judgement = report.after.judgement;
  if (count_of(report.cycles, "dropped_edges") > 0 &&
      report.judgement->verdict != Verdict::violations) {
    report.judgement = Judgement{Verdict::unproven, Doubt::contradictory_edges};
  }
  return {};
}

/// Counts the edges as a viewer shows them that shifts each file as a whole.
void verify_overlay(const Recording& recording, std::span<const ClockMap> shifts, Seen& seen,
                    CorrectReport& report) {
  const Stopwatch watch(report.phases.verify);
  report.after = seen.count(recording, shifts);
  set_clocks(recording, {}, report.after);
  report.after.presync = "constant";
  report.after.archive = report.output;
  report.statistics = statistics_of(moves_by(shifts, recording.edges()));
  report.verified = true;
  report.judgement = report.after.judgement;
}

/// Refuses files of one name from several folders, whose copies would be one.
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

/// Refuses maps under which the events of a clock would change their order.
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

}  // namespace

std::vector<fs::path> recording_files(const fs::path& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    return json::is_document_name(path) || spans::are_spans(path) ? std::vector<fs::path>{path}
                                                                  : std::vector<fs::path>{};
  }
  std::vector<fs::path> files;
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".otf2") return {};
    const fs::path name = it->path().filename();
    if (json::is_document_name(name) && name != chrome::k_manifest_name) {
      files.push_back(it->path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

Paths paths_of(const std::vector<std::string>& names) { return {names.begin(), names.end()}; }

Result<std::unique_ptr<Recording>> open_recording(const Paths& paths, unsigned threads) {
  std::vector<fs::path> files;
  const fs::path* other_kind = nullptr;  // the last one: it may be one argument too many
  for (const fs::path& path : paths) {
    const std::vector<fs::path> own = recording_files(path);
    if (own.empty()) other_kind = &path;
    files.insert(files.end(), own.begin(), own.end());
  }
  if (other_kind != nullptr && paths.size() == 1) return std::unique_ptr<Recording>();
  if (other_kind != nullptr) {
    return useless(
        fmt::format("{} is no file of JSON (.json, .jsonl, .json.gz), and only such files "
                    "are given together; give one archive",
                    other_kind->string()));
  }
  const auto other = std::stable_partition(files.begin(), files.end(), spans::are_spans);
  if (other != files.begin() && other != files.end()) {
    return fail(ErrorKind::input,
                fmt::format("{} holds spans of services, but {} does not: they are no files of one "
                            "run; give them separately",
                            files.front().string(), other->string()));
  }
  const bool are_spans = other == files.end();
  double read_s = 0;
  std::unique_ptr<Recording> recording;
  {
    const Stopwatch watch(read_s);
    TRY_ASSIGN(recording, are_spans ? spans::read(files, threads) : chrome::read(files, threads));
  }
  recording->read_s = read_s;
  for (const fs::path& path : paths) {
    if (!file_exists(path / chrome::k_manifest_name)) continue;
    recording->notes.push_back(
        fmt::format("{} is for Perfetto and not applied here: times are those of the files",
                    (path / chrome::k_manifest_name).string()));
  }
  recording->clocks.name =
      paths.size() == 1 ? paths.front().string()
                        : fmt::format("{} and {} more", paths.front().string(), paths.size() - 1);
  return recording;
}

ArchiveInfo inspect_recording(const Recording& recording) {
  ArchiveInfo info;
  info.archive = recording.clocks.name;
  info.format = recording.format;
  info.locations = info.processes = recording.clocks.clocks.size();
  info.events = recording.events;
  info.event_bytes = recording.bytes;
  info.communication_events = recording.calls;
  info.groups = recording.groups;
  info.collectives = recording.operations;
  info.resolution_hz = recording.clocks.resolution_hz;
  bool any = false;
  for (const Clock& clock : recording.clocks.clocks) {
    info.empty_locations += clock.events ? 0 : 1;
    if (!clock.events) continue;
    info.first_ticks = any ? std::min(info.first_ticks, clock.events->first) : clock.events->first;
    info.last_ticks = std::max(info.last_ticks, clock.events->last);
    any = true;
  }
  info.anomalies = recording.anomalies;
  for (const Counters* counters : {&recording.unmatched, &recording.skipped}) {
    info.anomalies.insert(info.anomalies.end(), counters->begin(), counters->end());
  }
  info.notes = recording.notes;
  return info;
}

Result<CheckReport> check_recording(const Run& run, const Recording& recording,
                                    const CheckOptions& options) {
  TRY(check_use(run, options));
  const session::MemoryLimit limit(options.memory_limit_bytes);
  TRY_ASSIGN(const std::unique_ptr<Seen> seen,
             Seen::take(run, recording, options, Purpose::bounds));
  std::optional<ClockBounds> bounds;
  if (options.bounds.wanted) {
    TRY_ASSIGN(bounds, seen->bounds(seen->timeline.presync.maps));
  }
  session::begin_phase(run.progress, "check");
  CheckReport report = seen->count(recording, seen->timeline.presync.maps);
  report.presync = seen->timeline.presync.method;
  set_clocks(recording, std::move(seen->timeline.presync.clocks), report);
  report.bounds = std::move(bounds);
  for (const std::string& note : recording.notes) report.clocks.warnings.push_back(note);
  return report;
}

Result<CorrectReport> correct_recording(const Run& run, const Recording& recording,
                                        const fs::path& output, const CorrectOptions& options) {
  TRY(check_use(run, options));
  TRY(check_names(recording));
  TRY(StagedDirectory::check(output, replace_rule(options.force)));
  const session::MemoryLimit limit(options.check.memory_limit_bytes);
  CorrectReport report;
  TRY_ASSIGN(const std::unique_ptr<Seen> seen, aligned(run, recording, options.check));
  Timeline& t = seen->timeline;
  report.before = seen->count(recording, t.measured.maps);
  report.before.presync = t.measured.method;
  set_clocks(recording, t.measured.clocks, report.before);
  session::begin_phase(run.progress, "correct");
  std::vector<ClockMap> maps = t.presync.maps;
  const bool overlay = options.mode == WriteMode::overlay;
  if (overlay) {
    ConstantShifts shifts = constant_shifts(recording, maps);
    maps = std::move(shifts.maps);
    if (!shifts.note.empty()) t.report.notes.push_back(std::move(shifts.note));
  } else if (options.amortize) {
    TRY_ASSIGN(maps, amortize(run, *seen, options, report));
  }
  report.phases.scan = recording.read_s;
  report.phases.match = t.match_s;
  report.phases.presync = t.presync_s;
  if (options.check.bounds.wanted) {
    const Stopwatch watch(report.phases.bounds);
    TRY_ASSIGN(report.bounds, seen->bounds(maps));
  }
  TRY(check_order(recording, maps));
  TRY_ASSIGN(StagedDirectory folder, StagedDirectory::create(output, replace_rule(options.force)));
  report.mode = overlay ? "overlay" : "rewrite";
  report.output = folder.target().string();
  report.leftovers_removed = folder.leftovers_removed();
  {
    const Stopwatch watch(report.phases.write);
    if (overlay) {
      TRY_ASSIGN(const LinkCounts links,
                 recording.write_overlay(folder.path(), folder.target(), maps, options.link));
      report.link = text_of(links);
    } else {
      TRY(options.mark_offsets ? recording.write_marked(folder.path(), maps)
                               : recording.write(folder.path(), maps));
    }
  }
  if (options.verify && overlay) {
    verify_overlay(recording, maps, *seen, report);
  } else if (options.verify) {
    TRY(verify_written(run, recording, folder.path(), options, report));
  }
  report.timeline = std::move(t.report);
  for (const std::string& note : recording.notes) report.timeline.notes.push_back(note);
  TRY(folder.commit());
  report.peak_memory_bytes = peak_memory_bytes();
  return report;
}

Result<DistortReport> distort_recording(const Recording& recording, const fs::path& output,
                                        const DistortOptions& options, Progress* progress) {
  TRY(check_names(recording));
  TRY(StagedDirectory::check(output, replace_rule(options.force)));
  CheckOptions check;
  check.threads = options.threads;
  TRY_ASSIGN(AlignInput input,
             take_edges(recording.clocks, recording.edges(), {.check = check}, progress));
  const trace::Trace& trace = input.given.loaded.trace;
  TRY_ASSIGN(const clocks::Presynchronised presync,
             clocks::presynchronise(trace, clocks::PresyncOptions::of_reader()));
  TRY_ASSIGN(sim::Distortion distortion, sim::distort(trace, presync.maps, options));
  TRY(check_order(recording, distortion.maps));
  TRY_ASSIGN(StagedDirectory folder, StagedDirectory::create(output, replace_rule(options.force)));
  TRY(recording.write(folder.path(), distortion.maps));
  DistortReport report = std::move(distortion.report);
  report.input = recording.clocks.name;
  report.output = folder.target().string();
  report.events = recording.events;
  report.leftovers_removed = folder.leftovers_removed();
  TRY(folder.commit());
  return report;
}

}  // namespace entrain::engine
