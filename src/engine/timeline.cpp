// SPDX-License-Identifier: BSD-3-Clause
#include "engine/timeline.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/edge_list.hpp"
#include "base/exact.hpp"
#include "base/stopwatch.hpp"
#include "base/try.hpp"
#include "carriers/carried_clocks.hpp"
#include "carriers/steps_of_work.hpp"
#include "causal/bend.hpp"
#include "causal/clock_domains.hpp"
#include "causal/common_ends.hpp"
#include "causal/project.hpp"
#include "clc/domain_view.hpp"
#include "engine/archive_records.hpp"
#include "engine/carried_accelerators.hpp"
#include "engine/given_rates.hpp"
#include "engine/timeline_reader.hpp"
#include "explain/explained.hpp"
#include "explain/staying.hpp"
#include "formats/edge_graph.hpp"
#include "formats/given_source.hpp"
#include "trace/phase.hpp"
#include "trace/properties.hpp"

namespace entrain::engine {

namespace {

constexpr double k_us_per_s = 1e6;

/// By how much a clock's rate may differ from its mean at any moment, parts per billion: as bounds
/// assume it at least.
constexpr std::int64_t k_wander_ppb = 50'000;

class Finder : TimelineReader {
 public:
  using TimelineReader::TimelineReader;

  Result<Timeline> run() {
    TRY(read({}));
    const bool is_estimated = !given_ && options_.mu.source == MuSource::round_trip;
    if (is_estimated) TRY(match());
    TRY_ASSIGN(t_.mu, choose_mu(workers_, t_.loaded, t_.measured.maps, options_,
                                given_ ? nullptr : &t_.graph));
    if (is_estimated) take_mu();
    t_.report.clock_domain = options_.clock_domain;
    if (given_ && given_->are_kept) TRY(explain());
    if (corrects() || options_.presync == Presync::causal) {
      if (!is_estimated) TRY(build_graph());
      TRY(improve());
    } else {
      if (use_.purpose == Purpose::bounds && !is_estimated) TRY(build_graph());
      t_.domains = causal::defined_domains(t_.loaded.trace.definitions, options_.clock_domain);
      t_.presync = t_.measured;
      t_.shared_clocks = unasked_domains();
    }
    t_.report.presync = t_.presync.method;
    t_.report.reason = t_.presync.clocks.reason;
    t_.report.clocks = t_.domains.count();
    return std::move(t_);
  }

 private:
  [[nodiscard]] bool corrects() const { return use_.purpose == Purpose::correction; }

  /// Where something is violated: domains, one map for each, and bent clocks.
  Result<void> improve() {
    t_.violated = violated();
    if (!t_.violated) {
      t_.domains = causal::defined_domains(t_.loaded.trace.definitions, ClockDomain::location);
      t_.presync = t_.measured;
      t_.shared_clocks = unasked_domains();
      if (options_.presync == Presync::causal) {
        t_.presync.method = PresyncMethod::causal;
        t_.presync.provenance = fmt::format("causal base={}", t_.measured.provenance);
        t_.presync.clocks.reason = "nothing is violated: no clock is bent";
      }
      return {};
    }
    choose_domains();
    if (is_cut(t_.domains)) {
      t_.graph = {};
      TRY(read(t_.domains.of));
      TRY(build_graph());
    }
    t_.shared_clocks = given_ && given_->are_kept ? domains_that_are_kept() : t_.domains;
    const Stopwatch watch(t_.presync_s);
    TRY(carry_accelerators());
    t_.presync = t_.measured;
    if (!t_.domains.trivial()) {
      causal::share_maps(t_.loaded.share(processes_), t_.domains, t_.presync.maps);
    }
    if (!carried_.any() || causal::any_violation(context(), t_.presync.maps)) {
      TRY_ASSIGN(const bool is_aligned, align_parts());
      if (!is_aligned) TRY(estimate());
      const bool may_fail = !is_aligned && !was_tried_ && !use_.is_explained && wants_estimate();
      if (may_fail && !carries() && !is_plausible()) TRY(explain_estimate());
    }
    if (carried_.any()) TRY(put_accelerators_back());
    refer_to_one_that_stays();
    if (use_.overlay) add_flush_knots();
    measure_shift(workers_, t_);
    return {};
  }

