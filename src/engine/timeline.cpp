// SPDX-License-Identifier: BSD-3-Clause
#include "engine/timeline.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/exact.hpp"
#include "base/stopwatch.hpp"
#include "base/stray_times.hpp"
#include "base/try.hpp"
#include "carriers/carried_clocks.hpp"
#include "carriers/steps_of_work.hpp"
#include "causal/bend.hpp"
#include "causal/clock_domains.hpp"
#include "causal/common_ends.hpp"
#include "clc/domain_view.hpp"
#include "engine/archive_records.hpp"
#include "engine/carried_accelerators.hpp"
#include "engine/timeline_explainer.hpp"
#include "explain/staying.hpp"
#include "formats/given_source.hpp"
#include "trace/phase.hpp"

namespace entrain::engine {

namespace {

constexpr double k_us_per_s = 1e6;

/// Finds the times of a trace. The steps are the same for all formats:
///  1. read the trace, its sessions and its edges (TimelineReader);
///  2. find the clocks that are one, or that others carry, and take these out of the problem;
///  3. explain edges that no clocks meet, and leave out what is no evidence (TimelineExplainer);
///  4. estimate clocks: as many as possible stay, or ends coincide, or a fit bends them;
///  5. project the estimate onto the edges;
///  6. put carried clocks back.
/// Clocks that were set, those beside clocks that stay, and carriers of given clocks are problems
/// of their own: clocks and edges, of which find_timeline() finds the times.
class Finder : TimelineExplainer {
 public:
  using TimelineExplainer::TimelineExplainer;

  Result<Timeline> run() {
    TRY(read({}));
    TRY(find_mu());
    t_.stored_violated = !t_.stored.empty() && causal::any_violation(context(), t_.stored);
    t_.report.clock_domain = options_.clock_domain;
    if (given_ && use_.set_aside != nullptr) {
      TRY(set_aside(*use_.set_aside));
    } else if (given_ && given_->are_kept) {
      TRY(explain());
    }
    const bool may_improve = corrects() || options_.presync == Presync::causal;
    if (may_improve || use_.purpose == Purpose::bounds) TRY(build_graph());
    if (may_improve) t_.violated = is_violated();
    if (t_.violated) {
      TRY(improve());
    } else {
      keep_measured(may_improve ? ClockDomain::location : options_.clock_domain);
    }
    t_.report.presync = t_.presync.method;
    t_.report.reason = t_.presync.clocks.reason;
    t_.report.clocks = t_.domains.count();
    t_.is_unproven = source_.is_unproven();
    return std::move(t_);
  }

 private:
  [[nodiscard]] bool is_violated() {
    const Stopwatch watch(t_.presync_s);
    return causal::any_violation(context(), t_.measured.maps);
  }

  void keep_measured(ClockDomain rule) {
    t_.domains = causal::defined_domains(t_.loaded.trace.definitions, rule);
    t_.presync = t_.measured;
    t_.shared_clocks = unasked_domains();
    if (options_.presync != Presync::causal) return;
    begin_causal(t_.presync);
    t_.presync.clocks.reason = "nothing is violated: no clock is bent";
  }

  Result<void> improve() {
    TRY(find_domains());
    const Stopwatch watch(t_.presync_s);
    TRY(carry_accelerators());
    share_measured();
    if (!carried_.any() || causal::any_violation(context(), t_.presync.maps)) {
      TRY(estimate());
      TRY(explain_estimate());
    }
    doubt_sessions();
    if (carried_.any()) TRY(put_accelerators_back());
    refer_to_one_that_stays();
    if (use_.overlay) add_flush_knots();
    measure_shift(workers_, t_);
    return {};
  }

  // Clocks that move together.

  /// Finds the locations that share a clock; they get one owner.
  Result<void> find_domains() {
    choose_domains();
    if (is_cut(t_.domains)) {
      TRY(read(t_.domains.of));
      TRY(build_graph());
    }
    t_.shared_clocks = given_ && given_->are_kept ? domains_that_are_kept() : t_.domains;
    return {};
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
    return std::ranges::any_of(domains.members, [&](const auto& members) {
      return std::ranges::any_of(
          members, [&](LocationIndex l) { return owner[l] != owner[members.front()]; });
    });
  }

