// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include <entrain/entrain.hpp>

#include "base/big_vector.hpp"
#include "base/cancel.hpp"
#include "base/peak_memory.hpp"
#include "base/stopwatch.hpp"
#include "base/try.hpp"
#include "bounds/project_inside.hpp"
#include "clc/amortize.hpp"
#include "clc/domain_view.hpp"
#include "clocks/presync.hpp"
#include "constraints/node_times.hpp"
#include "diagnosis/clock_table.hpp"
#include "engine/amortization.hpp"
#include "engine/correct_output.hpp"
#include "engine/inputs.hpp"
#include "engine/page_survey.hpp"
#include "engine/planned_times.hpp"
#include "engine/proof.hpp"
#include "engine/timeline.hpp"
#include "engine/verbs.hpp"
#include "engine/verification.hpp"
#include "formats/constant_shifts.hpp"
#include "formats/registry/open.hpp"
#include "match/graph.hpp"
#include "output/output.hpp"
#include "picture/flows.hpp"
#include "trace/phase.hpp"
#include "trace/properties.hpp"
#include "waits/judge.hpp"

namespace entrain {

namespace {

/// True if both have the same edges and instances in the same order, with the same times.
bool same_edges(const Edges& a, const Edges& b) {
  const auto same = [](const InstanceMember& x, const InstanceMember& y) {
    return x.clock == y.clock && x.time == y.time;
  };
  const auto alike = [](const CollectiveInstance& x, const CollectiveInstance& y) {
    return x.kind == y.kind && x.begins == y.begins && x.ends == y.ends;
  };
  return std::ranges::equal(a.cause_clock, b.cause_clock) &&
         std::ranges::equal(a.effect_clock, b.effect_clock) &&
         std::ranges::equal(a.cause_time, b.cause_time) &&
         std::ranges::equal(a.effect_time, b.effect_time) &&
         std::ranges::equal(a.members, b.members, same) &&
         std::ranges::equal(a.instances, b.instances, alike);
}

bool has_dropped(const Counters& cycles) { return count_of(cycles, "dropped_components") > 0; }

/// The correction of one trace, phase by phase. All processes of a run go through the phases
/// together; errors that only one of them sees become errors of all.
class Correction {
 public:
  /// `loaded`: the trace, if it was read already. `known`: bounds of the clocks, for the pairs that
  /// the source has. Both may be null.
  Correction(const engine::Run& run, const formats::Source& source, const CorrectOptions& options,
             const trace::LoadedTrace* loaded = nullptr,
             const bounds::ProvenIntervals* known = nullptr)
      : options_(options),
        loaded_(loaded),
        known_(known),
        progress_(run.progress),
        cancel_(run.progress),
        workers_(run.processes, options.check.threads),
        processes_(run.processes),
        source_(source),
        page_(run.page) {}

  /// Whether a new trace is to be written, which not every source allows.
  enum class Writing : std::uint8_t { no, yes };

  /// Reads the trace and computes its clock maps; with `report` also what is reported of them.
  Result<void> compute(bool report, Writing writing) {
    writing_ = writing == Writing::yes;
    report_.run.phases.scan += source_.open_s();
    TRY_ASSIGN(const Outcome outcome, attempt(options_.check, report));
    if (outcome == Outcome::contradicted) TRY(split_clocks(report));
    TRY(settle_pairs(report));
    if (report) tabulate_clocks();
    if (report && page_ != nullptr) survey_.emplace(workers_, source_, t_);
    return cancel_.agree(processes_);
  }

  Result<void> write(const std::filesystem::path& output, const OutputRule& rule) {
    const Stopwatch watch(report_.run.phases.write);
    const trace::Share share = t_.loaded.share(processes_);
    TRY(check_maps());
    note_offsets_out_of_order(share);
    const engine::TimeRange range = engine::time_range(share, maps_);
    const formats::WritePlan plan{.workers = workers_,
                                  .loaded = t_.loaded,
                                  .maps = maps_,
                                  .measured = t_.measured.maps,
                                  .first_time = range.first,
                                  .last_time = range.last,
                                  .properties = properties(),
                                  .mode = options_.mode,
                                  .link = options_.link,
                                  .mark_offsets = options_.mark_offsets,
                                  .rule = rule,
                                  .progress = progress_};
    TRY_ASSIGN(staged_, source_.stage(plan, output));
    report_.output = staged_->path().string();
    report_.links = staged_->links();
    report_.run.leftovers_removed = staged_->leftovers_removed();
    return {};
  }

