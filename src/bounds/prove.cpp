// SPDX-License-Identifier: BSD-3-Clause
#include "bounds/prove.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "base/big_vector.hpp"
#include "base/cancel.hpp"
#include "base/exact.hpp"
#include "base/try.hpp"
#include "bounds/clock_facts.hpp"
#include "bounds/helpful_session.hpp"
#include "bounds/mean_rates.hpp"
#include "bounds/rate_limits.hpp"
#include "causal/bend.hpp"
#include "causal/clock_domains.hpp"
#include "constraints/edge_constraints.hpp"
#include "constraints/node_times.hpp"
#include "trace/properties.hpp"

namespace entrain::bounds {

namespace {

/// Bounds of the proof; tests/bounds/prove_test.cpp. Sizes were chosen, not measured.
struct ProofThresholds {
  static constexpr std::uint32_t first_windows = 256;   ///< first pass
  static constexpr std::uint32_t most_windows = 8'192;  ///< second pass
  /// Clocks (or locations, which have a row per window) times windows.
  static constexpr std::size_t most_cells = std::size_t{1} << 20;
  static constexpr std::size_t most_constraints = std::size_t{1} << 20;  ///< approximate
  /// Share of the tightest intervals that moving a constraint inside its window may cost.
  static constexpr double share_of_interval = 1.0 / 32;
  static constexpr std::int64_t most_offset = std::int64_t{1} << 46;  ///< ticks; larger: damaged
  /// Wander of two oscillators that each change their rate by up to 25 ppm, as crystals do within
  /// their temperature range. A trace without violations does not show it.
  static constexpr std::int64_t assumed_wander_ppb = 50'000;
  /// Limit as a multiple of the rates in the trace: violations and sessions show least rates only.
  static constexpr std::int64_t margin = 2;
};

class Prover {
 public:
  Prover(const constraints::Context& context, const trace::ClockDomains& domains,
         const clocks::Presynchronised& presync, const BoundsOption& option)
      : context_(context),
        trace_(context.trace()),
        domains_(domains),
        presync_(presync),
        option_(option),
        assume_mean_(context.prior.limited),
        mean_ppb_(context.prior.mean_ppb) {}

  Result<ProvenIntervals> run() {
    result_.clock_of = domains_.of;
    clocks_ = static_cast<std::uint32_t>(domains_.count());
    if (const auto* correction =
            trace::find_property(trace_.definitions, trace::k_property_correction)) {
      corrected_ = true;
      if (correction->find("mode=rewrite") != std::string::npos) {
        return without(
            "its time stamps were rewritten by a correction and are no clock's any more; ask for "
            "the bounds when the original is corrected");
      }
    }
    TRY(bend());
    facts_ = gather_clock_facts(context_.share, maps_);
    if (facts_.empty()) return without("there are no events");
    choose_reference();
    draw_lines();
    if (begin_ >= end_) return without("all events have one time");
    place_sessions();
    count_measured_once();
    return prove();
  }

 private:
  Result<ProvenIntervals> without(std::string reason) {
    result_.about.reason = std::move(reason);
    return std::move(result_);
  }

  [[nodiscard]] std::uint32_t clock_of(LocationIndex l) const { return result_.clock_of[l]; }

  /// Takes the reference that the user wants; else the master of the sessions, or the first
  /// location with events.
  void choose_reference() {
    const auto master = std::find_if(facts_.begin(), facts_.end(),
                                     [](const ClockFacts& facts) { return facts.is_zero; });
    const auto wanted = std::find_if(facts_.begin(), facts_.end(), [&](const ClockFacts& facts) {
      return facts.location == context_.reference.location;
    });
    const ClockFacts& chosen = wanted != facts_.end()                 ? *wanted
                               : master == facts_.end() || corrected_ ? facts_.front()
                                                                      : *master;
    result_.reference = chosen.location;
    reference_clock_ = clock_of(chosen.location);
    const auto& definitions = trace_.definitions;
    result_.about.reference = definitions.locations[chosen.location].id;
    result_.about.reference_process = trace::process_name(definitions, chosen.location);
    reference_is_master_ = chosen.is_zero;
    const bool widths = !corrected_ && std::any_of(facts_.begin(), facts_.end(),
                                                   [](auto& facts) { return facts.has_interval; });
    if (!widths) return;
    session_clock_ = chosen.is_zero           ? reference_clock_
                     : master != facts_.end() ? clock_of(master->location)
                                              : clocks_++;
  }