  [[nodiscard]] trace::ClockDomains domains_that_are_kept() const {
    return carriers::domains_in_processes(given_->edges, process_of());
  }

  /// Found without the trace: processes, whose locations always have one owner.
  [[nodiscard]] trace::ClockDomains unasked_domains() const {
    if (given_ && given_->are_kept) return domains_that_are_kept();
    const bool apart = options_.clock_domain == ClockDomain::location;
    return causal::defined_domains(t_.loaded.trace.definitions,
                                   apart ? ClockDomain::location : ClockDomain::process);
  }

  [[nodiscard]] const std::vector<std::uint32_t>& process_of() const {
    return t_.loaded.trace.definitions.process_of;
  }

  /// Accelerators of an archive whose clocks are not those of their processes move with them, as
  /// devices in training runs do: the edges between the two are no evidence against the latter.
  Result<void> carry_accelerators() {
    if (given_ || !wants_bending()) return {};
    trace::Workers alone(workers_.threads());
    TRY_ASSIGN(carried_, CarriedAccelerators::take(t_, processes_, aligned_beside_first(alone)));
    return {};
  }

  Result<void> put_accelerators_back() {
    TRY(processes_.agree(carried_.put_back(t_, !is_explained_alone_)));
    if (begin_causal(t_.presync)) {
      t_.presync.provenance = fmt::format("causal base={} accelerators", t_.measured.provenance);
    }
    tell_apart(carried_.names(), carried_.steps());
    return {};
  }

  /// True if clocks of one process move together as far as the edges between them allow.
  [[nodiscard]] bool carries() const {
    return given_ && given_->are_kept && corrects() && options_.presync == Presync::automatic &&
           carriers::has_carried(process_of());
  }

  /// Aligns the clocks that carry others, and these with them.
  Result<void> align_carriers() {
    const Clocks& clocks = given_->clocks;
    TRY_ASSIGN(
        carriers::CarriedClocks carried,
        carriers::carried_clocks(clocks, given_->edges, carriers::first_of_processes(process_of()),
                                 aligned_beside_first(workers_)));
    const formats::GivenSource source(carried.clocks, carried.list.view(), true);
    TRY_ASSIGN(Timeline aligned, find_timeline(workers_, source, options_, use_, progress_));
    const std::vector<std::string> names = trace::clock_names(t_.loaded.trace.definitions);
    carriers::leave_steps_to_carried(carried, clocks, given_->edges, names, aligned.presync.maps,
                                     aligned.told.all);
    carriers::leave_maps_to_carried(carried, given_->edges, aligned.presync.maps);
    TRY_ASSIGN(t_.presync.maps, carriers::maps_of_all(carried, aligned.presync.maps));
    take_method(aligned);
    for (std::string& note : aligned.report.notes) t_.report.notes.push_back(std::move(note));
    t_.told = std::move(aligned.told);
    const std::vector<std::uint32_t> outer = carriers::outer_edges(carried, given_->edges);
    for (std::uint32_t& e : aligned.set_aside.edges) e = outer[e];
    std::vector<std::uint32_t>& aside = aligned.set_aside.edges;
    aside.insert(aside.end(), carried.wrong.begin(), carried.wrong.end());
    std::ranges::sort(aside);
    t_.told.wrong += carried.wrong.size();
    if (!aligned.set_aside.empty()) TRY(set_aside(std::move(aligned.set_aside)));
    std::vector<std::string> apart;
    for (const std::uint32_t c : carried.apart) apart.push_back(names[c]);
    std::vector<ClockExplanation> steps;
    for (const auto& [c, time, size] : carried.steps) {
      steps.push_back(explain::told_step(names[c], time, size, clocks.resolution_hz));
    }
    tell_apart(apart, steps);
    return {};
  }

