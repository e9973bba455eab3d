// SPDX-License-Identifier: BSD-3-Clause
#include <optional>
#include <utility>

#include <fmt/core.h>

#include <entrain/entrain.hpp>

#include "base/big_vector.hpp"
#include "base/cancel.hpp"
#include "base/peak_memory.hpp"
#include "base/stopwatch.hpp"
#include "base/try.hpp"
#include "bounds/hold_inside.hpp"
#include "bounds/judge.hpp"
#include "bounds/prove.hpp"
#include "clc/amortize.hpp"
#include "clc/domain_view.hpp"
#include "clocks/presync.hpp"
#include "clocks/session_span.hpp"
#include "clocks/warnings.hpp"
#include "engine/amortization.hpp"
#include "engine/check_times.hpp"
#include "engine/correct_options.hpp"
#include "engine/correct_output.hpp"
#include "engine/inputs.hpp"
#include "engine/page_survey.hpp"
#include "engine/read_back.hpp"
#include "engine/recordings.hpp"
#include "engine/timeline.hpp"
#include "engine/verbs.hpp"
#include "match/graph.hpp"
#include "otf2/write/retime_definitions.hpp"
#include "otf2/write/write_archive.hpp"
#include "output/output.hpp"
#include "session/load.hpp"
#include "session/phase.hpp"
#include "trace/properties.hpp"

namespace entrain {

namespace {

/// The correction of one archive, phase by phase. All processes of a run go through the phases
/// together; errors that only one of them sees become errors of all.
class Correction {
 public:
  Correction(const engine::Run& run, const CorrectOptions& options)
      : options_(options),
        progress_(run.progress),
        cancel_(run.progress),
        workers_(run.processes, options.check.threads),
        processes_(run.processes),
        page_(run.page) {}

  /// Whether a new archive is to be written, which not every archive allows.
  enum class Writing : std::uint8_t { no, yes };

  /// Reads the archive and computes its clock maps; with `report` also what is reported of them.
  Result<void> compute(const std::filesystem::path& archive, bool report, Writing writing) {
    writing_ = writing == Writing::yes;
    TRY_ASSIGN(const Outcome outcome, attempt(archive, options_.check, report));
    if (outcome == Outcome::corrected) return cancel_.agree(processes_);
    // Clocks that go around in circles when some are taken as one are not one.
    CheckOptions apart = options_.check;
    apart.clock_domain = ClockDomain::location;
    TimelineReport first = std::move(t_.report);
    TRY(attempt(archive, apart, report));
    t_.report.clock_domain = first.clock_domain;
    t_.report.notes = std::move(first.notes);
    t_.report.notes.emplace_back(
        "with the clocks of nodes and processes taken as one, messages through other clocks would "
        "arrive before they were sent: every location has a clock of its own");
    return cancel_.agree(processes_);
  }

  Result<void> write(const std::filesystem::path& output, const OutputRule& rule) {
    const Stopwatch watch(report_.run.phases.write);
    const trace::Share share = t_.loaded.share(processes_);
    TRY(processes_.agree(check_stamps(share)));
    note_offsets_out_of_order(share);
    TRY_ASSIGN(otf2::WritePlan plan,
               plan_output({.share = share, .measured = t_.measured.maps, .corrected = maps_}));
    plan.share = &share;
    plan.rule = rule;
    TRY_ASSIGN(otf2::StagedArchive staged, otf2::stage_archive(*t_.archive, plan, output));
    report_.output = staged.final_anchor().string();
    report_.links = staged.links();
    report_.run.leftovers_removed = staged.leftovers_removed();
    staged_.emplace(std::move(staged));
    return {};
  }

  /// Checks the archive as written, which has no name yet.
  Result<void> verify() {
    if (!options_.verify) return {};
    const Stopwatch watch(report_.run.phases.verify);
    make_room();
    engine::ReadBack written = read_back();
    TRY(written.run(staged_->anchor(), report_));
    has_other_edges_ = written.paired_anew();
    checked_before_ = written.take_before();
    return cancel_.agree(processes_);
  }

  /// Returns the error of a changed input, if it changed while it was read: it may have caused a
  /// failure of a later step.
  Result<void> explain(Result<void> result) {
    if (!result && result.error().kind != ErrorKind::interrupted) {
      TRY(check_unchanged());
    }
    return result;
  }