  /// Reads the trace as written back and checks it, if wanted.
  Result<void> verify() {
    return options_.verify ? verification().written(*staged_) : Result<void>();
  }
  /// Checks the times that would be written.
  Result<void> verify_planned() {
    TRY(check_maps());
    return verification().planned();
  }

  /// Returns the error of a changed input, if it changed while it was read: it may have caused a
  /// failure of a later step.
  Result<void> explain(Result<void> result) {
    if (!result && result.error().kind != ErrorKind::interrupted) {
      TRY(check_unchanged());
    }
    return result;
  }

  /// Checks the times as measured. When the graph is gone: both together are the most memory there
  /// would be. After the verification, which mostly did this too.
  Result<void> check_before() {
    auto bounds = std::move(report_.before.bounds);
    TRY_ASSIGN(CheckReport before, verification().before());
    report_.before = before_pairing_ ? *std::move(before_pairing_) : std::move(before);
    report_.before.bounds = std::move(bounds);
    clocks::Presynchronised measured = measured_;
    engine::take_clocks(source_, measured, report_.before);
    return cancel_.agree(processes_);
  }

  /// Fills the page, if one is wanted. After the verification.
  Result<void> make_page() {
    if (!survey_) return {};
    const bool seen = report_.judgement.has_value();
    TRY_ASSIGN(*page_,
               survey_->corrected(maps_, seen, report_.bounds ? &*report_.bounds : nullptr));
    // Pages are the same for any number of processes, and these pair calls in one only.
    if (proven_ && source_.given()) {
      TRY_ASSIGN(page_->stragglers, stragglers());
    }
    if (report_.bounds && !options_.check.bounds.rows) report_.bounds->rows.clear();
    return {};
  }

  /// Who came late to collectives, by the corrected times; empty for a format without collectives.
  /// In one process, or for a source with given(). Errors: those of Source::collectives().
  Result<std::optional<StragglerReport>> stragglers() {
    TRY_ASSIGN(const auto found, paired().collectives(t_.loaded, options_.check, progress_));
    if (!found) return std::nullopt;
    StragglerReport report = waits::judge({.trace = t_.loaded.trace,
                                           .collectives = *found,
                                           .maps = maps_,
                                           .proven = proven_ ? &*proven_ : nullptr});
    report.archive = source_.path();
    for (const std::string& warning : source_.remarks().warnings) report.notes.push_back(warning);
    return std::optional(std::move(report));
  }

  /// Refuses input that has changed since it was read.
  Result<void> check_unchanged() { return trace::check_unchanged(processes_, t_.loaded); }

  Result<void> commit(const CorrectReport& report) {
    TRY(check_unchanged());
    if (!workers_.first()) return processes_.agree({});
    const Result<void> told =
        shifts_as_a_whole() ? staged_->annotate(facts_of(report)) : Result<void>();
    return processes_.agree(told ? staged_->commit() : told);
  }