  void tell_apart(std::span<const std::string> names, std::span<const ClockExplanation> steps) {
    t_.told.all.insert(t_.told.all.end(), steps.begin(), steps.end());
    if (names.empty()) return;
    t_.report.notes.push_back(
        fmt::format("of one process {} {} from the host's clock: they are two clocks, and the "
                    "edges between them move only the former",
                    fmt::join(names, ", "), names.size() == 1 ? "differs" : "differ"));
  }

  // Estimates.

  /// Gives the locations of a domain the maps as measured of one of them.
  void share_measured() {
    t_.presync = t_.measured;
    if (t_.domains.trivial()) return;
    causal::share_maps(t_.loaded.share(processes_), t_.domains, t_.presync.maps);
  }

  Result<void> estimate() {
    TRY_ASSIGN(const bool is_aligned, align_parts());
    if (is_aligned) return {};
    TRY(carries() ? align_carriers() : choose_maps());
    return project();
  }

  /// Estimates the clocks anew, where the estimate makes little sense, without what contradicts the
  /// others, if that is known.
  Result<void> explain_estimate() {
    if (was_tried_ || use_.is_explained || !wants_estimate() || carries()) return {};
    if (is_plausible()) return {};
    if (processes_.size() > 1) return explain_alone();
    const bool is_met = meets_all_edges();
    const double most_bits =
        is_met ? explain::Prices::any_frequency : std::numeric_limits<double>::max();
    const clocks::Presynchronised before = t_.presync;
    share_measured();
    TRY(explain(most_bits, before.maps));
    if (!is_met) TRY(explain_by_wrong_stamps(before.maps));
    if (!explained_) {
      t_.presync = before;
      return {};
    }
    t_.violated = is_violated();  // without the pairs that were wrong
    return t_.violated ? estimate() : Result<void>();
  }

  [[nodiscard]] bool meets_all_edges() const {
    return t_.projection.contradictions == 0 && !causal::any_violation(context(), t_.presync.maps);
  }

  /// True if the estimate meets all edges, and rates of clocks differ by no more than twice the
  /// limit, or than those of any clock that nothing disciplines, or, of wall clocks, by no more
  /// than they do as a rule: nothing has to be explained.
  [[nodiscard]] bool is_plausible() const {
    if (!meets_all_edges()) return false;
    const causal::AssumedRates limit = assumed_rates();
    const std::int64_t most_ppb = limit.is_given ? 2 * limit.rate_ppb
                                  : are_usual()
                                      ? 2 * explain::Prices::usual_ppb
                                      : std::max(2 * limit.rate_ppb, explain::Prices::fastest_ppb);
    constexpr Int128 k_most = k_billion * k_billion;  // beyond all limits
    std::int64_t slowest = 0, fastest = 0;
    for (const LocationIndex l : t_.loaded.own(processes_)) {
      const auto knots = t_.presync.maps[l].knots();
      for (std::size_t k = 1; k < knots.size(); ++k) {
        const Int128 rise = knots[k].offset - knots[k - 1].offset;
        const Int128 run = std::max<std::uint64_t>(knots[k].local - knots[k - 1].local, 1);
        const auto rate =
            static_cast<std::int64_t>(std::clamp(rise * k_billion / run, -k_most, k_most));
        slowest = std::min(slowest, rate);
        fastest = std::max(fastest, rate);
      }
    }
    fastest = processes_.reduce(Team::Reduction::max, fastest);
    slowest = processes_.reduce(Team::Reduction::min, slowest);
    return Int128{fastest} - slowest <= most_ppb;
  }

  /// Estimates the clocks of the whole archive in this process, as one process alone would: an
  /// explanation needs all edges.
  Result<void> explain_alone() {
    if (!may_be_explained()) return {};
    trace::Workers alone(workers_.threads());
    TimelineUse use = use_;
    use.loaded = nullptr;
    auto whole = find_timeline(alone, source_, options_, use, nullptr);
    TRY(processes_.agree(whole ? Result<void>() : Result<void>(tl::unexpected(whole.error()))));
    is_explained_alone_ = true;
    t_.presync = std::move(whole->presync);
    t_.projection = whole->projection;
    t_.told = std::move(whole->told);
    t_.wrong_pairs = std::move(whole->wrong_pairs);
    if (!t_.wrong_pairs.empty()) drop_pairs(context(), t_.wrong_pairs, t_.graph);
    return {};
  }