  /// Accelerators of an archive whose clocks are not those of their processes move with them, as
  /// devices in training runs do: the edges between the two are no evidence against the latter.
  Result<void> carry_accelerators() {
    if (given_ || !wants_bending()) return {};
    trace::Workers alone(workers_.threads());
    TRY_ASSIGN(carried_, CarriedAccelerators::take(
                             t_, processes_, [&](const Clocks& pair, const Edges& edges) {
                               return align(alone, pair, edges, assumed_rates().rate_ppb);
                             }));
    return {};
  }

  Result<void> put_accelerators_back() {
    TRY(processes_.agree(carried_.put_back(t_, !is_explained_alone_)));
    if (t_.presync.method != PresyncMethod::causal) {
      t_.presync.method = PresyncMethod::causal;
      t_.presync.provenance = fmt::format("causal base={} accelerators", t_.measured.provenance);
    }
    note_apart(carried_.names());
    t_.told.all.insert(t_.told.all.end(), carried_.steps().begin(), carried_.steps().end());
    return {};
  }

  Result<void> estimate() {
    TRY(carries() ? align_carriers() : choose_maps());
    return project();
  }

  /// True if the estimate meets all edges within rates that the user gave, or that any clock may
  /// have: nothing has to be explained.
  [[nodiscard]] bool is_plausible() const {
    if (t_.projection.contradictions > 0 || causal::any_violation(context(), t_.presync.maps)) {
      return false;
    }
    const causal::AssumedRates limit = assumed_rates();
    const std::int64_t most_ppb =
        limit.is_given ? limit.rate_ppb : std::max(limit.rate_ppb, explain::Prices::fastest_ppb);
    const auto is_fast = [&](LocationIndex l) {
      const auto knots = t_.presync.maps[l].knots();
      for (std::size_t k = 1; k < knots.size(); ++k) {
        const Int128 rise = std::abs(knots[k].offset - knots[k - 1].offset);
        if (rise * k_billion > Int128{most_ppb} * (knots[k].local - knots[k - 1].local))
          return true;
      }
      return false;
    };
    return !processes_.any(std::ranges::any_of(t_.loaded.own(processes_), is_fast));
  }

  /// Estimates the clocks anew without what contradicts the others, if that is known.
  Result<void> explain_estimate() {
    if (processes_.size() > 1) return explain_alone();
    const clocks::Presynchronised before = t_.presync;
    t_.presync = t_.measured;
    if (!t_.domains.trivial()) {
      causal::share_maps(t_.loaded.share(processes_), t_.domains, t_.presync.maps);
    }
    TRY(explain());
    if (!explained_) {
      t_.presync = before;
      return {};
    }
    TRY_ASSIGN(const bool is_aligned, align_parts());
    return is_aligned ? Result<void>() : estimate();
  }

  /// Estimates the clocks of the whole archive in this process, as one process alone would: an
  /// explanation needs all edges.
  Result<void> explain_alone() {
    if (!may_be_explained()) return {};
    trace::Workers alone(workers_.threads());
    auto whole = find_timeline(alone, source_, options_, use_, nullptr);
    TRY(processes_.agree(whole ? Result<void>() : Result<void>(tl::unexpected(whole.error()))));
    is_explained_alone_ = true;
    t_.presync = std::move(whole->presync);
    t_.projection = whole->projection;
    t_.told = std::move(whole->told);
    t_.wrong_pairs = std::move(whole->wrong_pairs);
    if (!t_.wrong_pairs.empty()) drop_pairs(context(), t_.wrong_pairs, t_.graph);
    return {};
  }

  /// True if clocks of one process move together as far as the edges between them allow.
  [[nodiscard]] bool carries() const {
    return given_ && given_->are_kept && corrects() && options_.presync == Presync::automatic &&
           carriers::has_carried(t_.loaded.trace.definitions.process_of);
  }