  /// Computes the best maps: their chords become the base lines.
  Result<void> bend() {
    clocks::Presynchronised base;
    base.method = presync_.method;
    base.maps = presync_.maps;
    if (base.method != PresyncMethod::causal) {
      if (base.method == PresyncMethod::none && !corrected_) {
        // If the records make no map, the bounds do without them.
        if (auto linear = clocks::presynchronise(context_.share, Presync::linear)) {
          base = std::move(*linear);
        }
      }
      if (!domains_.trivial()) causal::share_maps(context_.share, domains_, base.maps);
      TRY(causal::bend_by_edges(context_, domains_, base));
    }
    maps_ = std::move(base.maps);
    return {};
  }

  /// Takes the chord of one location of each clock as its base line: a measured one if there is
  /// any, and of these the longest.
  void draw_lines() {
    std::vector<const ClockFacts*> of_clock(clocks_, nullptr);
    result_.quantum.assign(clocks_, 0);
    for (const ClockFacts& facts : facts_) {
      const auto rank = [](const ClockFacts& f) {
        return std::pair(f.records >= 2, f.last - f.first);
      };
      const ClockFacts*& best = of_clock[clock_of(facts.location)];
      if (best == nullptr || rank(facts) > rank(*best)) best = &facts;
      std::int64_t& quantum = result_.quantum[clock_of(facts.location)];
      const auto granule = static_cast<std::int64_t>(
          std::min<std::uint64_t>(std::max<std::uint64_t>(facts.granule, 1), 1u << 30));
      quantum = quantum == 0 ? granule : std::min(quantum, granule);
    }
    result_.lines.resize(clocks_);
    for (std::uint32_t c = 0; c < clocks_; ++c) {
      if (of_clock[c] != nullptr) result_.lines[c] = of_clock[c]->line;
      // The time of a stamp may be off by the rounding of the stamp and of the line.
      result_.quantum[c] = std::max<std::int64_t>(result_.quantum[c], 1) + 1;
    }
    evaluate();
  }

  /// Computes the times of all nodes and the span of all events along the lines.
  void evaluate() {
    begin_ = std::numeric_limits<std::int64_t>::max();
    end_ = std::numeric_limits<std::int64_t>::min();
    for (const ClockFacts& facts : facts_) {
      const constraints::BaseLine& line = result_.lines[clock_of(facts.location)];
      begin_ = std::min(begin_, line(facts.first));
      end_ = std::max(end_, line(facts.last));
    }
    constraints::evaluate_nodes(context_, times_,
                                [&](LocationIndex l) { return result_.lines[clock_of(l)]; });
  }

  [[nodiscard]] std::int64_t width(std::uint32_t windows) const {
    return (end_ - begin_) / windows + 1;
  }

  std::vector<ClockConstraint> collect(std::uint32_t windows,
                                       const constraints::ClockErrors* errors,
                                       std::int64_t rate_ppb) {
    constraints::ConstraintOptions options;
    options.times = times_;
    options.clock_of = result_.clock_of;
    options.clocks = clocks_;
    options.mu = context_.mu;
    options.begin = begin_;
    options.end = end_;
    options.windows = windows;
    options.errors = errors;
    options.threads = context_.threads;
    options.rate = static_cast<double>(rate_ppb) / static_cast<double>(k_ppb);
    return constraints::collect_constraints(context_.team(), context_.graph, options);
  }

