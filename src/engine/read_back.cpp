// SPDX-License-Identifier: BSD-3-Clause
#include "engine/read_back.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "base/try.hpp"
#include "clocks/presync.hpp"
#include "otf2/write/compare_rewritten.hpp"
#include "session/overlay.hpp"
#include "session/phase.hpp"
#include "verify/statistics.hpp"

namespace entrain::engine {

namespace {

/// A correction must also keep the order of events, and edges that it dropped are not met.
Judgement judge_correction(const CorrectReport& report) {
  const Judgement& after = report.after.judgement;
  if (report.statistics.order_broken > 0) return {Verdict::violations, Doubt::none};
  const bool dropped = count_of(report.cycles, "dropped_edges") > 0;
  if (after.verdict == Verdict::violations || !dropped) return after;
  return {Verdict::unproven, Doubt::contradictory_edges};
}

/// An archive that was written from a good one and cannot be read: nobody shall get it. Its folder
/// has no name yet; the sentence gives it the one that it would have had.
template <class T>
Result<T> readable(const std::filesystem::path& anchor, const CorrectReport& report,
                   Result<T> result) {
  if (result || result.error().kind != ErrorKind::input) return result;
  const std::string staged = anchor.parent_path().string();
  const std::string named = std::filesystem::path(report.output).parent_path().string();
  std::string why = std::move(result).error().message;
  for (std::size_t at = 0; (at = why.find(staged, at)) != std::string::npos; at += named.size()) {
    why.replace(at, staged.size(), named);
  }
  return fail(ErrorKind::output,
              fmt::format("the corrected archive would be unreadable, so it was not kept: {}; try "
                          "another --presync, or leave that location out",
                          why));
}

/// True if files or records of the original are missing or unknown, which the written archive may
/// have in another form.
bool has_other_files(const CheckReport& report) {
  constexpr std::array k_names{"unknown_records", "undefined_references", "missing_event_files",
                               "missing_definition_files", "truncated_event_files"};
  return std::any_of(k_names.begin(), k_names.end(),
                     [&](const char* name) { return count_of(report.skipped, name) > 0; });
}

}  // namespace

Result<void> ReadBack::run(const std::filesystem::path& anchor, CorrectReport& report) {
  report.after = {};
  TRY(options_.mode == WriteMode::overlay ? overlay(anchor, report) : rewritten(anchor, report));
  report.verified = true;
  report.judgement = judge_correction(report);
  return {};
}

Result<void> ReadBack::planned(CorrectReport& report) {
  session::begin_phase(progress_, "verify");
  TRY_ASSIGN(report.after, check_with_before(original_.loaded, original_.corrected, true));
  TRY(compare(original_.loaded.trace, original_.corrected, PresyncMethod::none, report));
  report.verified = true;
  report.judgement = judge_correction(report);
  return {};
}

Result<void> ReadBack::rewritten(const std::filesystem::path& anchor, CorrectReport& report) {
  TRY_ASSIGN(const std::unique_ptr<otf2::Archive> written,
             agree(processes_, otf2::Archive::open(anchor)));
  const session::LoadedTrace& loaded = original_.loaded;
  const std::vector<LocationIndex> own = loaded.own(processes_);
  TRY_ASSIGN(const otf2::Rewritten rewritten,
             agree(processes_, otf2::compare_rewritten(
                                   {.original = *original_.archive,
                                    .written = *written,
                                    .locations = own,
                                    .maps = original_.corrected},
                                   {.threads = workers_.threads(), .progress = progress_})));
  if (processes_.any(!rewritten.as_mapped)) return as_any_other(anchor, report);
  session::begin_phase(progress_, "verify");
  // The file holds the values of the maps, so these tell what a reader sees.
  TRY_ASSIGN(report.after, check_with_before(loaded, original_.corrected, true));
  if (processes_.any(has_other_files(report.after))) return as_any_other(anchor, report);
  const bool has_clock_offsets = processes_.any(rewritten.has_clock_offsets);
  return compare(loaded.trace, original_.corrected,
                 has_clock_offsets ? PresyncMethod::linear : PresyncMethod::none, report);
}

/// The events of an overlay are those of the original, so they are not read again.
Result<void> ReadBack::overlay(const std::filesystem::path& anchor, CorrectReport& report) {
  session::begin_phase(progress_, "verify");
  clocks::Presynchronised as_read;  // the times that a reader finds
  const bool lacks_definitions = is_any_definition_file_missing();
  {
    TRY_ASSIGN(
        const session::Overlay overlay,
        readable(anchor, report, session::Overlay::open(workers_, anchor, original_.loaded)));
    TRY_ASSIGN(as_read, readable(anchor, report,
                                 clocks::presynchronise(overlay.written().share(processes_),
                                                        clocks::PresyncOptions::of_reader())));
    TRY_ASSIGN(report.after, lacks_definitions
                                 ? check_times(setting(false), overlay.written(), as_read.maps)
                                 : check_with_before(overlay.written(), as_read.maps, false));
  }
  count_events_in_flushes(report.after);
  return compare(original_.loaded.trace, as_read.maps, as_read.method, report);
}

/// Reads a rewritten archive as any other one.
Result<void> ReadBack::as_any_other(const std::filesystem::path& anchor, CorrectReport& report) {
  report.after = {};
  paired_anew_ = true;
  TRY_ASSIGN(const session::LoadedTrace written,
             readable(anchor, report, session::load(workers_, anchor, progress_)));
  session::begin_phase(progress_, "verify");
  TRY_ASSIGN(const clocks::Presynchronised as_read,
             readable(anchor, report,
                      clocks::presynchronise(written.share(processes_),
                                             clocks::PresyncOptions::of_reader())));
  CheckSetting anew = setting(true);
  anew.witness = nullptr;
  TRY_ASSIGN(report.after, check_times(anew, written, as_read.maps));
  return compare(written.trace, as_read.maps, as_read.method, report);
}

Result<void> ReadBack::compare(const trace::Trace& written, std::span<const ClockMap> maps,
                               PresyncMethod presync, CorrectReport& report) {
  report.after.presync = presync;
  report.after.archive = report.output;
  // Bending moves clocks both ways; only what follows it never moves anything back.
  const bool is_bent = processes_.any(original_.measured != original_.presync);
  TRY_ASSIGN(report.statistics,
             statistics(written, maps,
                        is_bent ? std::span(original_.presync) : std::span<const ClockMap>()));
  return {};
}

/// Compares the original as measured with the written archive under the maps `after`.
Result<CorrectionStatistics> ReadBack::statistics(const trace::Trace& written,
                                                  std::span<const ClockMap> after,
                                                  std::span<const ClockMap> start) {
  CorrectionStatistics found;
  const session::LoadedTrace& loaded = original_.loaded;
  TRY(workers_.run(
      written, loaded.partition, [&](const trace::Share& share, unsigned) -> Result<void> {
        TRY_ASSIGN(CorrectionStatistics own,
                   verify::correction_statistics(share.team, share.partition,
                                                 {loaded.trace, original_.measured},
                                                 {written, after}, Cancel(progress_), start));
        if (workers_.speaks(share.team)) found = std::move(own);
        return {};
      }));
  return found;
}

/// Says where violations may come from that an overlay cannot remove: the events of a corrected
/// location that lie inside a buffer flush, where its clock map must be straight.
void ReadBack::count_events_in_flushes(CheckReport& after) {
  std::int64_t events = 0;
  for (const LocationIndex l : original_.loaded.own(processes_)) {
    if (original_.corrected[l] == original_.measured[l]) continue;
    const trace::LocationSkeleton& location = original_.loaded.trace.locations[l];
    for (const trace::FlushInterval& flush : location.flushes) {
      events += static_cast<std::int64_t>(trace::events_inside(location, flush));
    }
  }
  events = processes_.reduce(Team::Reduction::sum, events);
  if (events == 0 || after.violations == 0) return;
  after.skipped.emplace_back("events_in_flushes", static_cast<std::uint64_t>(events));
}

/// A report names the files that are missing, and an overlay has them.
bool ReadBack::is_any_definition_file_missing() {
  const std::vector<LocationIndex> own = original_.loaded.own(processes_);
  return processes_.any(std::any_of(own.begin(), own.end(), [&](LocationIndex l) {
    return original_.loaded.trace.locations[l].definition_file_missing;
  }));
}

CheckSetting ReadBack::setting(bool same_clock_records) const {
  return {.workers = workers_,
          .options = options_.check,
          .mu = original_.mu,
          .domains = original_.domains,
          .progress = progress_,
          .survey = original_.survey,
          .witness = &original_.witness,
          .same_clock_records = same_clock_records};
}

/// Checks these times, and the times as measured of the same events.
Result<CheckReport> ReadBack::check_with_before(const session::LoadedTrace& trace,
                                                std::span<const ClockMap> maps,
                                                bool same_clock_records) {
  const OtherTimes measured{.maps = original_.measured, .survey = original_.survey_before};
  TRY_ASSIGN(verify::Checks checks,
             check_both_times(setting(same_clock_records), trace, maps, &measured));
  before_ = std::move(checks.others);
  if (before_) before_->archive = original_.loaded.trace.path;
  return std::move(checks.report);
}

}  // namespace entrain::engine