  /// Aligns the clocks that carry others, and these with them.
  Result<void> align_carriers() {
    TRY_ASSIGN(carriers::CarriedClocks carried,
               carriers::carried_clocks(
                   given_->clocks, given_->edges, t_.loaded.trace.definitions.process_of,
                   [&](const Clocks& pair, const Edges& edges) {
                     return align(workers_, pair, edges, assumed_rates().rate_ppb);
                   }));
    const formats::GivenSource source(carried.clocks, carried.list.view(), true);
    TRY_ASSIGN(Timeline aligned, find_timeline(workers_, source, options_, use_, progress_));
    carriers::leave_steps_to_carried(carried, given_->clocks, given_->edges, aligned.presync.maps,
                                     aligned.told.all);
    TRY_ASSIGN(t_.presync.maps, carriers::maps_of_all(carried, aligned.presync.maps));
    t_.presync.method = PresyncMethod::causal;
    t_.presync.provenance = aligned.presync.provenance;
    t_.presync.clocks.reason = std::move(aligned.presync.clocks.reason);
    for (std::string& note : aligned.report.notes) t_.report.notes.push_back(std::move(note));
    t_.told = std::move(aligned.told);
    t_.told.all.insert(t_.told.all.end(), carried.steps.begin(), carried.steps.end());
    note_apart(carried.apart);
    return {};
  }

  void note_apart(std::span<const std::string> names) {
    if (names.empty()) return;
    t_.report.notes.push_back(
        fmt::format("of one process {} {} from the host's clock: they are two clocks, and the "
                    "edges between them move only the former",
                    fmt::join(names, ", "), names.size() == 1 ? "differs" : "differ"));
  }

  /// Finds out why no clocks within the assumed rates meet all edges, and takes away what is no
  /// evidence. Errors: ErrorKind::usage if the user gave the rates, and these are all that is
  /// wrong.
  Result<void> explain() {
    if (use_.is_explained || was_tried_ || !may_be_explained()) return {};
    was_tried_ = true;
    if (!causal::any_violation(context(), t_.measured.maps)) return {};
    if (!given_) {
      TRY_ASSIGN(records_, records_of(t_, source_, options_.clock_samples));
      if (has_clocks_twice(records_)) return {};
    }
    if (given_) records_.edges = doubts_of_given();
    explained_ = explain::Explained::find(given_ ? given_->clocks : records_.run,
                                          given_ ? given_->edges : records_.list.view(),
                                          {.rate_ppb = assumed_rates().rate_ppb,
                                           .trust = {.edges = records_.edges,
                                                     .instances = records_.instances,
                                                     .is_ordered = !given_,
                                                     .is_weak_guessed = !given_,
                                                     .may_be_exchanged = given_.has_value(),
                                                     .is_limit_given = assumed_rates().is_given},
                                           .offsets = records_.offsets,
                                           .names = records_.names});
    if (!explained_) return {};
    if (!wants_bending() && explained_->tells_of_clocks()) {
      explained_.reset();  // the correction left them as they are
      return {};
    }
    if (explained_->explanation().rate_ppb) return raise_limit(*explained_->explanation().rate_ppb);
    t_.told = explained_->told({});
    return given_ ? take_rest() : take_wrong_pairs();
  }

  [[nodiscard]] bool may_be_explained() const {
    if (given_) {
      return given_->are_kept ? !carriers::has_carried(t_.loaded.trace.definitions.process_of)
                              : t_.domains.trivial();
    }
    constexpr std::int64_t k_most = std::int64_t{1} << 21;  // then memory for a list is not spent
    const std::size_t own = t_.graph.edges.size() + t_.graph.participants.size();
    return processes_.reduce(Team::Reduction::sum, static_cast<std::int64_t>(own)) <= k_most;
  }

  [[nodiscard]] std::vector<explain::Evidence> doubts_of_given() const {
    std::vector<explain::Evidence> doubts;
    for (const char weak : given_->weak) {
      doubts.push_back(weak != 0 ? explain::Evidence::weak : explain::Evidence::usual);
    }
    return doubts;
  }