  /// Turns every session with a half-width into two constraints, one per direction, and keeps those
  /// without one that were measured against the reference.
  void place_sessions() {
    const bool bare = !corrected_ && reference_is_master_;
    if (!session_clock_ && !bare) return;
    const std::uint32_t measured_by = session_clock_.value_or(reference_clock_);
    for (const MeasuredOffset& session : gather_measured_offsets(context_.share)) {
      if (clock_of(session.location) == measured_by) continue;
      const Int128 shown = static_cast<Int128>(session.local) + session.offset;
      if (shown < 0 || shown > std::numeric_limits<std::int64_t>::max()) continue;
      ClockConstraint constraint;
      constraint.from = measured_by;
      constraint.to = clock_of(session.location);
      constraint.from_time = result_.lines[constraint.from](static_cast<std::uint64_t>(shown));
      constraint.to_time = result_.lines[constraint.to](session.local);
      constraint.slack = constraint.to_time - constraint.from_time;
      if (session.half_width == 0) {
        if (bare && std::abs(constraint.slack) <= ProofThresholds::most_offset)
          sessions_without_width_.push_back(constraint);
        continue;
      }
      add_both_ways(constraint, session.half_width, sessions_);
      ++result_.about.sessions;
    }
    std::stable_sort(
        sessions_without_width_.begin(), sessions_without_width_.end(),
        [](auto& a, auto& b) { return std::pair(a.to, a.to_time) < std::pair(b.to, b.to_time); });
  }

  static void add_both_ways(ClockConstraint constraint, std::int64_t half_width,
                            std::vector<ClockConstraint>& sessions) {
    // Margin of 0.1 %: the sessions' clock does not run exactly at common time.
    const std::int64_t reach = half_width + half_width / 1'000 + 1;
    for (int way = 0; way < 2; ++way) {
      constraint.slack = constraint.to_time - constraint.from_time + reach;
      sessions.push_back(constraint);
      std::swap(constraint.from, constraint.to);
      std::swap(constraint.from_time, constraint.to_time);
    }
  }

  /// Counts the clocks that were measured once: their sessions do not bound rates.
  void count_measured_once() {
    if (!session_clock_) return;
    std::vector<std::uint32_t> records(clocks_, 0);
    for (const ClockFacts& facts : facts_) {
      std::uint32_t& most = records[clock_of(facts.location)];
      most = std::max(most, facts.records);
    }
    const std::uint32_t most = *std::max_element(records.begin(), records.end());
    // A session clock without a location has only the sessions.
    if (*session_clock_ != reference_clock_) records[*session_clock_] = most;
    records[reference_clock_] = 0;
    result_.about.measured_once =
        static_cast<std::uint64_t>(std::count(records.begin(), records.end(), 1u));
  }

  /// Collects all constraints in so many windows, loosened by the granularity of the stamps.
  void constrain(std::uint32_t windows, const constraints::ClockErrors* errors,
                 std::int64_t rate_ppb) {
    constraints_ = collect(windows, errors, rate_ppb);
    constraints_.insert(constraints_.end(), sessions_.begin(), sessions_.end());
    loosen(constraints_);
    problem_ = {};
    problem_.clocks = clocks_;
    problem_.reference = reference_clock_;
    problem_.begin = result_.begin = begin_;
    problem_.width = result_.width = width(windows);
    problem_.windows = result_.windows = windows;
    problem_.constraints = constraints_;
    system_.emplace(problem_);
  }
  void loosen(std::vector<ClockConstraint>& constraints) const {
    const std::int64_t mu_margin =
        *std::max_element(context_.mu.begin(), context_.mu.end()) / 1'000;
    for (ClockConstraint& constraint : constraints) {
      constraint.slack +=
          result_.quantum[constraint.from] + result_.quantum[constraint.to] + mu_margin;
    }
  }