  CorrectReport take_report() {
    if (writing_) report_.mode = options_.mode;
    report_.timeline = std::move(t_.report);
    for (const std::string& note : source_.remarks().notes) {
      report_.timeline.notes.push_back(note);
    }
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

  /// See PlannedTimes.
  BigVector<formats::MergeArrow> arrows() {
    BigVector<std::int64_t> times;
    constraints::evaluate_nodes(engine::causal_context(workers_, t_, progress_), times,
                                [&](LocationIndex l) { return ClockMap::Cursor(maps_[l]); });
    BigVector<formats::MergeArrow> arrows;
    const match::Graph& graph = t_.graph;
    for (const picture::Flow& flow :
         picture::flows_of(graph, {.of_node = times, .mu = t_.mu.ticks})) {
      const LocationIndex from = graph.location_of(flow.from), to = graph.location_of(flow.to);
      if (graph.process_of[from] == graph.process_of[to]) continue;
      arrows.push_back({from, to, graph.stamp[flow.from], graph.stamp[flow.to]});
    }
    return arrows;
  }

  engine::ExplainedClocks take_clocks() {
    return {std::move(report_.clocks), std::move(t_.told), std::move(t_.wrong_pairs)};
  }

  ClockMaps take_maps() {
    ClockMaps maps;
    const trace::Definitions& definitions = t_.loaded.trace.definitions;
    for (const trace::Location& location : definitions.locations) {
      maps.locations.push_back(location.id);
    }
    if (t_.has_given_edges) maps.names = trace::clock_names(definitions);
    maps.maps = std::move(maps_);
    maps.resolution_hz = t_.loaded.trace.definitions.clock.resolution_hz;
    return maps;
  }

 private:
  /// The verification of the correction as it is; made on demand, when the maps are final.
  engine::Verification& verification() {
    if (!verification_) {
      verification_.emplace(engine::VerifiedCorrection{.workers = workers_,
                                                       .source = source_,
                                                       .paired = paired(),
                                                       .timeline = t_,
                                                       .maps = maps_,
                                                       .survey = survey_ ? &*survey_ : nullptr,
                                                       .are_pairs_settled = are_pairs_settled_,
                                                       .options = options_,
                                                       .progress = progress_},
                            report_);
    }
    return *verification_;
  }

  /// Facts of an overlay that shifts clocks as a whole.
  [[nodiscard]] formats::Attributes facts_of(const CorrectReport& report) const {
    formats::Attributes facts = engine::facts_of(report);
    const std::vector<std::string> names = trace::clock_names(t_.loaded.trace.definitions);
    for (LocationIndex l = 0; l < left_out_.size(); ++l) {
      if (left_out_[l] > 0) facts.emplace_back("left_out_ns." + names[l], left_out_[l]);
    }
    return facts;
  }

  enum class Outcome {
    corrected,
    contradicted  ///< the trace contradicts clock domains that were guessed; nothing else counts
  };

  void tabulate_clocks() {
    std::optional<ClockBounds>& bounds = report_.bounds;
    report_.clocks = diagnosis::clock_table(engine::diagnosed_clocks(workers_, t_), maps_,
                                            evidence_, bounds ? &*bounds : nullptr);
    if (bounds && page_ == nullptr && !options_.check.bounds.rows) bounds->rows.clear();
  }

  [[nodiscard]] const formats::Source& paired() const { return paired_ ? *paired_ : source_; }

  Result<Outcome> attempt(const CheckOptions& check, bool report) {
    t_ = {};
    TRY_ASSIGN(t_, engine::find_timeline(workers_, paired(), check, use(), progress_));
    if (check.bounds.wanted) TRY(hold_in_intervals(report));
    if (report) evidence_ = diagnosis::clock_evidence(engine::diagnosed_clocks(workers_, t_));
    report_.run.phases.scan += t_.scan_s;
    report_.run.phases.presync += t_.presync_s;
    report_.run.phases.match += t_.match_s;
    trace::begin_phase(progress_, "correct");
    maps_ = t_.presync.maps;
    if (shifts_as_a_whole()) {
      formats::ConstantShifts shifts = formats::constant_shifts(t_.loaded.trace, maps_);
      maps_ = std::move(shifts.maps);
      left_out_ = std::move(shifts.left_out);
      if (!shifts.note.empty()) t_.report.notes.push_back(std::move(shifts.note));
    } else if (options_.amortize) {
      TRY_ASSIGN(const Outcome outcome, amortize());
      if (outcome == Outcome::contradicted) return outcome;
    }
    if (!t_.has_given_edges) t_.graph = {};
    if (proven_ && report) {
      const Stopwatch watch(report_.run.phases.bounds);
      report_.bounds = engine::judge(workers_, t_, *proven_, maps_,
                                     engine::wants_rows(t_, *proven_, options_.check.bounds, true));
    }
    if (!paired_) measured_ = t_.measured;
    return Outcome::corrected;
  }

  /// Clocks that go around in circles when some are taken as one are not one.
  Result<void> split_clocks(bool report) {
    CheckOptions apart = options_.check;
    apart.clock_domain = ClockDomain::location;
    TimelineReport first = std::move(t_.report);
    TRY(attempt(apart, report));
    t_.report.clock_domain = first.clock_domain;
    t_.report.notes = std::move(first.notes);
    t_.report.notes.emplace_back(
        "with the clocks of nodes and processes taken as one, messages through other clocks would "
        "arrive before they were sent: every location has a clock of its own");
    return {};
  }

  /// Which events belong together may depend on the clocks: they are paired again by the new times,
  /// until the pairs stay.
  Result<void> settle_pairs(bool report) {
    for (int round = 0;; ++round) {
      std::unique_ptr<formats::Source> next = source_.paired_after(maps_);
      if (!next || same_edges(paired().given()->edges, next->given()->edges)) return {};
      if (round == engine::k_most_pairing_rounds) break;
      if (!paired_ && report) {
        TRY_ASSIGN(before_pairing_, verification().before());
        verification_.reset();
      }
      paired_ = std::move(next);
      report_.run.phases = {.scan = source_.open_s()};
      TRY(attempt(options_.check, report));
    }
    are_pairs_settled_ = false;
    return {};
  }

  /// Proves in which intervals the clocks lie. Where something is violated, projects the presync
  /// maps onto them and the edges.
  Result<void> hold_in_intervals(bool report) {
    const Stopwatch watch(report_.run.phases.bounds);
    if (known_ != nullptr && !paired_) {
      proven_ = *known_;
    } else {
      TRY_ASSIGN(proven_, engine::prove(workers_, t_, options_.check.bounds, progress_));
    }
    if (report) {
      report_.before.bounds = engine::judge(workers_, t_, *proven_, t_.measured.maps, false);
    }
    if (!t_.violated) return {};
    TRY_ASSIGN(const causal::Projection held,
               bounds::project_inside(engine::causal_context(workers_, t_, progress_), t_.domains,
                                      *proven_, t_.presync.maps));
    if (held.moved == 0) return {};
    proven_->about.held_ticks = held.moved;
    t_.presync.provenance += fmt::format(" held_to_ppm={:.9g}", proven_->about.max_rate_ppm);
    engine::measure_shift(workers_, t_);
    return {};
  }

  [[nodiscard]] Result<void> check_maps() {
    return processes_.agree(
        formats::check_maps(source_, t_.loaded.share(processes_), maps_, options_.mode));
  }

  [[nodiscard]] bool is_overlay() const { return options_.mode == WriteMode::overlay; }
  [[nodiscard]] bool shifts_as_a_whole() const { return source_.shifts_as_a_whole(options_.mode); }
  [[nodiscard]] engine::TimelineUse use() const {
    return {.purpose = engine::Purpose::correction,
            .every_event = options_.delta_ticks > 0 || options_.measure_delta,
            .overlay = is_overlay() && !shifts_as_a_whole(),
            .loaded = loaded_};
  }

  /// Forward and backward amortization, of clock domains where locations share clocks. Takes the
  /// graph, but for given edges, which are checked later.
  Result<Outcome> amortize() {
    const clc::Options options =
        engine::amortization_options(options_, t_, workers_.threads(), !is_overlay());
    const trace::Share share = t_.loaded.share(processes_);
    match::Graph graph = t_.has_given_edges ? t_.graph : std::exchange(t_.graph, {});
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
        maps_[l] = map;
        if (!is_overlay() || map == t_.presync.maps[l]) continue;
        TRY_ASSIGN(maps_[l], clocks::straight_in_flushes(map, share.trace.locations[l]));
      }
    }
    gamma_ = result.gamma;
    engine::report_amortization(result, t_, report_);
    return Outcome::corrected;
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