  /// Checks the times that would be written.
  Result<void> verify_planned() {
    const Stopwatch watch(report_.run.phases.verify);
    make_room();
    engine::ReadBack planned = read_back();
    TRY(planned.planned(report_));
    checked_before_ = planned.take_before();
    return cancel_.agree(processes_);
  }

  /// Checks the times as measured. When the graph is gone: both together are the most memory there
  /// would be. After the verification, which mostly did this too, as it had paired the events, or
  /// has seen that there are no cycles.
  Result<void> check_before() {
    auto bounds = std::move(report_.before.bounds);
    if (checked_before_) {
      report_.before = *std::move(checked_before_);
    } else {
      TRY_ASSIGN(report_.before, check_measured());
    }
    report_.before.bounds = std::move(bounds);
    report_.before.presync = t_.measured.method;
    report_.before.clocks = t_.measured.clocks;
    clocks::warn_of_violations(report_.before);
    return cancel_.agree(processes_);
  }

  /// Fills the page, if one is wanted. After the verification.
  Result<void> make_page() {
    if (!survey_) return {};
    const bool seen = report_.judgement.has_value();
    TRY_ASSIGN(*page_,
               survey_->corrected(maps_, seen, report_.bounds ? &*report_.bounds : nullptr));
    if (report_.bounds && !options_.check.bounds.rows) report_.bounds->rows.clear();
    return {};
  }

  /// Refuses input that has changed since it was read.
  Result<void> check_unchanged() { return session::check_unchanged(processes_, t_.loaded); }

  Result<void> commit() {
    TRY(check_unchanged());
    return processes_.agree(workers_.first() ? staged_->commit() : Result<void>());
  }

  CorrectReport take_report() {
    if (writing_) report_.mode = options_.mode;
    report_.timeline = std::move(t_.report);
    const engine::TimeRange range =
        engine::time_range(t_.loaded.share(processes_), t_.presync.maps);
    for (const AmortizationPass& pass : report_.passes) {
      if (pass.chosen && range.last > range.first) {
        report_.error_share =
            static_cast<double>(pass.error_ticks) / static_cast<double>(range.last - range.first);
      }
    }
    report_.run.peak_memory_bytes = static_cast<std::uint64_t>(
        processes_.reduce(Team::Reduction::max, static_cast<std::int64_t>(peak_memory_bytes())));
    report_.run.spilled_bytes = static_cast<std::uint64_t>(processes_.reduce(
        Team::Reduction::max, static_cast<std::int64_t>(BigMemory::most_spilled())));
    return std::move(report_);
  }

  ClockMaps take_maps() {
    ClockMaps maps;
    for (const trace::Location& location : t_.loaded.trace.definitions.locations) {
      maps.locations.push_back(location.id);
    }
    maps.maps = std::move(maps_);
    maps.resolution_hz = t_.loaded.trace.definitions.clock.resolution_hz;
    return maps;
  }

 private:
  enum class Outcome {
    corrected,
    contradicted  ///< the trace contradicts clock domains that were guessed; nothing else counts
  };

  Result<Outcome> attempt(const std::filesystem::path& archive, const CheckOptions& check,
                          bool report) {
    t_ = {};
    TRY_ASSIGN(engine::Timeline timeline,
               engine::find_timeline(workers_, archive, check, use(writing_), progress_));
    t_ = std::move(timeline);
    if (check.bounds.wanted) {
      TRY(hold_in_intervals(report));
    }
    report_.run.phases.scan += t_.scan_s;
    report_.run.phases.presync += t_.presync_s;
    report_.run.phases.match += t_.match_s;
    session::begin_phase(progress_, "correct");
    maps_ = t_.presync.maps;
    match::Graph graph = std::exchange(t_.graph, {});
    if (options_.amortize) {
      TRY_ASSIGN(const Outcome outcome, amortize(std::move(graph)));
      if (outcome == Outcome::contradicted) return outcome;
    }
    graph = {};
    if (proven_ && report) {
      const Stopwatch watch(report_.run.phases.bounds);
      const bool rows = options_.check.bounds.rows ||
                        (page_ != nullptr && engine::few_rows(t_, proven_->windows));
      report_.bounds = bounds::judge(t_.loaded.share(processes_), *proven_, maps_, rows);
      report_.bounds->mu_source = t_.mu.source;
    }
    if (report && page_ != nullptr) survey_.emplace(workers_, t_);
    return Outcome::corrected;
  }