  Result<ProvenIntervals> prove() {
    const auto most = std::max<std::size_t>(
        ProofThresholds::most_cells / std::max<std::size_t>(clocks_, facts_.size()), 16);
    TRY(Cancel(context_.progress).agree(context_.team()));
    // Leaves memory for constraints with a few other clocks each.
    const std::size_t first =
        std::clamp<std::size_t>(most / 16, 16, ProofThresholds::first_windows);
    constrain(static_cast<std::uint32_t>(first), nullptr, ProofThresholds::assumed_wander_ppb);
    // The first pass shows how wide the windows may be and which constraints are tight.
    for (int round = 0; round < 2; ++round) {
      const auto least = system_->least_rate();
      if (system_->is_exhausted()) return without(takes_too_long());
      if (least.contradiction) return without(contradicts(*least.contradiction));
      result_.about.least_rate_ppm = static_cast<double>(least.rate_ppb) / 1e3;
      const std::int64_t wander =
          option_.max_rate_ppm ? given_rate() : rate_of_trace(least.rate_ppb);
      narrow(wander);
      if (system_->is_exhausted()) return without(takes_too_long());
      if (narrowed_.contradiction) return refuse(*narrowed_.contradiction);
      if (round == 1) break;
      TRY(Cancel(context_.progress).agree(context_.team()));
      const constraints::ClockErrors errors = middles();
      constrain(windows_for(most), &errors, typical_rate());
    }
    evaluate_more_sessions();
    result_.limits = std::move(narrowed_.limits);
    result_.intervals = std::move(narrowed_.intervals);
    fill_report();
    return std::move(result_);
  }

  void fill_report() {
    ClockBounds& about = result_.about;
    about.max_rate_ppm = static_cast<double>(result_.limits.wander_ppb) / 1e3;
    about.max_rate_source = option_.max_rate_ppm ? LimitOrigin::given : LimitOrigin::trace;
    about.clock_kind = context_.prior.kind;
    about.clock_kind_source = context_.prior.kind_given ? LimitOrigin::given : LimitOrigin::stamps;
    about.mean_rate_source = context_.prior.mean_given ? LimitOrigin::given : LimitOrigin::kind;
    if (!context_.prior.limited) about.mean_rate_source = LimitOrigin::off;
    if (assume_mean_) about.mean_rate_ppm = static_cast<double>(mean_ppb_) / 1e3;
    if (least_mean_ppb_) {
      about.mean_rate_source = LimitOrigin::trace;
      about.least_mean_rate_ppm = static_cast<double>(*least_mean_ppb_) / 1e3;
    }
    about.windows = result_.windows;
    about.window_ticks = result_.width;
  }

  /// Narrows the limits under the assumed limit on mean rates. Where the trace contradicts it,
  /// under twice the least possible one, since a trace shows only that.
  void narrow(std::int64_t wander_ppb) {
    narrow_as_assumed(wander_ppb);
    while (narrowed_.contradiction && assume_mean_) {
      const auto least = least_mean_rate(*system_, result_.lines, wander_ppb, mean_ppb_);
      least_mean_ppb_ = least.value_or(mean_ppb_);
      mean_ppb_ = ProofThresholds::margin * *least_mean_ppb_;
      assume_mean_ = least && mean_ppb_ < k_most_rate_ppb;
      narrow_as_assumed(wander_ppb);
    }
  }

  void narrow_as_assumed(std::int64_t wander_ppb) {
    RateLimits start = std::move(narrowed_.limits);
    // The limits of the first pass hold under the same wander or a lower one.
    if (start.extra_ppb.empty() || wander_ppb > start.wander_ppb || narrowed_.contradiction) {
      start.extra_ppb = limits_by_mean(result_.lines, reference_clock_,
                                       assume_mean_ ? mean_ppb_ : k_most_rate_ppb);
    }
    start.wander_ppb = wander_ppb;
    narrowed_ = narrow_limits(*system_, lives(), std::move(start),
                              assume_mean_ || option_.max_rate_ppm.has_value());
  }

  /// Evaluates sessions without half-widths, and a session that would help.
  void evaluate_more_sessions() {
    const std::vector<Lifetime> lives = this->lives();
    const SolvedProblem solved{problem_, lives, narrowed_.limits, narrowed_.intervals};
    if (const auto help = helpful_session(solved)) {
      ClockBounds::HelpfulSession told;
      told.time_ticks = help->time;
      told.half_width_ticks = help->half_width;
      told.before_ticks = help->before;
      told.after_ticks = help->after;
      result_.about.helpful = told;
    }
    const std::vector<std::int64_t> widths = probable_half_widths(solved, sessions_without_width_);
    std::vector<ClockConstraint> more;
    for (const ClockConstraint& session : sessions_without_width_) {
      if (widths[session.to] > 0) add_both_ways(session, widths[session.to], more);
    }
    if (more.empty()) return;
    loosen(more);
    auto assumed = with_more(solved, more);
    if (!assumed) return;
    result_.about.assumed_sessions = more.size() / 2;
    result_.about.assumed_half_width_ticks = *std::max_element(widths.begin(), widths.end());
    result_.assumed = std::move(*assumed);
  }