  /// Aligns clocks before and after they were set as if they were different ones. False if none
  /// was.
  Result<bool> align_parts() {
    if (!explained_ || explained_->explanation().steps.empty() || !wants_bending()) return false;
    CheckOptions options = options_of_clocks();
    options.clock_domain = ClockDomain::location;
    options.clock_prior.kind = t_.prior.kind;
    const formats::GivenSource parts(explained_->clocks(), explained_->edges(),
                                     given_ && given_->are_kept);
    TRY_ASSIGN(Timeline aligned, find_timeline(workers_, parts, options,
                                               {.purpose = use_.purpose,
                                                .is_explained = true,
                                                .set_clocks = explained_->set_clocks(),
                                                .raised_ppb = raised_ppb_},
                                               progress_));
    std::vector<StampRange> extents;
    for (const auto& members : t_.domains.members) {
      const trace::LocationSkeleton extent = trace::extent_of(t_.loaded.trace, members);
      extents.push_back({extent.first, extent.last});
    }
    explained_->place_steps(aligned.presync.maps);
    const auto maps = explained_->join(aligned.presync.maps, extents);
    if (!maps) {
      t_.told.all.clear();
      return false;
    }
    t_.told = told(*maps);
    t_.told.is_tied = aligned.told.is_tied;
    take_method(aligned);
    for (LocationIndex l = 0; l < t_.domains.of.size(); ++l) {
      t_.presync.maps[l] = (*maps)[t_.domains.of[l]];
    }
    return true;
  }

  /// Names the session that the estimate leaves farthest, in half-widths, if that contradicts it.
  void doubt_sessions() {
    constexpr double k_far = 16;  // half-widths; a fit may leave some
    struct Session {
      LocationIndex location = 0;
      std::uint64_t time = 0;
      double half_width = 0, off = 0;  // ticks
    };
    if (!given_ || t_.presync.method == t_.measured.method) return;
    // No network is that fast: what tracers record below is no half-width.
    const double least =
        static_cast<double>(t_.loaded.trace.definitions.clock.resolution_hz) / k_us_per_s;
    std::vector<Session> sessions;
    std::vector<double> certain, all;
    for (LocationIndex l = 0; l < t_.presync.maps.size(); ++l) {
      for (const trace::ClockOffset& one : t_.loaded.trace.locations[l].clock_offsets) {
        const std::int64_t measured = static_cast<std::int64_t>(one.time) + one.offset;
        const auto off = static_cast<double>(t_.presync.maps[l](one.time) - measured);
        (one.stddev > 0 ? all : certain).push_back(off);
        if (one.stddev > 0) sessions.push_back({l, one.time, std::max(one.stddev, least), off});
      }
    }
    if (sessions.empty()) return;
    // By which all clocks moved: the clock that sessions compare with has sessions of width 0.
    const double common = median(std::move(certain.empty() ? all : certain));
    const auto distance = [&](const Session& one) {
      return std::abs(one.off - common) / one.half_width;
    };
    const Session& worst = *std::ranges::max_element(sessions, {}, distance);
    if (distance(worst) <= k_far) return;
    const double us_per_tick =
        k_us_per_s / static_cast<double>(t_.loaded.trace.definitions.clock.resolution_hz);
    const std::string name = trace::clock_names(t_.loaded.trace.definitions)[worst.location];
    t_.told.set_aside.push_back(
        {.kind = "contradicted_session",
         .clock = name,
         .records = static_cast<std::uint64_t>(std::ranges::count_if(
             sessions, [&](const Session& one) { return distance(one) > k_far; })),
         .total = sessions.size(),
         .is_decisive = true,
         .reason =
             fmt::format("a session of {} at {} ticks contradicts the messages: it is {:.3g} us "
                         "off the clock that these show, though certain to {:.3g} us",
                         name, worst.time, std::abs(worst.off - common) * us_per_tick,
                         worst.half_width * us_per_tick)});
  }