  /// Rates that the user gave hold, or are refused; others are raised to the least that is
  /// possible.
  Result<void> raise_limit(std::int64_t rate_ppb) {
    if (assumed_rates().is_given) {
      TRY(refuse_given_rates({.clocks = given_ ? given_->clocks : records_.run,
                              .edges = given_ ? given_->edges : records_.list.view(),
                              .reference = reference_clock(),
                              .prior = t_.prior,
                              .wander_ppm = options_.bounds.max_rate_ppm,
                              .wander_ppb = wander_ppb(),
                              .rate_ppb = assumed_rates().rate_ppb,
                              .trace = t_.loaded.trace.path,
                              .contradiction = explained_->contradiction()}));
    }
    const auto ppm = [](std::int64_t ppb) { return static_cast<double>(ppb) / 1e3; };
    t_.told.all.push_back(
        {.kind = ExplanationKind::fast_clocks,
         .evidence = explained_->explanation().certificate.size(),
         .bits = explained_->explanation().bits,
         .text =
             fmt::format("clocks run up to {:.9g} ppm fast or slow, beyond the {:.9g} ppm assumed",
                         ppm(rate_ppb), ppm(assumed_rates().rate_ppb))});
    raised_ppb_ = rate_ppb;
    explained_.reset();
    return {};
  }

  /// Position of the clock that rates are seen from among those of the run; their number: none.
  [[nodiscard]] std::uint32_t reference_clock() const {
    const LocationIndex location = t_.reference.location;
    if (location != k_none) return given_ ? location : t_.domains.of[location];
    if (!t_.reference.consensus) return 0;
    return static_cast<std::uint32_t>(given_ ? given_->clocks.clocks.size()
                                             : records_.run.clocks.size());
  }

  /// Goes on with the given edges that are evidence.
  Result<void> take_rest() {
    if (t_.told.weak + t_.told.wrong == 0) return {};
    rest_ = explained_->rest();
    given_->edges = rest_.view();
    TRY(make_graph());
    return {};
  }

  /// Takes pairs that contradict others out of the graph of an archive.
  Result<void> take_wrong_pairs() {
    for (const std::uint32_t e : explained_->explanation().edges) {
      const match::Edge& edge = t_.graph.edges[e];
      t_.wrong_pairs.push_back({t_.graph.location_of(edge.send), t_.graph.location_of(edge.receive),
                                t_.graph.stamp[edge.send], t_.graph.stamp[edge.receive]});
    }
    for (const std::uint32_t i : explained_->explanation().instances) {
      const match::Participant& first = t_.graph.sends(t_.graph.exchanges[i]).front();
      const std::uint64_t stamp = t_.graph.stamp[first.node];
      t_.wrong_pairs.push_back({first.location, first.location, stamp, stamp});
    }
    std::ranges::sort(t_.wrong_pairs);
    drop_pairs(context(), t_.wrong_pairs, t_.graph);
    return {};
  }

  /// Makes options for an archive those for given edges.
  static void take_archive_out(CheckOptions& options) {
    options.clock_samples.clear();
    options.mu = {};
    options.clock_domain = ClockDomain::location;
  }

  /// Aligns clocks before and after they were set as if they were different ones. False if none
  /// was.
  Result<bool> align_parts() {
    if (!explained_ || explained_->explanation().steps.empty() || !wants_bending()) return false;
    const formats::GivenSource parts(explained_->clocks(), explained_->edges(),
                                     given_ && given_->are_kept);
    CheckOptions options = options_;
    if (!given_) take_archive_out(options);
    options.clock_domain = ClockDomain::location;
    options.clock_prior.kind = t_.prior.kind;
    TRY_ASSIGN(Timeline aligned,
               find_timeline(workers_, parts, options,
                             {.purpose = use_.purpose, .is_explained = true}, progress_));
    std::vector<StampRange> extents;
    for (const auto& members : t_.domains.members) {
      const trace::LocationSkeleton extent = trace::extent_of(t_.loaded.trace, members);
      extents.push_back({extent.first, extent.last});
    }
    const auto maps = explained_->join(aligned.presync.maps, extents);
    if (!maps) {
      t_.told.all.clear();
      return false;
    }
    t_.told = explained_->told(*maps);
    t_.presync.clocks.reason = std::move(aligned.presync.clocks.reason);
    t_.presync.provenance = std::move(aligned.presync.provenance);
    t_.presync.method = PresyncMethod::causal;
    for (std::uint32_t d = 0; d < t_.domains.count(); ++d) {
      for (const LocationIndex l : t_.domains.members[d]) t_.presync.maps[l] = (*maps)[d];
    }
    return true;
  }