  [[nodiscard]] std::vector<Lifetime> lives() const {
    std::vector<Lifetime> lives(clocks_, {end_, begin_});
    for (const ClockFacts& facts : facts_) {
      const std::uint32_t c = clock_of(facts.location);
      lives[c].first = std::min(lives[c].first, result_.lines[c](facts.first));
      lives[c].last = std::max(lives[c].last, result_.lines[c](facts.last));
    }
    if (session_clock_ && *session_clock_ != reference_clock_) {
      lives[*session_clock_] = {begin_, end_};
    }
    return lives;
  }

  [[nodiscard]] std::int64_t given_rate() const {
    return std::clamp<std::int64_t>(std::llround(*option_.max_rate_ppm * 1e3), 0, k_most_rate_ppb);
  }

  /// Limit suggested by the rates in the trace.
  [[nodiscard]] std::int64_t rate_of_trace(std::int64_t least) {
    double largest = 0;
    for (const LocationIndex l : context_.share.own()) {
      const trace::LocationSkeleton& location = trace_.locations[l];
      if (corrected_ || location.event_count == 0) continue;
      const constraints::BaseLine line =
          constraints::chord(maps_[l], location.first, location.last);
      largest = std::max(largest,
                         constraints::largest_rate(maps_[l], line, location.first, location.last));
    }
    const std::int64_t shown = context_.team().reduce(
        Team::Reduction::max,
        static_cast<std::int64_t>(std::min(largest, 0.1) * static_cast<double>(k_ppb)));
    return std::min(
        ProofThresholds::margin * std::max(least, shown) + ProofThresholds::assumed_wander_ppb,
        k_most_rate_ppb);
  }

  /// Median limit on rates over all clocks but the reference.
  [[nodiscard]] std::int64_t typical_rate() const {
    std::vector<std::int64_t> extra = narrowed_.limits.extra_ppb;
    extra.erase(extra.begin() + reference_clock_);
    if (extra.empty()) return narrowed_.limits.wander_ppb;
    const auto middle = extra.begin() + static_cast<std::ptrdiff_t>(extra.size() / 2);
    std::nth_element(extra.begin(), middle, extra.end());
    return narrowed_.limits.wander_ppb + *middle;
  }

  /// Middles of the intervals: the best estimate of the errors, used to find the tight constraints.
  [[nodiscard]] constraints::ClockErrors middles() const {
    std::vector<double> values(std::size_t{clocks_} * result_.windows, 0);
    for (std::uint32_t c = 0; c < clocks_; ++c) {
      for (std::uint32_t w = 0; w < result_.windows; ++w) {
        const auto interval = narrowed_.intervals.of(c, w);
        if (!interval.bounded()) continue;
        values[std::size_t{c} * result_.windows + w] =
            (static_cast<double>(interval.lower) + static_cast<double>(interval.upper)) / 2;
      }
    }
    return {result_.begin + result_.width / 2, static_cast<double>(result_.width), result_.windows,
            std::move(values)};
  }

  /// Number of windows: narrow enough that a constraint loses little inside one, as far as memory
  /// allows.
  [[nodiscard]] std::uint32_t windows_for(std::size_t most) const {
    std::vector<double> widths;
    for (std::uint32_t w = 0; w < result_.windows; ++w) {
      for (std::uint32_t c = 0; c < clocks_; ++c) {
        const auto interval = narrowed_.intervals.of(c, w);
        if (c == reference_clock_ || !interval.bounded()) continue;
        widths.push_back(static_cast<double>(interval.upper) - static_cast<double>(interval.lower));
      }
    }
    if (widths.empty()) return static_cast<std::uint32_t>(std::min<std::size_t>(64, most));
    const auto tight = widths.begin() + static_cast<std::ptrdiff_t>(widths.size() / 10);
    std::nth_element(widths.begin(), tight, widths.end());
    const double wanted = static_cast<double>(end_ - begin_) * static_cast<double>(typical_rate()) /
                          static_cast<double>(k_ppb) /
                          (std::max(*tight, 1.0) * ProofThresholds::share_of_interval);
    const std::size_t affordable =
        std::clamp<std::size_t>(std::min(most, ProofThresholds::most_constraints * result_.windows /
                                                   std::max<std::size_t>(constraints_.size(), 1)),
                                16, ProofThresholds::most_windows);
    const auto least =
        static_cast<double>(std::min<std::size_t>(ProofThresholds::first_windows, affordable));
    return static_cast<std::uint32_t>(std::clamp(wanted, least, static_cast<double>(affordable)));
  }

