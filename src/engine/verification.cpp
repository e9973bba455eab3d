// SPDX-License-Identifier: BSD-3-Clause
#include "engine/verification.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/core.h>

#include "base/big_vector.hpp"
#include "base/stopwatch.hpp"
#include "base/try.hpp"
#include "formats/registry/open.hpp"
#include "trace/phase.hpp"

namespace entrain::engine {

namespace {

/// A correction must also keep the order of events, and edges that it dropped are not met;
/// `is_paired_anew`: the check knows of those.
Judgement judge_correction(const CorrectReport& report, bool is_paired_anew) {
  const Judgement& after = report.after.judgement;
  if (report.statistics.order_broken > 0) return {Verdict::violations, Doubt::none};
  const bool dropped = !is_paired_anew && count_of(report.cycles, "dropped_edges") > 0;
  if (after.verdict == Verdict::violations || !dropped) return after;
  return {Verdict::unproven, Doubt::contradictory_edges};
}

/// Frees memory for the checker, which needs some 32 bytes per communication event and some of
/// its own.
void make_room(const trace::Trace& trace) {
  constexpr std::uint64_t k_per_event = 32;
  std::uint64_t events = 0;
  for (const trace::LocationSkeleton& l : trace.locations) events += l.events.size();
  BigMemory::release(k_per_event * events);
}

bool is_anything_left_out(const CheckReport& report) {
  return !report.unmatched.empty() || !report.skipped.empty();
}

bool have_same_counts(const trace::Trace& a, const trace::Trace& b) {
  return std::ranges::equal(a.locations, b.locations, [](const auto& x, const auto& y) {
    return x.events.size() == y.events.size();
  });
}

}  // namespace

CheckSetting Verification::setting(const formats::Source& source, page::Survey* survey) const {
  CheckSetting setting =
      setting_of(of_.workers, source, of_.timeline, of_.options.check, of_.progress);
  setting.survey = survey;
  return setting;
}

Result<void> Verification::written(const formats::Staged& staged) {
  if (is_overlay() && of_.source.shifts_as_a_whole(of_.options.mode)) {
    TRY(planned());
    report_.after.presync = PresyncMethod::constant;
    return {};
  }
  const Stopwatch watch(report_.run.phases.verify);
  // A recording that is read back takes as much memory as it took before.
  if (!of_.timeline.has_given_edges) make_room(loaded().trace);
  TRY_ASSIGN(std::unique_ptr<formats::Reread> read,
             staged.read_back(of_.workers, loaded(), false, of_.progress));
  trace::begin_phase(of_.progress, "verify");
  TRY(check_written(*read));
  // Where records are missing, a reader pairs what is left by the new times, which may be other
  // pairs than those that were corrected: the verdict is on what the reader finds.
  if (read->source() == nullptr && is_anything_missing()) {
    if (!is_overlay() && !read->has_own_stamps()) {
      TRY_ASSIGN(read, staged.read_back(of_.workers, loaded(), true, of_.progress));
      trace::begin_phase(of_.progress, "verify");
    }
    TRY(check_as_reader(*read, staged));
  }
  TRY(take_statistics(*read));
  read.reset();
  if (is_overlay()) count_events_in_flushes();
  finish();
  return cancel_.agree(of_.workers.processes());
}

Result<void> Verification::planned() {
  const Stopwatch watch(report_.run.phases.verify);
  make_room(loaded().trace);
  trace::begin_phase(of_.progress, "verify");
  TRY(check_with_before(loaded(), of_.maps, true));
  if (of_.timeline.has_given_edges) warn_of(of_.paired);
  report_.after.presync = PresyncMethod::none;
  TRY(take_statistics(loaded().trace, {loaded().trace, of_.maps}));
  finish();
  return cancel_.agree(of_.workers.processes());
}

/// True if the check of the corrected times found no cycle among the edges of the original. It
/// does so at small cost: they are only looked for where edges go backward. Where records are
/// missing, times may decide which of them belong together, and so which edges there are.
bool Verification::is_seen_acyclic() const {
  return report_.verified && !is_paired_anew_ && !is_anything_left_out(report_.after);
}

/// True if records may be missing: operations have no partner, or pairs were guessed. All
/// operations that are left may have partners. Pairs that an explanation dropped are no reason:
/// their records are there.
bool Verification::is_anything_missing() const {
  const trace::Witness& guessed = of_.timeline.witness;
  const bool is_left_out = std::ranges::any_of(
      report_.after.skipped, [](const auto& one) { return one.first != "contradicting_pairs"; });
  return !report_.after.unmatched.empty() || is_left_out ||
         of_.workers.processes().any(!guessed.channels.empty() || !guessed.calls.empty());
}

Result<CheckReport> Verification::before() {
  if (checked_before_) return *std::exchange(checked_before_, std::nullopt);
  trace::begin_phase(of_.progress, "check");
  make_room(loaded().trace);
  CheckSetting with = setting(of_.paired, of_.survey_before);
  with.known_acyclic = is_seen_acyclic();
  return check_times(with, loaded(), of_.timeline.maps_as_stored());
}

/// Checks what was written, by its own edges if it names them.
Result<void> Verification::check_written(const formats::Reread& read) {
  if (read.source() != nullptr) return check_given(*read.source());
  if (read.has_own_stamps()) return check_stamps(read);
  TRY(check_with_before(read.loaded(), read.maps, !is_overlay()));
  if (read.has_new_records) checked_before_.reset();
  report_.after.presync = read.presync;
  return {};
}

/// Checks what was written by its own stamps.
Result<void> Verification::check_stamps(const formats::Reread& read) {
  is_paired_anew_ = true;
  CheckSetting with = setting(of_.source, of_.survey_after);
  with.witness = nullptr;
  std::vector<trace::WrongPair> moved(with.wrong_pairs.begin(), with.wrong_pairs.end());
  for (trace::WrongPair& pair : moved) {
    pair.sent = static_cast<std::uint64_t>(of_.maps[pair.from](pair.sent));
    pair.received = static_cast<std::uint64_t>(of_.maps[pair.to](pair.received));
  }
  std::ranges::sort(moved);
  with.wrong_pairs = moved;
  TRY_ASSIGN(report_.after, check_times(with, read.loaded(), read.maps));
  report_.after.presync = read.presync;
  return {};
}

/// Checks what was written as anybody would who knows nothing of the correction: by the pairs that
/// its own times show, of which some may contradict others.
Result<void> Verification::check_as_reader(const formats::Reread& read,
                                           const formats::Staged& staged) {
  is_paired_anew_ = true;
  CheckOptions check = of_.options.check;
  check.presync = Presync::automatic;
  CheckSetting with = setting_of(of_.workers, of_.source, of_.timeline, check, of_.progress);
  with.survey = of_.survey_after;
  with.witness = nullptr;
  with.wrong_pairs = {};
  with.told = nullptr;
  TRY_ASSIGN(report_.after, check_times(with, read.loaded(), read.maps));
  if (is_contradicted(report_.after)) {
    Team& processes = of_.workers.processes();
    TRY_ASSIGN(const std::unique_ptr<formats::Source> written,
               formats::open(processes, staged.anchors(), check.threads,
                             {.max_unpacked = check.max_unpacked_bytes}));
    TRY(explain_check({.processes = processes, .progress = of_.progress}, *written, with,
                      read.loaded(), false, read.maps, nullptr, report_.after));
  }
  report_.after.presync = read.presync;
  return {};
}

/// The page shows the edges that were corrected.
Result<void> Verification::check_given(const formats::Source& written) {
  CheckOptions check = of_.options.check;
  check.presync = Presync::none;
  TRY_ASSIGN(written_, find_timeline(of_.workers, written, check, {.purpose = Purpose::bounds},
                                     of_.progress));
  written_->is_unproven = of_.timeline.is_unproven;
  CheckSetting of_written =
      setting_of(of_.workers, written, *written_, of_.options.check, of_.progress);
  // What the correction set aside it did not meet on purpose, though the copy may.
  explain::Told told = written_->told;
  told.doubt(of_.timeline.told);
  of_written.told = &told;
  TRY_ASSIGN(report_.after, check_times(of_written, written_->loaded, written_->measured.maps));
  if (!of_.timeline.set_aside.empty() && is_contradicted(report_.after)) {
    TRY(explain_check({.processes = of_.workers.processes(), .progress = of_.progress}, written,
                      of_written, written_->loaded, true, written_->measured.maps, nullptr,
                      report_.after));
  }
  warn_of(written);
  if (of_.survey_after == nullptr) return {};
  const CheckSetting with = setting(of_.paired, of_.survey_after);
  TRY(check_times(with, loaded(), of_.maps));
  return {};
}

/// Checks times of the events as stored in the original, and the times as measured of the same.
Result<void> Verification::check_with_before(const trace::LoadedTrace& trace,
                                             std::span<const ClockMap> maps,
                                             bool same_clock_records) {
  CheckSetting with = setting(of_.paired, of_.survey_after);
  with.same_clock_records = same_clock_records;
  const OtherTimes stored{.maps = of_.timeline.maps_as_stored(), .survey = of_.survey_before};
  TRY_ASSIGN(verify::Checks checks, check_both_times(with, trace, maps, &stored));
  report_.after = std::move(checks.report);
  if (checks.others && !checked_before_) {
    checked_before_ = std::move(checks.others);
    checked_before_->archive = loaded().trace.path;
  }
  return {};
}

/// How far events moved, from the original as measured to what was written.
Result<void> Verification::take_statistics(const formats::Reread& read) {
  if (written_) {
    const trace::Trace &before = loaded().trace, &after = written_->loaded.trace;
    return have_same_counts(before, after)
               ? take_statistics(before, {after, written_->measured.maps})
               : take_statistics(before, {before, of_.maps});
  }
  const trace::Trace& trace = read.loaded().trace;
  // An overlay has borrowed the skeletons of the original, whose stamps are its own.
  return take_statistics(read.has_own_stamps() ? loaded().trace : trace, {trace, read.maps});
}

/// Doubts about a source whatever its times are.
void Verification::warn_of(const formats::Source& source) {
  clocks::Presynchronised none;
  take_clocks(source, none, report_.after);
}

Result<void> Verification::take_statistics(const trace::Trace& before,
                                           const accuracy::TimedTrace& after) {
  // Bending moves clocks both ways; only what follows it never moves anything back.
  const bool is_bent =
      of_.workers.processes().any(of_.timeline.measured.maps != of_.timeline.presync.maps);
  const std::span<const ClockMap> stored =
      of_.timeline.stored.empty() ? of_.timeline.measured.maps : of_.timeline.stored;
  const auto start = is_bent ? std::span(of_.timeline.presync.maps) : std::span<const ClockMap>();
  return of_.workers.run(
      after.trace, loaded().partition, [&](const trace::Share& share, unsigned) -> Result<void> {
        TRY_ASSIGN(CorrectionStatistics own,
                   accuracy::correction_statistics(share.team, share.partition, {before, stored},
                                                   after, Cancel(of_.progress), start));
        if (of_.workers.speaks(share.team)) report_.statistics = std::move(own);
        return {};
      });
}

/// Says where violations may come from that an overlay cannot remove: the events of a corrected
/// location that lie inside a buffer flush, where its clock map must be straight.
void Verification::count_events_in_flushes() {
  std::int64_t events = 0;
  for (const LocationIndex l : loaded().own(of_.workers.processes())) {
    if (of_.maps[l] == of_.timeline.measured.maps[l]) continue;
    const trace::LocationSkeleton& location = loaded().trace.locations[l];
    for (const trace::FlushInterval& flush : location.flushes) {
      events += static_cast<std::int64_t>(trace::events_inside(location, flush));
    }
  }
  events = of_.workers.processes().reduce(Team::Reduction::sum, events);
  if (events == 0 || report_.after.violations == 0) return;
  report_.after.skipped.emplace_back("events_in_flushes", static_cast<std::uint64_t>(events));
}

void Verification::finish() {
  report_.after.archive = report_.output;
  report_.verified = true;
  report_.judgement = judge_correction(report_, is_paired_anew_);
  if (of_.are_pairs_settled) return;
  report_.after.estimation.warnings.push_back(fmt::format(
      "which calls belong together depends on the clocks, and did not settle in {} rounds: the "
      "times as corrected show other pairs than those that they were corrected by; record "
      "numbers of calls (Comms Id, Seq), or more calls",
      k_most_pairing_rounds));
  if (report_.judgement->verdict == Verdict::clean) {
    report_.judgement = Judgement{Verdict::unproven, Doubt::unsettled_pairs};
  }
}

}  // namespace entrain::engine