  /// Lets most clocks stay, if that leaves no violation; else aligns all of them, and lets them
  /// stay if that is no worse.
  Result<void> choose_maps() {
    const std::size_t half = (t_.domains.count() - 1) / 2;
    for (const std::int64_t rate_ppb : rates_beside_staying()) {
      TRY_ASSIGN(std::optional<explain::KeptClocks> kept,
                 explain::keep_most_clocks(given_->clocks, given_->edges, rate_ppb, half,
                                           [&](const Clocks& group, const Edges& edges) {
                                             return align(workers_, group, edges, rate_ppb);
                                           }));
      if (kept && !causal::any_violation(context(), kept->maps)) {
        take_kept(*std::move(kept));
        return {};
      }
    }
    return align_all();
  }

  /// Aligns all clocks: by ends of collectives that coincide, or by a fit of all edges.
  Result<void> align_all() {
    causal::CommonEnds ends(context(), t_.measured, t_.presync);
    if (given_ && !has_sessions()) {
      trace::begin_phase(progress_, "presync");
      TRY(ends.find(given_->clocks, given_->edges));
    }
    const bool may_set =
        corrects() && options_.presync == Presync::automatic && t_.domains.trivial();
    if (may_set && ends.set()) return {};  // a fit could only take away what they tell
    if (wants_bending()) {
      if (options_.presync == Presync::automatic && t_.domains.count() > k_most_bent_clocks) {
        t_.presync.clocks.reason = fmt::format(
            "{} clocks are not bent unless --presync causal asks for it: that may take long",
            t_.domains.count());
      } else {
        TRY(bend());
      }
      ends.choose_less_violated();
    }
    return {};
  }

  /// True if clocks may stay or move as their edges, single ones without delays, demand.
  [[nodiscard]] bool may_keep() const {
    return given_ && given_->are_kept && corrects() && options_.presync == Presync::automatic &&
           t_.reference.consensus && t_.domains.trivial() && !has_sessions() &&
           given_->edges.instances.empty() && t_.mu.ticks == MuTicks{};
  }

  void take_kept(explain::KeptClocks kept) {
    t_.presync.clocks.reason = fmt::format(
        "{} of {} clocks {}; the others are aligned to {} by messages", kept.kept, kept.maps.size(),
        kept.kept == 1 ? "stays as it is" : "stay as they are", kept.kept == 1 ? "it" : "them");
    t_.presync.maps = std::move(kept.maps);
    t_.presync.method = PresyncMethod::causal;
  }

  /// The maps of clocks of which the first one is the reference.
  Result<std::vector<ClockMap>> align(trace::Workers& workers, const Clocks& group,
                                      const Edges& edges, std::int64_t rate_ppb) {
    CheckOptions options = options_;
    if (!given_) take_archive_out(options);
    options.reference = group.clocks.front().name;
    if (rate_ppb > assumed_rates().rate_ppb) {
      options.bounds.max_rate_ppm = static_cast<double>(rate_ppb - t_.prior.mean_ppb) / 1e3;
    }
    const formats::GivenSource source(group, edges);
    TRY_ASSIGN(Timeline aligned,
               find_timeline(workers, source, options,
                             {.purpose = Purpose::correction, .is_explained = true}, progress_));
    return std::move(aligned.presync.maps);
  }