  /// "MPI Rank 1 and MPI Rank 3, 0.1 s to 0.12 s after the first event".
  [[nodiscard]] std::string place(const Contradiction& found) const {
    const auto seconds = [&](std::int64_t time) {
      return static_cast<double>(time - begin_) /
             static_cast<double>(trace_.definitions.clock.resolution_hz);
    };
    return fmt::format("{}, {:.6g} s to {:.6g} s after the first event",
                       names_of_clocks(trace_.definitions, facts_, result_.clock_of, found.clocks),
                       seconds(found.begin - result_.width / 2),
                       seconds(found.end + result_.width / 2));
  }
  [[nodiscard]] std::string takes_too_long() const {
    return fmt::format("to prove any for {} clocks takes more than {} steps", clocks_,
                       system_->most_steps());
  }
  [[nodiscard]] std::string contradicts(const Contradiction& found) const {
    return fmt::format(
        "what messages and sessions say contradicts itself, whatever the rates of the clocks ({}): "
        "a clock was set, an interval of a session is too narrow, or mu is too large",
        place(found));
  }
  [[nodiscard]] Result<ProvenIntervals> refuse(const Contradiction& found) const {
    if (!found.needed_ppb) return fail(ErrorKind::input, trace_.path + ": " + contradicts(found));
    return fail(ErrorKind::input,
                fmt::format("--max-rate-ppm {:.9g} is too small for {}: clocks had to be off by at "
                            "least {:.3g} ppm ({}); take a larger limit, or leave it to the trace",
                            *option_.max_rate_ppm, trace_.path,
                            static_cast<double>(*found.needed_ppb) / 1e3, place(found)));
  }

  const constraints::Context& context_;
  const trace::Trace& trace_;
  const trace::ClockDomains& domains_;
  const clocks::Presynchronised& presync_;
  const BoundsOption& option_;

  ProvenIntervals result_;
  std::vector<ClockFacts> facts_;  ///< all locations with events
  std::uint32_t clocks_ = 0;       ///< number, including a session clock without a location
  std::uint32_t reference_clock_ = 0;
  /// Clock of the sessions; empty without half-widths.
  std::optional<std::uint32_t> session_clock_;
  bool reference_is_master_ = false;  ///< the reference is the master of the sessions
  bool assume_mean_ = false;          ///< a limit on mean rates is assumed
  std::int64_t mean_ppb_ = 0;         ///< assumed limit on mean rates
  /// Least possible limit; empty unless the trace contradicts the assumed one.
  std::optional<std::int64_t> least_mean_ppb_;
  bool corrected_ = false;      ///< clock offsets are a correction, not measurements
  std::vector<ClockMap> maps_;  ///< best map of each location
  std::int64_t begin_ = 0, end_ = 0;
  BigVector<std::int64_t> times_;  ///< times along the base lines, one per node, ghosts too
  std::vector<ClockConstraint> sessions_, sessions_without_width_, constraints_;
  ConstraintGrid problem_;
  std::optional<DifferenceConstraints> system_;
  Narrowed narrowed_;
};

}  // namespace

Result<ProvenIntervals> prove_intervals(const constraints::Context& context,
                                        const trace::ClockDomains& domains,
                                        const clocks::Presynchronised& presync,
                                        const BoundsOption& option) {
  return Prover(context, domains, presync, option).run();
}

}  // namespace entrain::bounds