  /// Proves in which intervals the clocks lie. Where something is violated, moves the presync maps
  /// into them.
  Result<void> hold_in_intervals(bool report) {
    const Stopwatch watch(report_.run.phases.bounds);
    session::begin_phase(progress_, "bounds");
    TRY_ASSIGN(proven_,
               bounds::prove_intervals(engine::causal_context(workers_, t_, progress_),
                                       t_.shared_clocks, t_.presync, options_.check.bounds));
    if (report) {
      report_.before.bounds =
          bounds::judge(t_.loaded.share(processes_), *proven_, t_.measured.maps, false);
      report_.before.bounds->mu_source = t_.mu.source;
    }
    if (!t_.violated) return {};
    const std::int64_t held =
        bounds::hold_inside(t_.loaded.share(processes_), t_.domains, *proven_, t_.presync.maps);
    if (held == 0) return {};
    proven_->about.held_ticks = held;
    t_.presync.provenance += fmt::format(" held_to_ppm={:.9g}", proven_->about.max_rate_ppm);
    engine::measure_shift(workers_, t_);
    return {};
  }

  /// Frees memory for the checker, which needs some 32 bytes per communication event and some of
  /// its own.
  void make_room() const {
    constexpr std::uint64_t k_per_event = 32;
    std::uint64_t events = 0;
    for (const trace::LocationSkeleton& l : t_.loaded.trace.locations) events += l.events.size();
    BigMemory::release(k_per_event * events);
  }

  Result<CheckReport> check_measured() {
    session::begin_phase(progress_, "check");
    make_room();
    return engine::check_times({.workers = workers_,
                                .options = options_.check,
                                .mu = t_.mu,
                                .domains = t_.domains,
                                .progress = progress_,
                                .survey = survey_ ? survey_->before() : nullptr,
                                .known_acyclic = is_seen_acyclic()},
                               t_.loaded, t_.measured.maps);
  }

  engine::ReadBack read_back() {
    return {workers_,
            options_,
            {.loaded = t_.loaded,
             .archive = t_.archive,
             .measured = t_.measured.maps,
             .presync = t_.presync.maps,
             .corrected = maps_,
             .mu = t_.mu,
             .domains = t_.domains,
             .survey = survey_ ? survey_->after() : nullptr,
             .survey_before = survey_ ? survey_->before() : nullptr},
            progress_};
  }

  [[nodiscard]] bool is_overlay() const { return options_.mode == WriteMode::overlay; }
  [[nodiscard]] engine::TimelineUse use(bool writing) const {
    return {.purpose = engine::Purpose::correction,
            .every_event = options_.delta_ticks > 0 || options_.measure_delta,
            .writing = writing,
            .overlay = is_overlay()};
  }

  /// Forward and backward amortization, of clock domains where locations share clocks.
  Result<Outcome> amortize(match::Graph graph) {
    const clc::Options options =
        engine::amortization_options(options_, t_, workers_.threads(), !is_overlay());
    const trace::Share share = t_.loaded.share(processes_);
    clc::Amortization result;
    if (t_.domains.trivial()) {
      TRY_ASSIGN(result,
                 clc::amortize(share, std::move(graph), t_.presync.maps, options, progress_));
      for (const LocationIndex l : share.own()) maps_[l] = std::move(result.maps[l]);
    } else {
      clc::DomainView view =
          clc::merge_domains(share, std::move(graph), t_.presync.maps, t_.domains, !is_overlay());
      TRY_ASSIGN(result, clc::amortize({processes_, view.partition, view.trace},
                                       std::move(view.graph), view.presync, options, progress_));
      if (has_dropped(result.cycles) && !t_.domains_are_proved) {
        if (t_.domains_are_guessed) return Outcome::contradicted;
        return fail(
            ErrorKind::input,
            fmt::format("clocks of {} are not shared as --clock-domain {} says: taken as one, "
                        "they make messages arrive before they were sent, all around; try "
                        "--clock-domain auto",
                        share.trace.path, name_of(t_.report.clock_domain)));
      }
      for (const LocationIndex l : share.own()) {
        const ClockMap& map = result.maps[t_.domains.of[l]];
        const bool straighten = is_overlay() && map != t_.presync.maps[l];
        maps_[l] = straighten ? clc::straighten_flushes(map, share.trace.locations[l]) : map;
      }
    }
    gamma_ = result.gamma;
    engine::report_amortization(result, t_, report_);
    return Outcome::corrected;
  }