  /// Lets most clocks stay, if that leaves no violation; else aligns all of them, and lets them
  /// stay if that is no worse.
  Result<void> choose_maps() {
    std::optional<explain::KeptClocks> most;
    for (const std::int64_t rate_ppb : rates_beside_staying()) {
      TRY_ASSIGN(std::optional<explain::KeptClocks> kept,
                 explain::keep_most_clocks(given_->clocks, given_->edges, rate_ppb, set_clocks(),
                                           aligned_beside_first(workers_, rate_ppb)));
      if (!kept || causal::any_violation(context(), kept->maps)) continue;
      if (!most || most->kept < kept->kept) most = std::move(kept);
      if (most->kept + 1 >= most->maps.size()) break;
    }
    if (!most) return align_all();
    t_.told.is_tied = !most->are_known;
    take_kept(*std::move(most));
    return {};
  }

  /// If some were divided, the parts are aligned as clocks of their own: not here.
  [[nodiscard]] explain::SetClocks set_clocks() const {
    if (!explained_) return use_.set_clocks;
    return {.set_back = explained_->set_clocks().set_back};
  }

  /// Limits on the rates of clocks that move beside clocks that stay: as assumed; and as
  /// undisciplined clocks have them beside usual ones, or twice the least limit for all clocks, by
  /// which two differ. Empty: none may stay.
  [[nodiscard]] std::vector<std::int64_t> rates_beside_staying() const {
    if (!may_keep()) return {};
    const causal::AssumedRates limit = assumed_rates();
    if (limit.is_given) return {limit.rate_ppb};
    using explain::Prices;
    const std::int64_t fast = std::max(Prices::fastest_ppb + Prices::usual_ppb, 2 * raised_ppb_);
    return {limit.rate_ppb, std::min(fast, clocks::k_any_mean_ppb)};
  }

