// SPDX-License-Identifier: BSD-3-Clause
#include "engine/recordings.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/file.hpp"
#include "base/stopwatch.hpp"
#include "base/try.hpp"
#include "chrome/chrome.hpp"
#include "chrome/manifest.hpp"
#include "clocks/presync.hpp"
#include "engine/align.hpp"
#include "engine/page_survey.hpp"
#include "engine/recorded_times.hpp"
#include "engine/timeline.hpp"
#include "engine/untied_clocks.hpp"
#include "formats/ignored_files.hpp"
#include "json/document.hpp"
#include "session/phase.hpp"
#include "session/workers.hpp"
#include "sim/distort.hpp"
#include "spans/recording.hpp"

namespace entrain::engine {

namespace fs = std::filesystem;

namespace {

using formats::Recording;

tl::unexpected<Error> useless(std::string sentence) {
  return fail(ErrorKind::usage, std::move(sentence));
}

Result<bool> may_be_recording(const fs::path& file) {
  TRY_ASSIGN(const bool are_spans, spans::are_spans(file));
  if (are_spans) return true;
  return chrome::may_be_trace(file);
}

/// The files of a path, without those of a folder that hold something else; a note names these. If
/// all do, all are kept: their reader says what is wrong.
Result<std::vector<fs::path>> chosen_files(const fs::path& path, std::vector<std::string>& notes) {
  TRY_ASSIGN(std::vector<fs::path> files, recording_files(path));
  if (files.size() < 2) return files;
  std::vector<fs::path> chosen, others;
  for (const fs::path& file : files) {
    TRY_ASSIGN(const bool is_chosen, may_be_recording(file));
    (is_chosen ? chosen : others).push_back(file);
  }
  if (chosen.empty() || others.empty()) return files;
  notes.push_back(formats::note_of_ignored(others, " of " + path.string()));
  return chosen;
}

/// Content of the files of a run.
enum class Kind : std::uint8_t { spans, trace };

/// Leaves out the files that `is_empty` names.
template <class IsEmpty>
void leave_out(std::vector<fs::path>& files, const IsEmpty& is_empty,
               std::vector<std::string>& notes) {
  const auto full = [&](const fs::path& file) { return !is_empty(file); };
  const auto empty = std::stable_partition(files.begin(), files.end(), full);
  if (empty == files.end()) return;
  notes.push_back(formats::note_of_ignored(
      std::span(files).subspan(static_cast<std::size_t>(empty - files.begin())), ""));
  files.erase(empty, files.end());
}

/// An empty list, or an answer without spans, looks like spans and may stand beside a training run;
/// so may a trace without events beside spans. Files of both kinds that hold something are refused.
Result<Kind> choose_kind(std::vector<fs::path>& files, std::vector<std::string>& notes,
                         std::uint64_t max_unpacked) {
  std::vector<fs::path> spans, traces;  // each file is looked at once: it may change meanwhile
  for (fs::path& file : files) {
    TRY_ASSIGN(const bool are_spans, spans::are_spans(file));
    (are_spans ? spans : traces).push_back(std::move(file));
  }
  const auto mixed = [&] { return !spans.empty() && !traces.empty(); };
  const auto no_spans = [&](const fs::path& file) { return spans::holds_none(file, max_unpacked); };
  const auto no_events = [&](const fs::path& file) {
    return chrome::holds_none(file, max_unpacked);
  };
  if (mixed()) leave_out(spans, no_spans, notes);
  if (mixed()) leave_out(traces, no_events, notes);
  if (mixed()) {
    return fail(ErrorKind::input,
                fmt::format("{} holds spans of services, but {} does not: they are no files of one "
                            "run; give them separately",
                            spans.front().string(), traces.front().string()));
  }
  const Kind kind = spans.empty() ? Kind::trace : Kind::spans;
  files = std::move(kind == Kind::spans ? spans : traces);
  return kind;
}

}  // namespace

Result<std::vector<fs::path>> recording_files(const fs::path& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    // The reader of archives reports what it cannot read.
    const bool is_one = json::is_document_name(path) || spans::are_spans(path).value_or(false);
    return is_one ? std::vector<fs::path>{path} : std::vector<fs::path>{};
  }
  std::vector<fs::path> files;
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".otf2") return std::vector<fs::path>();
    const fs::path name = it->path().filename();
    std::error_code unknown;
    if (json::is_document_name(name) && name != chrome::k_manifest_name &&
        !it->is_directory(unknown)) {
      files.push_back(it->path());
    }
  }
  if (error) {
    return fail(ErrorKind::input,
                fmt::format("cannot read {}: {}", path.string(), error.message()));
  }
  std::sort(files.begin(), files.end());
  return files;
}