  static bool has_dropped(const Counters& cycles) {
    return count_of(cycles, "dropped_components") > 0;
  }

  /// True if the check of the corrected times found no cycle among the edges of the original. It
  /// does so at small cost: they are only looked for where edges go backward. Where records are
  /// missing, times may decide which of them belong together, and so which edges there are.
  [[nodiscard]] bool is_seen_acyclic() const {
    return report_.verified && !has_other_edges_ && report_.after.unmatched.empty() &&
           report_.after.skipped.empty();
  }

  /// Refuses maps under which time would run backward between two records, and new stamps that no
  /// reader takes.
  [[nodiscard]] Result<void> check_stamps(const trace::Share& share) const {
    for (const LocationIndex l : share.own()) {
      const trace::LocationSkeleton& location = share.trace.locations[l];
      if (location.event_count == 0) continue;
      const std::string place = fmt::format(
          "location {} of {}", share.trace.definitions.locations[l].id, share.trace.path);
      if (!maps_[l].keeps_order(location.first, location.last)) {
        return fail(
            ErrorKind::input,
            fmt::format("{}: its clock is so far from the others that a clock map cannot bring it "
                        "there to the tick, and time would run backward; only offsets measured by "
                        "the tracer can bring them together",
                        place));
      }
      if (is_overlay()) continue;  // its stamps stay
      for (const std::uint64_t stamp : {location.first, location.last}) {
        const std::int64_t time = maps_[l](stamp);
        if (static_cast<std::uint64_t>(time) <= engine::k_latest_time) continue;
        return fail(
            ErrorKind::input,
            fmt::format("{} would get a time stamp out of range ({} ticks; 0 to {} can be "
                        "stored); --mode overlay keeps the stamps, --presync none does without "
                        "clock offsets that cannot be right",
                        place, time, engine::k_latest_time));
      }
    }
    return {};
  }

  /// A rewritten archive has no use for ClockOffset records, and none at all where no reader takes
  /// them.
  void note_offsets_out_of_order(const trace::Share& share) {
    std::int64_t count = 0;
    for (const LocationIndex l : share.own()) {
      count += trace::in_order(share.trace.locations[l].clock_offsets) ? 0 : 1;
    }
    count = processes_.reduce(Team::Reduction::sum, count);
    if (count == 0 || is_overlay()) return;
    t_.report.notes.push_back(fmt::format(
        "ClockOffset records out of order, which no reader takes, were left out at {} location{}",
        count, count == 1 ? "" : "s"));
  }

  /// All but the processes that write it together.
  Result<otf2::WritePlan> plan_output(const engine::CorrectedTimes& times) {
    otf2::WritePlan plan;
    plan.maps = maps_;
    // A location that was left alone keeps the times that a reader sees, also inside a flush.
    for (LocationIndex l = 0; l < maps_.size(); ++l) {
      plan.split_flushes.push_back(maps_[l] != times.measured[l]);
    }
    TRY_ASSIGN(const std::vector<otf2::MarkerTime> markers,
               agree(processes_, otf2::read_marker_times(*t_.archive)));
    plan.marker_times = engine::move_markers(times, markers);
    plan.properties = properties(times);
    const engine::TimeRange range = engine::time_range(times.share, maps_);
    plan.first_time = range.first;
    plan.last_time = range.last;
    plan.mode = options_.mode;
    plan.link = options_.link;
    plan.threads = options_.check.threads;
    plan.progress = progress_;
    return plan;
  }