  /// True if clocks may stay or move as their edges, single ones without delays, demand.
  [[nodiscard]] bool may_keep() const {
    return given_ && corrects() && options_.presync == Presync::automatic &&
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

  /// Aligns all clocks: by ends of collectives that coincide, or by a fit of all edges.
  Result<void> align_all() {
    causal::CommonEnds ends(context(), t_.measured, t_.presync);
    if (given_ && !has_sessions()) {
      trace::begin_phase(progress_, "presync");
      TRY(ends.find(given_->clocks, given_->edges));
    }
    const bool may_set =
        corrects() && options_.presync == Presync::automatic && t_.domains.trivial();
    const std::vector<char> votes =
        given_ ? explain::voting_parts(given_->clocks.clocks.size(), given_->edges, set_clocks())
               : std::vector<char>();
    if (may_set && ends.set(votes)) return {};  // a fit could only take away what they tell
    if (wants_bending()) {
      if (options_.presync == Presync::automatic && t_.domains.count() > k_most_bent_clocks) {
        t_.presync.clocks.reason = fmt::format(
            "{} clocks are not bent unless --presync causal asks for it: that may take long",
            t_.domains.count());
      } else {
        TRY(bend());
      }
      ends.choose_less_violated();
      if (may_set) ends.let_most_stay();
    }
    return {};
  }

  [[nodiscard]] bool has_sessions() const {
    return std::ranges::any_of(given_->clocks.clocks,
                               [](const Clock& clock) { return !clock.sessions.empty(); });
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
    begin_causal(presync);
    presync.provenance += " projected";
    for (ClockQuality& clock : presync.clocks.clocks) {  // they describe the maps before
      clock.interval_bound_ticks.reset();
      clock.predicted_bound_ticks.reset();
    }
    return {};
  }

  /// Makes a presync one by edges. False if it was that before.
  static bool begin_causal(clocks::Presynchronised& presync) {
    if (presync.method == PresyncMethod::causal) return false;
    presync.method = PresyncMethod::causal;
    presync.provenance = fmt::format("causal base={}", presync.provenance);
    return true;
  }

  // Problems of their own.

  /// The options for given clocks that stand for those of this trace.
  [[nodiscard]] CheckOptions options_of_clocks() const {
    CheckOptions options = options_;
    if (given_) return options;
    options.clock_samples.clear();
    options.mu = {};
    options.clock_domain = ClockDomain::location;
    return options;
  }

  /// Aligns clocks to the first one of them. `rate_ppb`: limit on their rates, as assumed at least.
  [[nodiscard]] explain::AlignGroup aligned_beside_first(trace::Workers& workers,
                                                         std::int64_t rate_ppb = 0) {
    return [this, &workers, rate_ppb](const Clocks& group,
                                      const Edges& edges) -> Result<std::vector<ClockMap>> {
      CheckOptions options = options_of_clocks();
      options.reference = group.clocks.front().name;
      const bool is_raised = rate_ppb > assumed_rates().rate_ppb;
      const formats::GivenSource source(group, edges);
      TRY_ASSIGN(Timeline aligned, find_timeline(workers, source, options,
                                                 {.purpose = Purpose::correction,
                                                  .is_explained = true,
                                                  .raised_ppb = is_raised ? rate_ppb : raised_ppb_},
                                                 progress_));
      return std::move(aligned.presync.maps);
    };
  }

  /// The maps come from the timeline of other clocks.
  void take_method(Timeline& aligned) {
    t_.presync.method = PresyncMethod::causal;
    t_.presync.provenance = std::move(aligned.presync.provenance);
    t_.presync.clocks.reason = std::move(aligned.presync.clocks.reason);
  }

  // What follows.

  /// A consensus leaves most clocks as they are: bounds say how far all are from one of these.
  void refer_to_one_that_stays() {
    if (!t_.reference.consensus || t_.reference.location != k_none) return;
    const auto stays = [&](LocationIndex l) {
      return t_.loaded.trace.locations[l].event_count > 0 && t_.presync.maps[l].is_identity();
    };
    const std::vector<LocationIndex> own = t_.loaded.share(processes_).own();
    const auto first = std::ranges::find_if(own, stays);
    const std::int64_t chosen = processes_.reduce(
        Team::Reduction::min, first == own.end() ? std::int64_t{k_none} : std::int64_t{*first});
    t_.reference.location = static_cast<LocationIndex>(chosen);
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

  CarriedAccelerators carried_;
  bool is_explained_alone_ = false;  ///< presync.maps are those of explain_alone()
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
          .measured = timeline.maps_as_stored(),
          .found = timeline.presync.maps,
          .shared = timeline.shared_clocks,
          .are_edges_given = timeline.has_given_edges};
}

Result<Timeline> find_timeline(trace::Workers& workers, const formats::Source& source,
                               const CheckOptions& options, const TimelineUse& use,
                               Progress* progress) {
  return Finder(workers, source, options, use, progress).run();
}

Result<bounds::ProvenIntervals> prove(trace::Workers& workers, const Timeline& timeline,
                                      const BoundsOption& option, Progress* progress) {
  trace::begin_phase(progress, "bounds");
  return bounds::prove_intervals(causal_context(workers, timeline, progress),
                                 timeline.shared_clocks, timeline.presync, option);
}

bool wants_rows(const Timeline& timeline, const bounds::ProvenIntervals& proven,
                const BoundsOption& option, bool page) {
  // Larger tables are not made for a page: it shows bounds without bands then.
  constexpr std::uint64_t k_most_page_rows = 400'000;
  const std::size_t clocks = std::max<std::size_t>(timeline.presync.maps.size(), 1);
  return option.rows || (page && proven.windows <= k_most_page_rows / clocks);
}

ClockBounds judge(trace::Workers& workers, const Timeline& timeline,
                  const bounds::ProvenIntervals& proven, std::span<const ClockMap> maps,
                  bool rows) {
  ClockBounds bounds =
      bounds::judge(timeline.loaded.share(workers.processes()), proven, maps, rows);
  bounds.mu_source = timeline.mu.source;
  return bounds;
}

}  // namespace entrain::engine