  [[nodiscard]] bool has_sessions() const {
    return std::ranges::any_of(given_->clocks.clocks,
                               [](const Clock& clock) { return !clock.sessions.empty(); });
  }

  /// A consensus leaves most clocks as they are: bounds say how far all are from one of these.
  void refer_to_one_that_stays() {
    if (!t_.reference.consensus || t_.reference.location != k_none) return;
    const auto stays = [&](LocationIndex l) {
      return t_.loaded.trace.locations[l].event_count > 0 && t_.presync.maps[l].is_identity();
    };
    const std::vector<LocationIndex> own = t_.loaded.share(processes_).own();
    const auto first = std::find_if(own.begin(), own.end(), stays);
    const std::int64_t chosen = processes_.reduce(
        Team::Reduction::min, first == own.end() ? std::int64_t{k_none} : std::int64_t{*first});
    t_.reference.location = static_cast<LocationIndex>(chosen);
  }

  [[nodiscard]] trace::ClockDomains domains_that_are_kept() const {
    return carriers::domains_in_processes(given_->edges, t_.loaded.trace.definitions.process_of);
  }

  /// Found without the trace: processes, whose locations always have one owner.
  [[nodiscard]] trace::ClockDomains unasked_domains() const {
    if (given_ && given_->are_kept) return domains_that_are_kept();
    const bool apart = options_.clock_domain == ClockDomain::location;
    return causal::defined_domains(t_.loaded.trace.definitions,
                                   apart ? ClockDomain::location : ClockDomain::process);
  }

  [[nodiscard]] bool violated() {
    const Stopwatch watch(t_.presync_s);
    return causal::any_violation(context(), t_.measured.maps);
  }

  void choose_domains() {
    const Stopwatch watch(t_.presync_s);
    causal::DomainChoice choice = causal::choose_domains(context(), options_.clock_domain);
    t_.domains = std::move(choice.domains);
    t_.domains_are_guessed = choice.automatic && !choice.proved;
    t_.domains_are_proved = choice.proved;
    t_.report.notes = std::move(choice.notes);
  }

  /// True if the locations of some domain have different owners.
  [[nodiscard]] bool is_cut(const trace::ClockDomains& domains) const {
    const std::vector<std::uint32_t>& owner = t_.loaded.partition.owner;
    return std::any_of(domains.members.begin(), domains.members.end(), [&](const auto& members) {
      return std::any_of(members.begin(), members.end(),
                         [&](LocationIndex l) { return owner[l] != owner[members.front()]; });
    });
  }

  [[nodiscard]] bool wants_estimate() const {
    return options_.presync == Presync::causal ||
           (corrects() && options_.presync == Presync::automatic);
  }
  [[nodiscard]] bool wants_bending() const {
    return options_.presync == Presync::causal ||
           (wants_estimate() && trace::find_property(t_.loaded.trace.definitions,
                                                     trace::k_property_correction) == nullptr);
  }

  Result<void> bend() {
    trace::begin_phase(progress_, "fit");
    clocks::Presynchronised bent = t_.presync;
    TRY_ASSIGN(const bool changed, causal::bend_by_edges(context(), t_.domains, bent));
    if (!changed && options_.presync == Presync::automatic) {
      t_.presync.clocks.reason = fmt::format("causal was tried: {}", bent.clocks.reason);
      return {};
    }
    t_.presync = std::move(bent);
    return {};
  }

  /// Moves the clocks so that no edge is violated, if such clocks exist within the assumed rates.
  Result<void> project() {
    if (!wants_bending()) return {};
    TRY_ASSIGN(t_.projection,
               causal::project_onto_edges(context(), t_.domains, assumed_rates(), t_.presync.maps));
    if (t_.projection.moved == 0) return {};
    clocks::Presynchronised& presync = t_.presync;
    const double us_per_tick =
        k_us_per_s / static_cast<double>(t_.loaded.trace.definitions.clock.resolution_hz);
    presync.clocks.reason += fmt::format("{}projected onto the edges: at most {:.3g} us",
                                         presync.clocks.reason.empty() ? "" : "; ",
                                         static_cast<double>(t_.projection.moved) * us_per_tick);
    if (presync.method != PresyncMethod::causal) {
      presync.method = PresyncMethod::causal;
      presync.provenance = fmt::format("causal base={}", presync.provenance);
    }
    presync.provenance += " projected";
    for (ClockQuality& clock : presync.clocks.clocks) {  // they describe the maps before
      clock.interval_bound_ticks.reset();
      clock.predicted_bound_ticks.reset();
    }
    return {};
  }

