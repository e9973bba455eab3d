// SPDX-License-Identifier: BSD-3-Clause
#include "engine/correction.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>

#include <fmt/ranges.h>

#include "base/stopwatch.hpp"
#include "base/try.hpp"
#include "clc/amortize.hpp"
#include "clc/domain_view.hpp"
#include "constraints/context.hpp"
#include "engine/amortization.hpp"
#include "engine/correct_output.hpp"
#include "formats/registry/open.hpp"
#include "match/graph.hpp"
#include "picture/flows.hpp"
#include "trace/phase.hpp"
#include "waits/judge.hpp"

namespace entrain::engine {

namespace {

/// The most physical memory that this process has had, bytes.
std::uint64_t peak_memory_bytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

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

/// True if a check of the result could not find why the verdict is `unproven`: what is not paired
/// in the original is not paired in the result.
bool is_doubt_lost(const Judgement& judgement, const CheckReport& after) {
  if (judgement.verdict != Verdict::unproven) return false;
  if (judgement.doubt != Doubt::set_aside) {
    return judgement.doubt != Doubt::low_coverage && judgement.doubt != Doubt::no_edges;
  }
  const auto is_decisive = [](const SetAside& one) { return one.is_decisive; };
  const auto is_lost = [](const SetAside& one) {
    return one.is_decisive && one.kind != "unpaired";
  };
  // None is decisive: too many edges were set aside.
  return std::ranges::none_of(after.set_aside, is_decisive) ||
         std::ranges::any_of(after.set_aside, is_lost);
}

bool has_dropped(const Counters& cycles) { return count_of(cycles, "dropped_components") > 0; }

/// Position of the second knot of the segment of a map over a gap in the stamps in which its offset
/// changes most; 0 if none does.
std::size_t step_over(std::span<const ClockKnot> knots, std::uint64_t from, std::uint64_t to) {
  std::size_t second = 0;
  std::int64_t most = 0;
  for (std::size_t k = 1; k < knots.size(); ++k) {
    const std::int64_t change = std::abs(knots[k].offset - knots[k - 1].offset);
    if (knots[k - 1].local > to || knots[k].local < from || change <= most) continue;
    most = change;
    second = k;
  }
  return second;
}

/// Tells the step of a clock in [from, to] by the times as stored: `back` ticks more, and a stamp
/// that counts on by `ahead`.
void tell(const std::string& clock, std::uint64_t from, std::uint64_t to, std::int64_t back,
          std::int64_t ahead, std::uint64_t resolution_hz, explain::Told& told) {
  for (ClockExplanation& one : told.all) {
    const bool is_of_it = one.kind == ExplanationKind::step && one.size_ticks &&
                          !one.clocks.empty() && one.clocks.front() == clock;
    if (!is_of_it || *one.time_ticks < from || *one.time_ticks > to) continue;
    one.size_ticks = *one.size_ticks + back;
    one.time_ticks = *one.time_ticks - static_cast<std::uint64_t>(ahead);
    one.text = explain::told_step(fmt::format("{}", fmt::join(one.clocks, ", ")), *one.time_ticks,
                                  one.size_ticks, resolution_hz)
                   .text;
  }
}

/// Tells the steps of clocks that were set back by the times as stored: their stamps count on, and
/// a step was found beside what they count on by. Changes Timeline::told. Returns, per clock, its
/// stamps -> as stored (Timeline::stored), which fall where its map steps; empty if all are as
/// stored.
std::vector<ClockMap> tell_as_stored(Timeline& timeline) {
  std::vector<ClockMap> stored = timeline.stored;
  const trace::Definitions& definitions = timeline.loaded.trace.definitions;
  const std::vector<std::string> names = trace::clock_names(definitions);
  for (std::size_t c = 0; c < stored.size(); ++c) {
    std::vector<ClockKnot> falls(stored[c].knots().begin(), stored[c].knots().end());
    if (falls.size() < 2) continue;
    const std::span<const ClockKnot> knots = timeline.presync.maps[c].knots();
    for (std::size_t f = 1; f < falls.size(); ++f) {
      ClockKnot &before = falls[f - 1], &after = falls[f];
      if (after.offset == before.offset) continue;
      const std::size_t second = step_over(knots, before.local, after.local);
      if (second == 0) continue;
      const ClockKnot &first = knots[second - 1], &last = knots[second];
      // A part reaches into the gap of its step by a half of what is left at most.
      const std::uint64_t latest =
          std::max(after.local, last.local + (last.local - first.local) / 2 + 1);
      tell(names[c], before.local, latest, after.offset - before.offset, -after.offset,
           definitions.clock.resolution_hz, timeline.told);
      before.local = first.local;
      after.local = last.local;
    }
    falls.front().local = std::min(falls.front().local, falls[1].local - 1);
    falls.back().local = std::max(falls.back().local, falls[falls.size() - 2].local + 1);
    if (auto moved = ClockMap::from_knots(std::move(falls))) stored[c] = *std::move(moved);
  }
  return stored;
}

}  // namespace

Result<void> Correction::compute(bool report, Writing writing) {
  writing_ = writing;
  report_.run.phases.scan += source_.open_s();
  TRY_ASSIGN(const Outcome outcome, attempt(options_.check, report));
  if (outcome == Outcome::contradicted) TRY(split_clocks(report));
  TRY(settle_pairs(report));
  if (report) tabulate_clocks();
  if (report && page_ != nullptr) survey_.emplace(workers_, source_, t_);
  return cancel_.agree(processes_);
}

Result<void> Correction::write(const std::filesystem::path& output, const OutputRule& rule) {
  const Stopwatch watch(report_.run.phases.write);
  const trace::Share share = t_.loaded.share(processes_);
  TRY(check_maps());
  note_offsets_out_of_order(share);
  const TimeRange range = time_range(share, maps_);
  const formats::WritePlan plan{
      .workers = workers_,
      .loaded = t_.loaded,
      .maps = maps_,
      .measured = t_.measured.maps,
      .first_time = range.first,
      .last_time = range.last,
      .properties = {{trace::k_property_version, version()},
                     {trace::k_property_correction, correction_property(options_, t_, gamma_)}},
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

Result<void> Correction::verify() {
  return options_.verify ? verification().written(*staged_) : Result<void>();
}

Result<void> Correction::verify_planned() {
  TRY(check_maps());
  return verification().planned();
}

Result<void> Correction::explain(Result<void> result) {
  if (!result && result.error().kind != ErrorKind::interrupted) {
    TRY(check_unchanged());
  }
  return result;
}

Result<void> Correction::check_before() {
  auto bounds = std::move(report_.before.bounds);
  TRY_ASSIGN(CheckReport before, verification().before());
  report_.before = before_pairing_ ? *std::move(before_pairing_) : std::move(before);
  report_.before.bounds = std::move(bounds);
  clocks::Presynchronised measured = measured_;
  engine::take_clocks(source_, measured, report_.before);
  return cancel_.agree(processes_);
}

Result<void> Correction::make_page() {
  if (!survey_) return {};
  TRY_ASSIGN(*page_,
             survey_->page(t_.measured.maps, maps_, report_.judgement.has_value(), report_.bounds));
  // The calls are in memory at every process: those of longer archives only on demand.
  constexpr std::uint64_t k_most_calls = std::uint64_t{1} << 22;
  const bool are_few = report_.before.coverage.collective_calls <= k_most_calls;
  if (proven_ && (source_.given() || !processes_.any(!are_few))) {
    TRY_ASSIGN(page_->stragglers, stragglers());
  }
  if (report_.bounds && !options_.check.bounds.rows) report_.bounds->rows.clear();
  return {};
}

Result<std::optional<StragglerReport>> Correction::stragglers() {
  const trace::Share share = t_.loaded.share(processes_);
  TRY_ASSIGN(const auto found, paired().collectives(share, options_.check, progress_));
  if (!found) return std::nullopt;
  StragglerReport report = waits::judge({.share = share,
                                         .collectives = *found,
                                         .maps = maps_,
                                         .proven = proven_ ? &*proven_ : nullptr});
  report.archive = source_.path();
  for (const std::string& warning : source_.remarks().warnings) report.notes.push_back(warning);
  return std::optional(std::move(report));
}

Result<void> Correction::commit(const CorrectReport& report) {
  TRY(check_unchanged());
  if (!workers_.first()) return processes_.agree({});
  Result<void> told;
  if (shifts_as_a_whole()) {
    formats::Attributes facts = facts_of(report);
    const std::vector<std::string> names = trace::clock_names(t_.loaded.trace.definitions);
    for (LocationIndex l = 0; l < left_out_.size(); ++l) {
      if (left_out_[l] > 0) facts.emplace_back("left_out_ns." + names[l], left_out_[l]);
    }
    told = staged_->annotate(facts);
  }
  const bool unproven = report.judgement && is_doubt_lost(*report.judgement, report.after);
  return processes_.agree(told ? staged_->commit(unproven) : told);
}

CorrectReport Correction::take_report() {
  if (writing_ == Writing::yes) report_.mode = options_.mode;
  report_.timeline = std::move(t_.report);
  for (const std::string& note : source_.remarks().notes) {
    report_.timeline.notes.push_back(note);
  }
  if (!is_overlay() && !whole_note_.empty() && report_.after.violations > 0) {
    report_.before.estimation.warnings.push_back(std::move(whole_note_));
  }
  const TimeRange range = time_range(t_.loaded.share(processes_), t_.presync.maps);
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

BigVector<formats::MergeArrow> Correction::arrows() {
  BigVector<std::int64_t> times;
  constraints::evaluate_nodes(causal_context(workers_, t_, progress_), times,
                              [&](LocationIndex l) { return ClockMap::Cursor(maps_[l]); });
  BigVector<formats::MergeArrow> arrows;
  const match::Graph& graph = t_.graph;
  for (const picture::Flow& flow : picture::flows_of(graph, times, t_.mu.ticks)) {
    const LocationIndex from = graph.location_of(flow.from), to = graph.location_of(flow.to);
    if (graph.process_of[from] == graph.process_of[to]) continue;
    arrows.push_back({from, to, graph.stamp[flow.from], graph.stamp[flow.to]});
  }
  return arrows;
}

ExplainedClocks Correction::take_clocks() {
  return {std::move(report_.clocks), std::move(t_.told), std::move(t_.wrong_pairs),
          std::move(t_.set_aside)};
}

ClockMaps Correction::take_maps() {
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

Verification& Correction::verification() {
  if (!verification_) {
    verification_.emplace(VerifiedCorrection{.workers = workers_,
                                             .source = source_,
                                             .paired = paired(),
                                             .timeline = t_,
                                             .maps = maps_,
                                             .survey_before = survey_ ? survey_->before() : nullptr,
                                             .survey_after = survey_ ? survey_->after() : nullptr,
                                             .are_pairs_settled = are_pairs_settled_,
                                             .options = options_,
                                             .progress = progress_},
                          report_);
  }
  return *verification_;
}

void Correction::tabulate_clocks() {
  std::optional<ClockBounds>& bounds = report_.bounds;
  diagnosis::ClocksOfTrace clocks = diagnosed_clocks(workers_, t_);
  if (!stored_.empty()) clocks.measured = stored_;  // off by what they were set back, too
  report_.clocks = diagnosis::clock_table(clocks, maps_, evidence_, bounds ? &*bounds : nullptr);
  if (bounds && page_ == nullptr && !options_.check.bounds.rows) bounds->rows.clear();
}

Result<Correction::Outcome> Correction::attempt(const CheckOptions& check, bool report) {
  t_ = {};
  const TimelineUse use{.purpose = Purpose::correction,
                        .every_event = options_.delta_ticks > 0 || options_.measure_delta,
                        .overlay = is_overlay() && !shifts_as_a_whole(),
                        .is_explained = is_explained_ && !paired_,
                        .loaded = loaded_};
  TRY_ASSIGN(t_, find_timeline(workers_, paired(), check, use, progress_));
  stored_ = tell_as_stored(t_);
  if (check.bounds.wanted) TRY(hold_in_intervals(report));
  if (report) evidence_ = diagnosis::clock_evidence(diagnosed_clocks(workers_, t_));
  report_.run.phases.scan += t_.scan_s;
  report_.run.phases.presync += t_.presync_s;
  report_.run.phases.match += t_.match_s;
  trace::begin_phase(progress_, "correct");
  maps_ = t_.presync.maps;
  if (shifts_as_a_whole()) {
    formats::ConstantShifts shifts = source_.whole_shifts(options_.mode, t_.loaded.trace, maps_);
    maps_ = std::move(shifts.maps);
    left_out_ = std::move(shifts.left_out);
    if (!shifts.note.empty()) t_.report.notes.push_back(shifts.note);
    whole_note_ = std::move(shifts.note);
  } else if (options_.amortize) {
    TRY_ASSIGN(const Outcome outcome, amortize());
    if (outcome == Outcome::contradicted) return outcome;
  }
  if (!t_.has_given_edges) t_.graph = {};
  if (proven_ && report) {
    const Stopwatch watch(report_.run.phases.bounds);
    report_.bounds =
        judge(workers_, t_, *proven_, maps_, wants_rows(t_, *proven_, options_.check.bounds, true));
  }
  if (!paired_) measured_ = t_.measured;
  return Outcome::corrected;
}

Result<void> Correction::split_clocks(bool report) {
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

Result<void> Correction::settle_pairs(bool report) {
  for (int round = 0;; ++round) {
    std::unique_ptr<formats::Source> next = source_.paired_after(maps_);
    if (!next || same_edges(paired().given()->edges, next->given()->edges)) return {};
    if (round == k_most_pairing_rounds) break;
    if (!paired_ && report) {
      TRY_ASSIGN(before_pairing_, verification().before());
      verification_.reset();
    }
    paired_ = std::move(next);
    paired_->set_unproven(source_.is_unproven());
    report_.run.phases = {.scan = source_.open_s()};
    TRY(attempt(options_.check, report));
  }
  are_pairs_settled_ = false;
  return {};
}

Result<void> Correction::hold_in_intervals(bool report) {
  const Stopwatch watch(report_.run.phases.bounds);
  if (known_ != nullptr && !paired_) {
    proven_ = *known_;
  } else {
    TRY_ASSIGN(proven_, prove(workers_, t_, options_.check.bounds, progress_));
  }
  if (report) {
    report_.before.bounds = judge(workers_, t_, *proven_, t_.measured.maps, false);
  }
  if (!t_.violated) return {};
  TRY_ASSIGN(const causal::Projection held,
             bounds::project_inside(causal_context(workers_, t_, progress_), t_.domains, *proven_,
                                    t_.presync.maps));
  if (held.moved == 0) return {};
  proven_->about.held_ticks = held.moved;
  t_.presync.provenance += fmt::format(" held_to_ppm={:.9g}", proven_->about.max_rate_ppm);
  measure_shift(workers_, t_);
  return {};
}

Result<void> Correction::check_maps() {
  return processes_.agree(
      formats::check_maps(source_, t_.loaded.share(processes_), maps_, options_.mode));
}

Result<Correction::Outcome> Correction::amortize() {
  const clc::Options options =
      amortization_options(options_, t_, workers_.threads(), !is_overlay());
  const trace::Share share = t_.loaded.share(processes_);
  match::Graph graph = t_.has_given_edges ? t_.graph : std::exchange(t_.graph, {});
  clc::Amortization result;
  if (t_.domains.trivial()) {
    TRY_ASSIGN(result, clc::amortize(share, std::move(graph), t_.presync.maps, options, progress_));
    for (const LocationIndex l : share.own()) maps_[l] = std::move(result.maps[l]);
  } else {
    clc::DomainView view =
        clc::merge_domains(share, std::move(graph), t_.presync.maps, t_.domains, !is_overlay());
    TRY_ASSIGN(result, clc::amortize({processes_, view.partition, view.trace},
                                     std::move(view.graph), view.presync, options, progress_));
    if (has_dropped(result.cycles) && !t_.domains_are_proved) {
      if (t_.domains_are_guessed) return Outcome::contradicted;
      return input_error(
          "clocks of {} are not shared as --clock-domain {} says: taken as one, "
          "they make messages arrive before they were sent, all around; try "
          "--clock-domain auto",
          share.trace.path, name_of(t_.report.clock_domain));
    }
    for (const LocationIndex l : share.own()) {
      const ClockMap& map = result.maps[t_.domains.of[l]];
      maps_[l] = map;
      if (!is_overlay() || map == t_.presync.maps[l]) continue;
      TRY_ASSIGN(maps_[l], clocks::straight_in_flushes(map, share.trace.locations[l]));
    }
  }
  gamma_ = result.gamma;
  report_amortization(result, t_, report_);
  return Outcome::corrected;
}

void Correction::note_offsets_out_of_order(const trace::Share& share) {
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

Result<std::unique_ptr<formats::Source>> open_to_correct(const Run& run, const Paths& paths,
                                                         const CorrectOptions& options) {
  TRY_ASSIGN(std::unique_ptr<formats::Source> source,
             formats::open(run.processes, paths, options.check.threads,
                           formats::read_options(options.check)));
  TRY(source->check_options(options.check));
  TRY(check_options(options));
  TRY(source->check_writable(options.mode, options.mark_offsets));
  return source;
}

}  // namespace entrain::engine