Paths paths_of(const std::vector<std::string>& names) { return {names.begin(), names.end()}; }

Result<std::unique_ptr<Recording>> open_recording(const Paths& paths, unsigned threads,
                                                  std::uint64_t max_unpacked) {
  std::vector<fs::path> files;
  std::vector<std::string> notes;
  const fs::path* other_kind = nullptr;  // the last one: it may be one argument too many
  for (const fs::path& path : paths) {
    TRY_ASSIGN(const std::vector<fs::path> own, chosen_files(path, notes));
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
  // Not by folders: a copy of all files in one folder is the same run in the same order.
  std::sort(files.begin(), files.end(), [](const fs::path& a, const fs::path& b) {
    return std::pair(a.filename(), a) < std::pair(b.filename(), b);
  });
  TRY_ASSIGN(const Kind kind, choose_kind(files, notes, max_unpacked));
  double read_s = 0;
  std::unique_ptr<Recording> recording;
  {
    const Stopwatch watch(read_s);
    TRY_ASSIGN(recording, kind == Kind::spans ? spans::read(files, threads, max_unpacked)
                                              : chrome::read(files, threads, max_unpacked));
  }
  session::MemoryLimit::set_aside_what_is_read();
  recording->read_s = read_s;
  recording->notes.insert(recording->notes.end(), notes.begin(), notes.end());
  warn_of_untied_clocks(*recording);
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

Result<std::unique_ptr<Recording>> open_recording(Team& processes, const Paths& paths,
                                                  unsigned threads, std::uint64_t max_unpacked) {
  TRY_ASSIGN(auto recording, agree(processes, open_recording(paths, threads, max_unpacked)));
  Result<void> shared;
  if (recording && processes.size() > 1) {
    shared = useless("only OTF2 archives are shared among processes");
  }
  TRY(processes.agree(std::move(shared)));
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
  info.notes.insert(info.notes.end(), recording.warnings.begin(), recording.warnings.end());
  return info;
}

Result<CheckReport> check_recording(const Run& run, const Recording& recording,
                                    const CheckOptions& options) {
  TRY(check_use(options));
  TRY_ASSIGN(const std::unique_ptr<RecordingTimeline> seen,
             RecordingTimeline::take(run, recording, options, Purpose::bounds));
  const std::vector<ClockMap>& maps = seen->timeline.presync.maps;
  std::optional<ClockBounds> bounds;
  if (options.bounds.wanted) {
    TRY_ASSIGN(bounds, seen->bounds(maps, run.page != nullptr));
  }
  std::optional<PageSurvey> survey;
  if (run.page != nullptr) survey.emplace(seen->workers(), seen->timeline);
  session::begin_phase(run.progress, "check");
  CheckReport report = seen->count(recording, maps, survey ? survey->before() : nullptr);
  report.presync = seen->timeline.presync.method;
  set_clocks(recording, seen->timeline.presync.clocks, report);
  if (survey) {
    TRY_ASSIGN(*run.page, survey->checked(bounds ? &*bounds : nullptr));
    if (bounds && !options.bounds.rows) bounds->rows.clear();
  }
  report.bounds = std::move(bounds);
  for (const std::string& note : recording.notes) report.clocks.warnings.push_back(note);
  return report;
}

Result<TimedRecording> time_recording(const Run& run, const Recording& recording,
                                      const CheckOptions& options) {
  TRY(check_use(options));
  TRY_ASSIGN(const std::unique_ptr<RecordingTimeline> seen,
             RecordingTimeline::take(run, recording, options, Purpose::bounds));
  session::begin_phase(run.progress, "check");
  TimedRecording timed;
  timed.counts = seen->count(recording, seen->timeline.measured.maps);
  timed.counts.presync = seen->timeline.measured.method;
  timed.timeline = std::move(seen->timeline);
  return timed;
}

Result<DistortReport> distort_recording(const Recording& recording, const Target& output,
                                        const DistortOptions& options, Progress* progress) {
  TRY(check_names(recording));
  CheckOptions check;
  check.threads = options.threads;
  TRY_ASSIGN(AlignInput input,
             take_edges(recording.clocks, recording.edges(), {.check = check}, progress, false));
  const trace::Trace& trace = input.given.loaded.trace;
  TRY_ASSIGN(const clocks::Presynchronised presync,
             clocks::presynchronise(trace, clocks::PresyncOptions::of_reader()));
  TRY_ASSIGN(sim::Distortion distortion, sim::distort(trace, presync.maps, options));
  TRY(check_order(recording, distortion.maps));
  TRY_ASSIGN(OutputFolder folder, OutputFolder::create(output.path, output.rule));
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
