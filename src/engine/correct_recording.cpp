// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "base/file.hpp"
#include "base/link.hpp"
#include "base/peak_memory.hpp"
#include "base/stopwatch.hpp"
#include "base/try.hpp"
#include "clc/amortize.hpp"
#include "engine/amortization.hpp"
#include "engine/constant_shifts.hpp"
#include "engine/correct_options.hpp"
#include "engine/keep_most_clocks.hpp"
#include "engine/page_survey.hpp"
#include "engine/recorded_times.hpp"
#include "engine/recordings.hpp"
#include "engine/timeline.hpp"
#include "session/phase.hpp"
#include "session/workers.hpp"

namespace entrain::engine {

namespace fs = std::filesystem;

namespace {

using formats::Recording;

constexpr double k_percentile = 0.99;
constexpr int k_most_rounds = 8;  ///< limit of rounds that pair again by corrected times

Result<void> check_correction(const CorrectOptions& options) {
  TRY(check_options(options));
  TRY(check_use(options.check));
  if (options.mode == WriteMode::overlay && options.mark_offsets) {
    return fail(ErrorKind::usage,
                "--mark-offsets needs --mode rewrite: an overlay leaves files as they are");
  }
  return {};
}

/// True if clocks may stay or move as their edges, single ones, demand.
bool all_free(const Recording& recording, const CheckOptions& options) {
  return options.presync == Presync::automatic &&
         (options.reference.empty() || options.reference == "consensus") &&
         recording.list.instances.empty();
}

void take_kept_clocks(KeptClocks kept, RecordingTimeline& timeline) {
  Timeline& t = timeline.timeline;
  t.presync.clocks.reason =
      fmt::format("{} of {} clocks stay as they are; the others are aligned to them by messages",
                  kept.kept, kept.maps.size());
  t.presync.maps = std::move(kept.maps);
  t.presync.method = t.report.presync = PresyncMethod::causal;
  t.report.reason = t.presync.clocks.reason;
  const auto still = std::find_if(t.presync.maps.begin(), t.presync.maps.end(),
                                  [](const ClockMap& map) { return map.is_identity(); });
  t.reference.location = static_cast<LocationIndex>(still - t.presync.maps.begin());
  measure_shift(timeline.workers(), t);
}

/// The timeline that a correction starts from. Where most clocks can stay as they are, no fit of
/// all of them is needed; else it tells whom to suspect.
Result<std::unique_ptr<RecordingTimeline>> aligned(const Run& run, const Recording& recording,
                                                   const CheckOptions& options) {
  const bool free = all_free(recording, options);
  const bool no_mu = options.mu.source == MuSource::automatic;  // of recordings
  std::optional<KeptClocks> kept;
  const auto find = [&](std::span<const ClockMap> maps) -> Result<void> {
    TRY_ASSIGN(kept, keep_most_clocks(recording.clocks, recording.edges(), maps, with_kind(options),
                                      run.progress));
    return {};
  };
  if (free && no_mu) TRY(find({}));
  TRY_ASSIGN(std::unique_ptr<RecordingTimeline> seen,
             RecordingTimeline::take(run, recording, options, Purpose::correction,
                                     kept ? &kept->maps : nullptr));
  if (!seen->timeline.violated) return seen;
  const bool no_delays = seen->timeline.mu.ticks == MuTicks{};
  if (free && no_delays && !kept) TRY(find(seen->timeline.presync.maps));
  if (kept) take_kept_clocks(*std::move(kept), *seen);
  return seen;
}

/// Removes the violations that bent clocks leave.
Result<std::vector<ClockMap>> amortize(const Run& run, RecordingTimeline& seen,
                                       const CorrectOptions& options, CorrectReport& report) {
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

/// True if both have the same edges, but for their times.
bool same_shape(const Edges& a, const Edges& b) {
  const auto same = [](const InstanceMember& x, const InstanceMember& y) {
    return x.clock == y.clock;
  };
  const auto alike = [](const CollectiveInstance& x, const CollectiveInstance& y) {
    return x.kind == y.kind && x.begins == y.begins && x.ends == y.ends;
  };
  return std::ranges::equal(a.cause_clock, b.cause_clock) &&
         std::ranges::equal(a.effect_clock, b.effect_clock) &&
         std::ranges::equal(a.members, b.members, same) &&
         std::ranges::equal(a.instances, b.instances, alike);
}

/// True if the edges of one recording are those of another one of the same times.
bool same_pairs(const Edges& a, const Edges& b) {
  const auto same = [](const InstanceMember& x, const InstanceMember& y) {
    return x.time == y.time;
  };
  return same_shape(a, b) && std::ranges::equal(a.cause_time, b.cause_time) &&
         std::ranges::equal(a.effect_time, b.effect_time) &&
         std::ranges::equal(a.members, b.members, same);
}

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

/// A run of correct().
class Correction {
 public:
  Correction(const Run& run, const Recording& recording, const CorrectOptions& options)
      : run_(run), recording_(recording), options_(options) {}

  /// Finds the new times. Which events belong together may depend on the clocks: they are paired
  /// again by the new times, until the pairs stay.
  Result<void> compute() {
    TRY(attempt());
    CheckReport before = seen_->count(recording_, seen_->timeline.measured.maps);
    before.presync = seen_->timeline.measured.method;
    set_clocks(recording_, seen_->timeline.measured.clocks, before);
    TRY(settle_pairs());
    report_.before = std::move(before);
    const Timeline& t = seen_->timeline;
    if (run_.page != nullptr) {
      survey_.emplace(seen_->workers(), seen_->timeline);
      static_cast<void>(seen_->count(*paired_, t.measured.maps, survey_->before()));
    }
    report_.run.phases.scan = recording_.read_s;
    report_.run.phases.match = t.match_s;
    report_.run.phases.presync = t.presync_s;
    if (options_.check.bounds.wanted) {
      const Stopwatch watch(report_.run.phases.bounds);
      TRY_ASSIGN(report_.bounds, seen_->bounds(maps_, survey_.has_value()));
    }
    return check_order(recording_, maps_);
  }

  Result<void> write(const OutputFolder& folder) {
    const Stopwatch watch(report_.run.phases.write);
    report_.mode = options_.mode;
    report_.output = folder.target().string();
    report_.run.leftovers_removed = folder.leftovers_removed();
    if (is_overlay()) {
      TRY_ASSIGN(report_.links,
                 recording_.write_overlay(folder.path(), folder.target(), maps_, options_.link));
      return {};
    }
    return options_.mark_offsets ? recording_.write_marked(folder.path(), maps_)
                                 : recording_.write(folder.path(), maps_);
  }

  /// Reads back what was written, and counts its edges by its own times and pairs. Those of an
  /// overlay are the times of a viewer that shifts each file as a whole.
  Result<void> verify(const fs::path& folder) {
    if (!options_.verify) return {};
    if (is_overlay()) {
      verify_planned();
      report_.after.presync = PresyncMethod::constant;
      return {};
    }
    const Stopwatch watch(report_.run.phases.verify);
    session::begin_phase(run_.progress, "verify");
    TRY_ASSIGN(const std::unique_ptr<Recording> written, recording_.read_back(folder));
    CheckOptions check = options_.check;
    check.presync = Presync::none;
    TRY_ASSIGN(const std::unique_ptr<RecordingTimeline> seen,
               RecordingTimeline::take(run_, *written, check, Purpose::bounds));
    report_.after = seen->count(*written, seen->timeline.measured.maps);
    if (survey_) {  // whose edges are those of the original
      static_cast<void>(seen_->count(*paired_, maps_, survey_->after()));
    }
    const bool comparable = same_shape(paired_->edges(), written->edges());
    settle(*written, comparable ? moves_between(paired_->edges(), written->edges())
                                : moves_by(maps_, paired_->edges()));
    return {};
  }

  /// Counts the edges by the times that would be written.
  void verify_planned() {
    const Stopwatch watch(report_.run.phases.verify);
    report_.after = seen_->count(*paired_, maps_, survey_ ? survey_->after() : nullptr);
    settle(*paired_, moves_by(maps_, paired_->edges()));
  }

  /// Fills the page, if one is wanted. After the verification.
  Result<void> make_page() {
    if (!survey_) return {};
    const bool seen = report_.judgement.has_value();
    TRY_ASSIGN(*run_.page,
               survey_->corrected(maps_, seen, report_.bounds ? &*report_.bounds : nullptr));
    if (report_.bounds && !options_.check.bounds.rows) report_.bounds->rows.clear();
    return {};
  }

  std::vector<ClockMap> take_maps() { return std::move(maps_); }

  CorrectReport take_report() {
    report_.timeline = std::move(seen_->timeline.report);
    for (const std::string& note : recording_.notes) report_.timeline.notes.push_back(note);
    report_.run.peak_memory_bytes = peak_memory_bytes();
    return std::move(report_);
  }

 private:
  [[nodiscard]] bool is_overlay() const { return options_.mode == WriteMode::overlay; }

  /// Corrects by the pairs as they are.
  Result<void> attempt() {
    report_ = {};
    TRY_ASSIGN(seen_, aligned(run_, *paired_, options_.check));
    Timeline& t = seen_->timeline;
    session::begin_phase(run_.progress, "correct");
    maps_ = t.presync.maps;
    if (is_overlay()) {
      ConstantShifts shifts = constant_shifts(recording_, maps_);
      maps_ = std::move(shifts.maps);
      if (!shifts.note.empty()) t.report.notes.push_back(std::move(shifts.note));
    } else if (options_.amortize) {
      TRY_ASSIGN(maps_, amortize(run_, *seen_, options_, report_));
    }
    return {};
  }

  Result<void> settle_pairs() {
    for (int round = 0; round < k_most_rounds; ++round) {
      std::unique_ptr<Recording> next = recording_.paired_after(maps_);
      if (!next || same_pairs(paired_->edges(), next->edges())) return {};
      next->clocks.name = recording_.clocks.name;
      again_ = std::move(next);
      paired_ = again_.get();
      TRY(attempt());
    }
    const std::unique_ptr<Recording> next = recording_.paired_after(maps_);
    settled_ = same_pairs(paired_->edges(), next->edges());
    return {};
  }

  /// Fills the report from the counted edges.
  void settle(const Recording& result, const std::vector<Move>& moves) {
    set_clocks(result, {}, report_.after);
    report_.after.presync = PresyncMethod::none;
    report_.after.archive = report_.output;
    report_.statistics = statistics_of(moves);
    report_.verified = true;
    report_.judgement = report_.after.judgement;
    if (count_of(report_.cycles, "dropped_edges") > 0 &&
        report_.judgement->verdict != Verdict::violations) {
      report_.judgement = Judgement{Verdict::unproven, Doubt::contradictory_edges};
    }
    if (settled_) return;
    report_.after.clocks.warnings.push_back(fmt::format(
        "which calls belong together depends on the clocks, and did not settle in {} rounds: the "
        "times as corrected show other pairs than those that they were corrected by; record "
        "numbers of calls (Comms Id, Seq), or more calls",
        k_most_rounds));
    if (report_.judgement->verdict == Verdict::clean) {
      report_.judgement = Judgement{Verdict::unproven, Doubt::unsettled_pairs};
    }
  }

  const Run& run_;
  const Recording& recording_;
  const CorrectOptions& options_;
  const Recording* paired_ = &recording_;  ///< the pairs that times are corrected by
  std::unique_ptr<Recording> again_;       ///< `paired_`, if it is not the original
  bool settled_ = true;                    ///< the new times show the same pairs
  std::unique_ptr<RecordingTimeline> seen_;
  std::vector<ClockMap> maps_;        ///< one map for each clock: its times -> corrected ones
  std::optional<PageSurvey> survey_;  ///< only where a page is wanted
  CorrectReport report_;
};

}  // namespace

Result<CorrectReport> correct_recording(const Run& run, const Recording& recording,
                                        const Target& output, const CorrectOptions& options) {
  TRY(check_correction(options));
  TRY(check_names(recording));
  Correction correction(run, recording, options);
  TRY(correction.compute());
  TRY_ASSIGN(OutputFolder folder, OutputFolder::create(output.path, output.rule));
  TRY(correction.write(folder));
  TRY(correction.verify(folder.path()));
  TRY(correction.make_page());
  TRY(folder.commit());
  return correction.take_report();
}

Result<CorrectReport> plan_recording(const Run& run, const Recording& recording,
                                     const CorrectOptions& options) {
  TRY(check_correction(options));
  Correction correction(run, recording, options);
  TRY(correction.compute());
  correction.verify_planned();
  TRY(correction.make_page());
  return correction.take_report();
}

Result<std::vector<ClockMap>> corrected_maps(const Run& run, const Recording& recording,
                                             const CorrectOptions& options) {
  TRY(check_correction(options));
  Correction correction(run, recording, options);
  TRY(correction.compute());
  return correction.take_maps();
}

}  // namespace entrain::engine