  [[nodiscard]] std::int64_t wander_ppb() const {
    const std::optional<double>& given = options_.bounds.max_rate_ppm;
    return given ? std::llround(*given * 1e3) : k_wander_ppb;
  }
  [[nodiscard]] causal::AssumedRates assumed_rates() const {
    const std::int64_t mean_ppb = std::max(raised_ppb_, t_.prior.mean_ppb);
    return {.rate_ppb = std::max(
                raised_ppb_, std::min(t_.prior.mean_ppb + wander_ppb(), clocks::k_any_mean_ppb)),
            .mean_ppb = std::min(mean_ppb, clocks::k_any_mean_ppb),
            .is_given = options_.bounds.max_rate_ppm.has_value() || t_.prior.mean_given};
  }

  /// Limits on the rates of clocks that move beside clocks that stay, to be tried in turn: as
  /// assumed; then as undisciplined clocks have them, or twice the least limit for all clocks, by
  /// which two differ. Empty: none may stay.
  [[nodiscard]] std::vector<std::int64_t> rates_beside_staying() const {
    if (!may_keep()) return {};
    const causal::AssumedRates limit = assumed_rates();
    if (limit.is_given) return {limit.rate_ppb};
    const std::int64_t fast = std::max(explain::Prices::fastest_ppb, 2 * raised_ppb_);
    return {limit.rate_ppb, std::min(fast, clocks::k_any_mean_ppb)};
  }

  /// A map that an OTF2 reader applies must not bend inside a flush; one that all locations of a
  /// domain share, inside a flush of none of them.
  void add_flush_knots() {
    for (const auto& members : t_.domains.members) {
      if (members.size() < 2) continue;
      if (!t_.loaded.partition.owns(processes_.rank(), members.front())) continue;
      const trace::LocationSkeleton extent = trace::extent_of(t_.loaded.trace, members);
      if (extent.event_count == 0) continue;
      const ClockMap map = clc::with_flush_knots(t_.presync.maps[members.front()], extent);
      for (const LocationIndex l : members) t_.presync.maps[l] = map;
    }
  }

  ArchiveRecords records_;  ///< records of an archive; or doubts about given edges
  EdgeList rest_;           ///< given edges that are evidence
  std::optional<explain::Explained> explained_;
  CarriedAccelerators carried_;
  bool is_explained_alone_ = false;  ///< presync.maps are those of explain_alone()
  bool was_tried_ = false;       ///< explain() knows by now whether there is anything to explain
  std::int64_t raised_ppb_ = 0;  ///< least limit on rates that is possible; 0: that assumed is
};

}  // namespace

constraints::Context causal_context(trace::Workers& workers, const Timeline& timeline,
                                    const Progress* progress) {
  return {.share = timeline.loaded.share(workers.processes()),
          .graph = timeline.graph,
          .mu = timeline.mu.ticks,
          .prior = timeline.prior,
          .reference = timeline.reference,
          .threads = workers.threads(),
          .progress = progress};
}

diagnosis::ClocksOfTrace diagnosed_clocks(trace::Workers& workers, const Timeline& timeline) {
  return {.context = causal_context(workers, timeline, nullptr),
          .measured = timeline.measured.maps,
          .found = timeline.presync.maps,
          .shared = timeline.shared_clocks,
          .are_edges_given = timeline.has_given_edges};
}

Result<Timeline> find_timeline(trace::Workers& workers, const formats::Source& source,
                               const CheckOptions& options, const TimelineUse& use,
                               Progress* progress) {
  return Finder(workers, source, options, use, progress).run();
}

}  // namespace entrain::engine
