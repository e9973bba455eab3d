// SPDX-License-Identifier: BSD-3-Clause
#include "bounds/prove.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

#include <fmt/core.h>

#include "base/cancel.hpp"
#include "base/exact.hpp"
#include "base/try.hpp"
#include "bounds/clock_facts.hpp"
#include "bounds/helpful_session.hpp"
#include "bounds/violated_edges.hpp"
#include "causal/bend.hpp"
#include "causal/clock_domains.hpp"
#include "trace/properties.hpp"

namespace entrain::bounds {

namespace {

/// Bounds of the proof; tests/bounds/prove_test.cpp. Sizes were chosen, not measured.
struct ProofThresholds {
  static constexpr std::size_t least_windows = 16, most_windows = 256;  ///< rows of the report
  static constexpr std::size_t most_rows = std::size_t{1} << 20;        ///< windows times locations
  static constexpr std::int64_t most_offset = std::int64_t{1} << 46;    ///< ticks; larger: damaged
  /// Wander of two oscillators that each change their rate by up to 25 ppm, as crystals do within
  /// their temperature range. A trace without violations does not show it.
  static constexpr std::int64_t assumed_wander_ppb = 50'000;
  /// Limit as a multiple of the rates in the trace: violations and sessions show least rates only.
  static constexpr std::int64_t margin = 2;
};

/// Relative rates in whole parts per billion, rounded outward.
std::int64_t floor_ppb(double rate) {
  return static_cast<std::int64_t>(std::floor(rate * 1e9)) - 1;
}
std::int64_t ceil_ppb(double rate) { return static_cast<std::int64_t>(std::ceil(rate * 1e9)) + 1; }

/// Intervals of the mean rates of errors, if the mean rate of every clock is within `mean_ppb` of
/// the reference's, by stamps. That of the reference is 0; none is beyond k_most_rate_ppb.
std::vector<RateRange> ranges_by_mean(std::span<const constraints::BaseLine> lines,
                                      std::uint32_t reference, std::int64_t mean_ppb) {
  std::vector<RateRange> ranges(lines.size(), RateRange::within(k_most_rate_ppb));
  const double mean = static_cast<double>(mean_ppb) / static_cast<double>(k_ppb);
  const double of_reference = 1 + lines[reference].rate;
  for (std::size_t c = 0; c < lines.size(); ++c) {
    const double of_line = 1 + lines[c].rate;
    // Either clock may be the unit of the other's rate.
    const double least =
        std::min((1 - mean) * of_line / of_reference - 1, 1 - (1 + mean) * of_reference / of_line);
    const double most =
        std::max((1 + mean) * of_line / of_reference - 1, 1 - (1 - mean) * of_reference / of_line);
    ranges[c].lower_ppb = std::max(ranges[c].lower_ppb, floor_ppb(least));
    ranges[c].upper_ppb = std::min(ranges[c].upper_ppb, ceil_ppb(most));
  }
  ranges[reference] = {0, 0};
  return ranges;
}

/// Limits found may differ by so much between two searches, ppb.
constexpr std::int64_t k_rounding_ppb = 2;

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
    find_span();
    if (begin_ >= end_) return without("all events have one time, or times beyond 2^62 ticks");
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
    const auto master =
        std::ranges::find_if(facts_, [](const ClockFacts& facts) { return facts.is_zero; });
    const auto wanted = std::ranges::find_if(facts_, [&](const ClockFacts& facts) {
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
    const bool widths =
        !corrected_ && std::ranges::any_of(facts_, [](auto& facts) { return facts.has_interval; });
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
  }

  void find_span() {
    begin_ = std::numeric_limits<std::int64_t>::max();
    end_ = std::numeric_limits<std::int64_t>::min();
    for (const ClockFacts& facts : facts_) {
      const constraints::BaseLine& line = result_.lines[clock_of(facts.location)];
      begin_ = std::min(begin_, line(facts.first));
      end_ = std::max(end_, line(facts.last));
    }
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
    const std::uint32_t most = *std::ranges::max_element(records);
    // A session clock without a location has only the sessions.
    if (*session_clock_ != reference_clock_) records[*session_clock_] = most;
    records[reference_clock_] = 0;
    result_.about.measured_once = static_cast<std::uint64_t>(std::ranges::count(records, 1u));
  }

  [[nodiscard]] std::int64_t mu_margin() const {
    return *std::ranges::max_element(context_.mu) / 1'000;
  }
  /// Loosens sessions by the granularity of the stamps.
  void loosen(std::vector<ClockConstraint>& constraints) const {
    for (ClockConstraint& constraint : constraints) {
      constraint.slack +=
          result_.quantum[constraint.from] + result_.quantum[constraint.to] + mu_margin();
    }
  }

  /// Begins with the tightest edges by the best maps; more are added where they matter.
  void pose() {
    place_sessions();
    result_.begin = begin_;
    result_.width = (end_ - begin_) / result_.windows + 1;
    problem_.clocks = clocks_;
    problem_.reference = reference_clock_;
    problem_.begin = begin_;
    problem_.lives = lives();
    problem_.is_mean_given = context_.prior.mean_given;
    loosen(sessions_);
    for (const ClockConstraint& session : sessions_) {
      problem_.edges.push_back(edge_of(session, begin_));
    }
    fixed_ = problem_.edges.size();
    search_edges(limits(option_.max_rate_ppm ? given_rate() : rate_of_trace(0)));
  }

  /// Begins anew with the edges that bind errors within limits.
  void search_edges(const RateLimits& limits) {
    MuTicks mu = context_.mu;
    for (std::int64_t& one : mu) one -= mu_margin();
    edges_.emplace(context_, ViolatedEdges::Setting{.edges = {.clock_of = result_.clock_of,
                                                              .clocks = clocks_,
                                                              .mu = mu,
                                                              .begin = begin_,
                                                              .end = end_,
                                                              .margins = result_.quantum},
                                                    .lines = result_.lines,
                                                    .most_error = k_far,
                                                    .limits = limits});
    edges_->add_tightest([&](LocationIndex l) {
      return [this, map = ClockMap::Cursor(maps_[l])](std::uint64_t local) mutable {
        return (map(local) - begin_) << edges_->bits();
      };
    });
    take_edges();
  }
  void take_edges() {
    problem_.edges.resize(fixed_);
    problem_.edges.insert(problem_.edges.end(), edges_->edges().begin(), edges_->edges().end());
  }

  /// Adds edges that certain errors of all clocks violate; false if they violate none.
  bool add_violated(const ErrorBounds& errors, Course course) {
    std::int64_t rate_ppb = 0;
    for (const ClockBound& one : errors) rate_ppb = std::max(rate_ppb, one.rate().width());
    const auto moved_clock = [&](LocationIndex l) {
      const std::uint32_t clock = clock_of(l);
      return [this, line = result_.lines[clock],
              moved = BoundCursor(errors[clock], course, begin_, edges_->bits())](
                 std::uint64_t local) mutable { return moved(line(local) - begin_); };
    };
    const bool any = edges_->add(moved_clock, rate_ppb);
    take_edges();
    return any;
  }
  bool add_violated(const ErrorBounds& errors) {
    const bool any = add_violated(errors, Course::greatest);
    return add_violated(errors, Course::least) || any;
  }

  /// True if the edges that count imply all others for errors within limits.
  [[nodiscard]] bool are_edges_enough(const RateLimits& limits) const {
    for (std::uint32_t c = 0; c < clocks_; ++c) {
      const RateRange known = edges_->limits().of(c), asked = limits.of(c);
      if (!known.contains(asked.lower_ppb) || !known.contains(asked.upper_ppb)) return false;
    }
    return true;
  }

  /// find_least_limit() of all constraints.
  Proved<LeastLimit> least(std::span<const RateRange> means, std::optional<std::int64_t> wander_ppb,
                           std::vector<std::int64_t> near) {
    std::vector<difference::Cycle> known;
    Contradiction shown;  // by the last new cycle
    for (;;) {
      Proved<LeastLimit> found = find_least_limit(problem_, means, wander_ppb, near, &known);
      if (found && found->shown.clocks.empty()) found->shown = shown;
      if (!found && found.error().is_certain && found.error().clocks.empty()) {
        shown.is_certain = true;  // cycles that were known alone allow no limit
        return tl::unexpected(shown);
      }
      if (!found) return found;
      shown = found->shown;
      near = found->means;
      if (add_violated(found->errors, Course::straight)) continue;
      RateLimits shown_rates{wander_ppb.value_or(found->ppb) + 1, {}};  // as it was searched
      for (const std::int64_t mean : near) shown_rates.mean.push_back({mean - 1, mean + 1});
      if (are_edges_enough(shown_rates)) return found;
      search_edges({k_most_rate_ppb, {}});
    }
  }
  /// The least wander. If both limits are given, that on mean rates holds, if it can; else it is
  /// raised.
  Proved<LeastLimit> least_wander() {
    const auto beside = [&](std::int64_t mean_ppb) {
      return least(ranges_by_mean(result_.lines, reference_clock_, mean_ppb), std::nullopt,
                   std::vector<std::int64_t>(clocks_, 0));
    };
    if (option_.max_rate_ppm && assume_mean_ && context_.prior.mean_given) {
      Proved<LeastLimit> found = beside(mean_ppb_);
      if (found) return found;
    }
    return beside(k_most_rate_ppb);
  }

  Result<ProvenIntervals> prove() {
    TRY(Cancel(context_.progress).agree(context_.team()));
    std::vector<std::uint32_t> beyond;  // clocks by records that are no clock's
    const auto means = ranges_by_mean(result_.lines, reference_clock_, k_most_rate_ppb);
    for (std::uint32_t c = 0; c < clocks_; ++c) {
      if (means[c].lower_ppb > means[c].upper_ppb) beyond.push_back(c);
    }
    if (!beyond.empty()) {
      return without(
          fmt::format("by its clock offsets, a clock is fast or slow by more than a tenth ({})",
                      names_of_clocks(trace_.definitions, facts_, result_.clock_of, beyond)));
    }
    result_.windows = static_cast<std::uint32_t>(
        std::clamp(ProofThresholds::most_rows / std::max<std::size_t>(clocks_, facts_.size()),
                   ProofThresholds::least_windows, ProofThresholds::most_windows));
    pose();
    const auto least = least_wander();
    if (!least) return without(least.error());
    TRY(Cancel(context_.progress).agree(context_.team()));
    if (least->is_least) {
      result_.about.least_rate_ppm = static_cast<double>(least->ppb) / 1e3;
    }
    std::int64_t wander = option_.max_rate_ppm ? given_rate() : rate_of_trace(least->ppb);
    if (least->is_least && wander + k_rounding_ppb < least->ppb) return refuse(&*least);
    if (least->is_least) wander = std::max(wander, least->ppb + 1);  // as it was searched
    raise_mean(*least, wander);
    if (!are_edges_enough(limits(wander))) search_edges(limits(wander));
    edges_->begin_anew();
    auto narrowed =
        narrow_limits(problem_, {limits(wander), {}},
                      [this](const ErrorBounds& errors) { return add_violated(errors); });
    if (!narrowed && narrowed.error().is_certain && !least->is_least) {
      return option_.max_rate_ppm ? refuse(nullptr) : without(Contradiction());
    }
    if (!narrowed) return without(narrowed.error());
    evaluate_more_sessions(*narrowed);
    result_.limits = std::move(narrowed->limits);
    result_.errors = std::move(narrowed->errors);
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
    if (!assume_mean_) about.mean_rate_source = LimitOrigin::off;
    if (assume_mean_) about.mean_rate_ppm = static_cast<double>(mean_ppb_) / 1e3;
    if (least_mean_ppb_) {
      about.mean_rate_source = LimitOrigin::trace;
      about.least_mean_rate_ppm = static_cast<double>(*least_mean_ppb_) / 1e3;
    }
    about.windows = result_.windows;
    about.window_ticks = result_.width;
  }

  [[nodiscard]] RateLimits limits(std::int64_t wander_ppb) const {
    return {wander_ppb, ranges_by_mean(result_.lines, reference_clock_,
                                       assume_mean_ ? mean_ppb_ : k_most_rate_ppb)};
  }

  /// Where the trace contradicts the assumed limit on mean rates, twice the least possible one is
  /// taken, since a trace shows only that; none if that is too large.
  void raise_mean(const LeastLimit& possible, std::int64_t wander_ppb) {
    const std::vector<RateRange> means = limits(wander_ppb).mean;
    std::uint32_t c = 0;
    while (c < clocks_ && means[c].contains(possible.means[c])) ++c;
    if (!assume_mean_ || c == clocks_) return;
    const auto found = least(means, wander_ppb, possible.means);
    if (found && found->ppb <= k_rounding_ppb) {
      mean_ppb_ += found->ppb + 1;  // as it was searched
      return;
    }
    assume_mean_ = found && 2 * (mean_ppb_ + found->ppb) < k_most_rate_ppb;
    if (!found) return;
    least_mean_ppb_ = mean_ppb_ + found->ppb;
    mean_ppb_ = ProofThresholds::margin * *least_mean_ppb_;
  }

  /// Evaluates sessions without half-widths, and a session that would help.
  void evaluate_more_sessions(const Narrowed& narrowed) {
    std::vector<std::int64_t> middles;
    for (std::uint32_t w = 0; w < result_.windows; ++w) {
      middles.push_back(begin_ + w * result_.width + result_.width / 2);
    }
    const SolvedProblem solved{problem_, narrowed, middles};
    result_.about.helpful = helpful_session(solved);
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
    result_.about.assumed_half_width_ticks = *std::ranges::max_element(widths);
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

  /// "MPI Rank 1 and MPI Rank 3, 0.1 s to 0.12 s after the first event".
  [[nodiscard]] std::string place(const Contradiction& found) const {
    const auto seconds = [&](std::int64_t time) {
      return static_cast<double>(time - begin_) /
             static_cast<double>(trace_.definitions.clock.resolution_hz);
    };
    return fmt::format("{}, {:.6g} s to {:.6g} s after the first event",
                       names_of_clocks(trace_.definitions, facts_, result_.clock_of, found.clocks),
                       seconds(found.begin), seconds(found.end));
  }
  Result<ProvenIntervals> without(const Contradiction& found) {
    if (found.is_certain) return without(contradicts(found));
    return without(fmt::format("to prove any for {} clocks takes too many steps", clocks_));
  }
  [[nodiscard]] std::string contradicts(const Contradiction& found) const {
    return fmt::format(
        "what messages and sessions say contradicts itself, whatever the rates of the clocks ({}): "
        "a clock was set, an interval of a session is too narrow, or mu is too large",
        place(found));
  }
  /// `least`: null if it is not known.
  [[nodiscard]] Result<ProvenIntervals> refuse(const LeastLimit* least) const {
    const std::string why =
        least == nullptr ? "no clocks within it meet all edges and sessions"
                         : fmt::format("clocks have to be off by at least {:.9g} ppm ({})",
                                       static_cast<double>(least->ppb) / 1e3, place(least->shown));
    return fail(ErrorKind::input, fmt::format("--max-rate-ppm {:.9g} is too small for {}: {}; take "
                                              "a larger limit, or leave it to the trace",
                                              *option_.max_rate_ppm, trace_.path, why));
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
  std::vector<ClockConstraint> sessions_, sessions_without_width_;
  std::optional<ViolatedEdges> edges_;
  ErrorProblem problem_;
  std::size_t fixed_ = 0;  ///< number of its edges that are sessions
};

}  // namespace

Result<ProvenIntervals> prove_intervals(const constraints::Context& context,
                                        const trace::ClockDomains& domains,
                                        const clocks::Presynchronised& presync,
                                        const BoundsOption& option) {
  return Prover(context, domains, presync, option).run();
}

}  // namespace entrain::bounds