  [[nodiscard]] std::vector<trace::Property> properties() const {
    const engine::CorrectionMethod method{.presync = t_.presync.provenance,
                                          .gamma = gamma_,
                                          .mu = t_.mu,
                                          .clock_domain = t_.report.clock_domain};
    return {{trace::k_property_version, version()},
            {trace::k_property_correction, engine::correction_property(options_, method)}};
  }

  const CorrectOptions& options_;
  const trace::LoadedTrace* loaded_;
  const bounds::ProvenIntervals* known_;
  Progress* progress_;
  Cancel cancel_;
  trace::Workers workers_;
  Team& processes_;
  const formats::Source& source_;
  std::unique_ptr<formats::Source> paired_;  ///< source with the pairs that times are corrected by;
                                             ///< null: those of `source_`
  bool are_pairs_settled_ = true;            ///< the new times show the same pairs
  engine::Timeline t_;                       ///< timeline; without its graph, unless it is given
  clocks::Presynchronised measured_;         ///< clocks of the source as it was opened
  std::optional<bounds::ProvenIntervals> proven_;  ///< only if asked for
  bool writing_ = false;
  std::vector<ClockMap> maps_;          ///< map of each location: stored stamp -> corrected time
  std::vector<std::int64_t> left_out_;  ///< of constant shifts, per location, ticks
  Decimal9 gamma_;
  diagnosis::ClockEvidence evidence_;          ///< evidence on the clocks as measured
  std::optional<CheckReport> before_pairing_;  ///< check of the times as measured by the pairs of
                                               ///< the original, if the correction has others
  std::unique_ptr<formats::Staged> staged_;
  page::Data* page_;                          ///< null: no page is wanted
  std::optional<engine::PageSurvey> survey_;  ///< only with `page_`
  CorrectReport report_;
  std::optional<engine::Verification> verification_;
};

Result<std::unique_ptr<formats::Source>> open(const engine::Run& run, const engine::Paths& paths,
                                              const CorrectOptions& options) {
  TRY_ASSIGN(
      std::unique_ptr<formats::Source> source,
      formats::open(run.processes, paths, options.check.threads, options.check.max_unpacked_bytes));
  TRY(source->check_options(options.check));
  TRY(engine::check_options(options));
  TRY(source->check_writable(options.mode, options.mark_offsets));
  return source;
}

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
  TRY(run.processes.agree(run.processes.rank() == 0 ? formats::check_output(paths, output, rule)
                                                    : Result<void>()));
  const trace::MemoryLimit limit(options.check.memory_limit_bytes);
  TRY_ASSIGN(const std::unique_ptr<formats::Source> source, open(run, paths, options));
  Correction correction(run, *source, options);
  TRY(correction.compute(true, Correction::Writing::yes));
  TRY(correction.explain(correction.write(output, rule)));
  TRY(correction.explain(correction.verify()));
  TRY(correction.explain(correction.check_before()));
  TRY(correction.explain(correction.make_page()));
  CorrectReport report = correction.take_report();
  TRY(correction.commit(report));
  return report;
}

Result<CorrectReport> engine::plan_correction(const Run& run, const Paths& paths,
                                              const CorrectOptions& options) {
  const trace::MemoryLimit limit(options.check.memory_limit_bytes);
  TRY_ASSIGN(const std::unique_ptr<formats::Source> source, open(run, paths, options));
  Correction correction(run, *source, options);
  TRY(correction.compute(true, Correction::Writing::no));
  TRY(correction.explain(correction.verify_planned()));
  TRY(correction.explain(correction.check_before()));
  TRY(correction.explain(correction.make_page()));
  TRY(correction.check_unchanged());
  return correction.take_report();
}

Result<engine::PlannedTimes> engine::plan_times(const Run& run, const formats::Source& source,
                                                const CorrectOptions& options) {
  Correction correction(run, source, options);
  TRY(correction.compute(true, Correction::Writing::no));
  TRY(correction.explain(correction.verify_planned()));
  TRY(correction.explain(correction.check_before()));
  TRY(correction.check_unchanged());
  PlannedTimes times{.report = {}, .maps = {}, .arrows = correction.arrows()};
  times.report = correction.take_report();
  times.maps = correction.take_maps().maps;
  return times;
}

Result<CheckReport> engine::check_clocks(const Run& run, const Paths& paths,
                                         const CorrectOptions& options) {
  const trace::MemoryLimit limit(options.check.memory_limit_bytes);
  TRY_ASSIGN(const std::unique_ptr<formats::Source> source, open(run, paths, options));
  Correction correction(run, *source, options);
  TRY(correction.compute(true, Correction::Writing::no));
  TRY(correction.explain(correction.check_before()));
  TRY(correction.check_unchanged());
  CorrectReport report = correction.take_report();
  report.before.clocks = std::move(report.clocks);
  return std::move(report.before);
}

Result<StragglerReport> engine::find_stragglers(const Run& run, const Paths& paths,
                                                const CorrectOptions& options) {
  const trace::MemoryLimit limit(options.check.memory_limit_bytes);
  CorrectOptions chosen = options;
  const bool as_recorded = options.check.presync == Presync::none;
  chosen.check.bounds.wanted = !as_recorded;
  if (as_recorded) chosen.amortize = false;
  TRY_ASSIGN(const std::unique_ptr<formats::Source> source, open(run, paths, chosen));
  Correction correction(run, *source, chosen);
  TRY(correction.compute(false, Correction::Writing::no));
  TRY_ASSIGN(std::optional<StragglerReport> report, correction.stragglers());
  if (report) {
    for (const std::string& note : source->remarks().notes) report->notes.push_back(note);
  }
  TRY(correction.check_unchanged());
  if (!report) {
    return fail(ErrorKind::usage, fmt::format("{} is {}, which has no collectives; give a training "
                                              "run or an OTF2 archive",
                                              source->path(), source->format_name()));
  }
  if (as_recorded) report->reason = "the times are those as recorded (--presync none)";
  return *std::move(report);
}

Result<engine::ExplainedClocks> engine::explain_clocks(const Run& run,
                                                       const formats::Source& source,
                                                       const CorrectOptions& options,
                                                       const trace::LoadedTrace* loaded,
                                                       const bounds::ProvenIntervals* proven) {
  Correction correction(run, source, options, loaded, proven);
  TRY(correction.compute(true, Correction::Writing::no));
  TRY(correction.check_unchanged());
  return correction.take_clocks();
}

Result<ClockMaps> engine::plan_maps(const Run& run, const formats::Source& source,
                                    const CorrectOptions& options) {
  TRY(source.check_options(options.check));
  TRY(engine::check_options(options));
  Correction correction(run, source, options);
  TRY(correction.compute(false, Correction::Writing::no));
  TRY(correction.check_unchanged());
  return correction.take_maps();
}

Result<ClockMaps> clock_maps(const std::filesystem::path& archive, const CorrectOptions& options,
                             Progress* progress) {
  const trace::MemoryLimit limit(options.check.memory_limit_bytes);
  Solo solo;
  const engine::Run run{.processes = solo, .progress = progress};
  TRY_ASSIGN(const std::unique_ptr<formats::Source> source, open(run, {archive}, options));
  return engine::plan_maps(run, *source, options);
}

Result<StragglerReport> find_stragglers(const std::filesystem::path& trace,
                                        const CorrectOptions& options, Progress* progress) {
  Solo solo;
  return engine::find_stragglers({.processes = solo, .progress = progress}, {trace}, options);
}

Result<ClockTable> clock_table(const std::filesystem::path& trace, const CorrectOptions& options,
                               Progress* progress) {
  Solo solo;
  CorrectOptions proving = options;
  proving.check.bounds.wanted = true;
  const engine::Run run{.processes = solo, .progress = progress};
  const trace::MemoryLimit limit(options.check.memory_limit_bytes);
  TRY_ASSIGN(const std::unique_ptr<formats::Source> source, open(run, {trace}, proving));
  TRY_ASSIGN(engine::ExplainedClocks clocks,
             engine::explain_clocks(run, *source, proving, nullptr, nullptr));
  return std::move(clocks.table);
}

}  // namespace entrain