  [[nodiscard]] std::vector<trace::Property> properties(const engine::CorrectedTimes& times) const {
    const engine::CorrectionMethod method{.presync = t_.presync.provenance,
                                          .gamma = gamma_,
                                          .mu = t_.mu,
                                          .clock_domain = t_.report.clock_domain};
    std::vector<trace::Property> properties{
        {trace::k_property_version, version()},
        {trace::k_property_correction, engine::correction_property(options_, method)}};
    if (const auto span = engine::corrected_session_span(times)) {
      properties.push_back({trace::k_property_session_span, trace::to_property(*span)});
    }
    return properties;
  }

  const CorrectOptions& options_;
  Progress* progress_;
  Cancel cancel_;
  session::Workers workers_;
  Team& processes_;
  engine::Timeline t_;                             ///< timeline without its graph
  std::optional<bounds::ProvenIntervals> proven_;  ///< only if asked for
  bool writing_ = false;
  std::vector<ClockMap> maps_;  ///< one map for each location: stored stamp -> corrected time
  Decimal9 gamma_;
  bool has_other_edges_ = false;               ///< the edges of the result were paired by its own
                                               ///< stamps
  std::optional<CheckReport> checked_before_;  ///< check of the measured times, made by the
                                               ///< verification
  std::optional<otf2::StagedArchive> staged_;
  page::Data* page_;                          ///< null: nobody wants it
  std::optional<engine::PageSurvey> survey_;  ///< only with `page_`
  CorrectReport report_;
};

}  // namespace

Result<CorrectReport> correct(const std::filesystem::path& archive,
                              const std::filesystem::path& output, const CorrectOptions& options,
                              Progress* progress) {
  Solo solo;
  return engine::correct({.processes = solo, .progress = progress}, {archive}, output, options);
}

Result<CorrectReport> engine::correct(const Run& run, const Paths& paths,
                                      const std::filesystem::path& output,
                                      const CorrectOptions& options) {
  OutputRule rule;  // rank 0 creates the folder
  if (run.processes.rank() == 0) rule = output_rule(paths, options.check, options.force);
  TRY(run.processes.agree(run.processes.rank() == 0 ? OutputFolder::check(output, rule)
                                                    : Result<void>()));
  const session::MemoryLimit limit(options.check.memory_limit_bytes);
  TRY_ASSIGN(const auto recording, open_recording(run.processes, paths, options.check.threads,
                                                  options.check.max_unpacked_bytes));
  if (recording) return correct_recording(run, *recording, {output, rule}, options);
  if (options.mark_offsets) {
    return fail(ErrorKind::usage, "--mark-offsets needs spans of services");
  }
  const std::filesystem::path& archive = paths.front();
  TRY(engine::check_options(options));
  Correction correction(run, options);
  TRY(correction.compute(archive, true, Correction::Writing::yes));
  TRY(correction.explain(correction.write(output, rule)));
  TRY(correction.explain(correction.verify()));
  TRY(correction.explain(correction.check_before()));
  TRY(correction.explain(correction.make_page()));
  CorrectReport report = correction.take_report();
  TRY(correction.commit());
  return report;
}

Result<CorrectReport> engine::plan_correction(const Run& run, const Paths& paths,
                                              const CorrectOptions& options) {
  const session::MemoryLimit limit(options.check.memory_limit_bytes);
  TRY_ASSIGN(const auto recording, open_recording(run.processes, paths, options.check.threads,
                                                  options.check.max_unpacked_bytes));
  if (recording) return plan_recording(run, *recording, options);
  const std::filesystem::path& archive = paths.front();
  TRY(engine::check_options(options));
  Correction correction(run, options);
  TRY(correction.compute(archive, true, Correction::Writing::no));
  TRY(correction.explain(correction.verify_planned()));
  TRY(correction.explain(correction.check_before()));
  TRY(correction.explain(correction.make_page()));
  TRY(correction.check_unchanged());
  return correction.take_report();
}

Result<ClockMaps> clock_maps(const std::filesystem::path& archive, const CorrectOptions& options,
                             Progress* progress) {
  TRY(engine::check_options(options));
  const session::MemoryLimit limit(options.check.memory_limit_bytes);
  Solo solo;
  Correction correction({.processes = solo, .progress = progress}, options);
  TRY(correction.compute(archive, false, Correction::Writing::no));
  TRY(correction.check_unchanged());
  return correction.take_maps();
}

}  // namespace entrain
