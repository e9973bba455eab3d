// SPDX-License-Identifier: BSD-3-Clause
#include "engine/guarantee.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "base/big_vector.hpp"
#include "base/exact.hpp"
#include "base/try.hpp"
#include "clc/halo.hpp"
#include "engine/causal.hpp"
#include "match/bounds.hpp"

namespace entrain::engine {

namespace {

using clock::BaseLine;
using clock::CausalBound;
using clock::ClockErrors;
using clock::Contradiction;
using clock::ErrorIntervals;
using clock::Guarantee;
using clock::GuaranteeProblem;

/// Windows of a first look, and at most.
constexpr std::uint32_t k_first_windows = 256;
constexpr std::uint32_t k_most_windows = 8'192;
/// What the grid may hold: clocks (or locations, of which each has its rows) times windows, and
/// pairs of clocks times windows.
constexpr std::size_t k_most_cells = std::size_t{1} << 20;
constexpr std::size_t k_most_bounds = std::size_t{1} << 21;
/// Moving a bound inside its window may cost this share of the tightest intervals.
constexpr double k_share_of_interval = 1.0 / 32;
/// Two oscillators each of which changes its rate by up to 25 ppm, as crystals do between the
/// temperatures that they are made for, differ from their mean by up to 50 ppm. A trace without
/// violations tells nothing of it.
constexpr std::int64_t k_assumed_rate_ppb = 50'000;
/// Violations show the least rates that are possible, sessions those between them.
constexpr std::int64_t k_margin = 2;
/// Times that limits are narrowed by what follows from them.
constexpr int k_narrowings = 8;
/// Parts of a run in each of which the window that is known best tells of a clock's rate.
constexpr std::uint32_t k_parts_of_run = 16;

/// What everybody has to know of a location.
struct Facts {
  LocationIndex location = k_none;
  std::uint32_t records = 0;     ///< clock offsets
  bool has_width = false;        ///< one of them has an interval
  bool is_zero = false;          ///< all of them are 0 and exact, and there are some
  std::uint64_t first = 0, last = 0, granule = 0;
  BaseLine line;                 ///< chord of its map
};

/// A clock session with an interval: the clock of the sessions shows `local + offset`.
struct Measured {
  LocationIndex location = k_none;
  std::uint64_t local = 0;
  std::int64_t offset = 0;
  std::int64_t half_width = 0;

  friend auto operator<=>(const Measured&, const Measured&) = default;
};

class Prover {
 public:
  Prover(Team& processes, const LoadedTrace& loaded, const match::Graph& graph, const ChosenMu& mu,
         const Presynchronised& presync, const BoundsOption& option, const Progress* progress)
      : processes_(processes),
        loaded_(loaded),
        trace_(loaded.trace),
        own_(loaded.own(processes)),
        graph_(graph),
        mu_(mu),
        presync_(presync),
        option_(option),
        progress_(progress) {}

  Result<ProvenIntervals> run() {
    result_.about.mu_source = mu_.source;
    result_.clock_of = trace_.definitions.process_of;
    for (const std::uint32_t clock : result_.clock_of) clocks_ = std::max(clocks_, clock + 1);
    if (const auto* correction = find_property(trace_.definitions, k_property_correction)) {
      corrected_ = true;
      if (correction->find("mode=rewrite") != std::string::npos) {
        return without(
            "its time stamps were rewritten by a correction and are no clock's any more; ask for "
            "the bounds when the original is corrected");
      }
    }
    TRY(bend());
    gather_facts();
    if (facts_.empty()) return without("there are no events");
    choose_reference();
    draw_lines();
    if (begin_ >= end_) return without("all events have one time");
    place_sessions();
    return prove();
  }

 private:
  Result<ProvenIntervals> without(std::string reason) {
    result_.about.reason = std::move(reason);
    return std::move(result_);
  }
  [[nodiscard]] Result<void> go_on() const {
    const bool stopped = progress_ != nullptr && progress_->cancelled();
    if (!processes_.any(stopped)) return {};
    return fail(ErrorKind::interrupted, "interrupted; nothing was written");
  }

  void gather_facts() {
    std::vector<Facts> own;
    for (const LocationIndex l : own_) {
      const trace::LocationSkeleton& location = trace_.locations[l];
      if (location.event_count == 0) continue;
      Facts facts;
      facts.location = l;
      const auto& records = location.clock_offsets;
      facts.records = static_cast<std::uint32_t>(records.size());
      facts.has_width = std::any_of(records.begin(), records.end(), has_interval);
      facts.is_zero = !records.empty() && std::all_of(records.begin(), records.end(), [](auto& r) {
        return r.offset == 0 && r.stddev == 0;
      });
      facts.first = location.first;
      facts.last = location.last;
      facts.granule = location.granule;
      facts.line = clock::chord(maps_[l], location.first, location.last);
      own.push_back(facts);
    }
    facts_ = gather_everywhere(processes_, own);
    std::sort(facts_.begin(), facts_.end(),
              [](const Facts& a, const Facts& b) { return a.location < b.location; });
  }

  static bool has_interval(const trace::ClockOffset& record) {
    return std::isfinite(record.stddev) && record.stddev > 0 && record.stddev < 0x1p50;
  }
  [[nodiscard]] std::uint32_t clock_of(LocationIndex l) const { return result_.clock_of[l]; }

  /// The master of the sessions; else the first location that has events.
  void choose_reference() {
    const auto master = std::find_if(facts_.begin(), facts_.end(),
                                     [](const Facts& facts) { return facts.is_zero; });
    const Facts& chosen = master == facts_.end() || corrected_ ? facts_.front() : *master;
    result_.reference = chosen.location;
    reference_clock_ = clock_of(chosen.location);
    const auto& definitions = trace_.definitions;
    result_.about.reference = definitions.locations[chosen.location].id;
    result_.about.reference_process = process_name(definitions, chosen.location);
    const bool widths = !corrected_ && std::any_of(facts_.begin(), facts_.end(), [](auto& facts) {
      return facts.has_width;
    });
    if (!widths) return;
    session_clock_ = chosen.is_zero ? reference_clock_ : clocks_++;
  }

  /// Maps as good as can be had: lines along them, and how they bend, are the best knowledge.
  Result<void> bend() {
    Presynchronised base;
    base.method = presync_.method;
    base.maps = presync_.maps;
    if (base.method != "causal") {
      if (base.method == "none" && !corrected_) {
        TRY_ASSIGN(base, presynchronise(processes_, loaded_, Presync::linear));
      }
      TRY(bend_by_edges(processes_, loaded_, graph_, mu_.ticks, base, progress_));
    }
    maps_ = std::move(base.maps);
    return {};
  }

  /// Per clock that of the location that was measured, and the longest.
  void draw_lines() {
    std::vector<const Facts*> of_clock(clocks_, nullptr);
    result_.quantum.assign(clocks_, 0);
    for (const Facts& facts : facts_) {
      const auto rank = [](const Facts& f) { return std::pair(f.records >= 2, f.last - f.first); };
      const Facts*& best = of_clock[clock_of(facts.location)];
      if (best == nullptr || rank(facts) > rank(*best)) best = &facts;
      std::int64_t& quantum = result_.quantum[clock_of(facts.location)];
      const auto granule = static_cast<std::int64_t>(
          std::min<std::uint64_t>(std::max<std::uint64_t>(facts.granule, 1), 1u << 30));
      quantum = quantum == 0 ? granule : std::min(quantum, granule);
    }
    result_.lines.resize(clocks_);
    for (std::uint32_t c = 0; c < clocks_; ++c) {
      if (of_clock[c] != nullptr) result_.lines[c] = of_clock[c]->line;
      // What follows from a stamp may be off by its own rounding and that of the line.
      result_.quantum[c] = std::max<std::int64_t>(result_.quantum[c], 1) + 1;
    }
    evaluate();
  }

  /// Times of all nodes and the span of all events, along the lines.
  void evaluate() {
    begin_ = std::numeric_limits<std::int64_t>::max();
    end_ = std::numeric_limits<std::int64_t>::min();
    for (const Facts& facts : facts_) {
      const BaseLine& line = result_.lines[clock_of(facts.location)];
      begin_ = std::min(begin_, line(facts.first));
      end_ = std::max(end_, line(facts.last));
    }
    times_.resize(graph_.node_count());
    for (const LocationIndex l : own_) {
      const BaseLine& line = result_.lines[clock_of(l)];
      for (NodeIndex n = graph_.first_node[l]; n < graph_.first_node[l + 1]; ++n) {
        times_[n] = line(graph_.stamp[n]);
      }
    }
    clc::HaloExchange(processes_, graph_).publish(times_);
  }

  [[nodiscard]] std::int64_t width(std::uint32_t windows) const {
    return (end_ - begin_) / windows + 1;
  }

  std::vector<CausalBound> collect(std::uint32_t windows, const ClockErrors* errors,
                                   std::int64_t rate_ppb) {
    match::BoundOptions options;
    options.times = times_;
    options.clock_of = result_.clock_of;
    options.clocks = clocks_;
    options.mu = mu_.ticks;
    options.begin = begin_;
    options.end = end_;
    options.windows = windows;
    options.errors = errors;
    options.rate = static_cast<double>(rate_ppb) / static_cast<double>(clock::k_ppb);
    return match::collect_bounds(processes_, graph_, options);
  }

  /// Sessions as bounds in both directions.
  void place_sessions() {
    if (!session_clock_) return;
    std::vector<Measured> own;
    for (const LocationIndex l : own_) {
      for (const trace::ClockOffset& record : trace_.locations[l].clock_offsets) {
        if (!has_interval(record) || clock_of(l) == *session_clock_) continue;
        own.push_back({l, record.time, record.offset,
                       static_cast<std::int64_t>(std::ceil(record.stddev))});
      }
    }
    std::vector<Measured> all = gather_everywhere(processes_, own);
    std::sort(all.begin(), all.end());
    for (const Measured& session : all) {
      const Int128 shown = static_cast<Int128>(session.local) + session.offset;
      if (shown < 0 || shown > std::numeric_limits<std::int64_t>::max()) continue;
      CausalBound bound;
      bound.from = *session_clock_;
      bound.to = clock_of(session.location);
      bound.from_time = result_.lines[bound.from](static_cast<std::uint64_t>(shown));
      bound.to_time = result_.lines[bound.to](session.local);
      // A second of the clock of the sessions and one of common time are not quite the same.
      const std::int64_t reach = session.half_width + session.half_width / 1'000 + 1;
      bound.slack = bound.to_time - bound.from_time + reach;
      sessions_.push_back(bound);
      std::swap(bound.from, bound.to);
      std::swap(bound.from_time, bound.to_time);
      bound.slack = bound.to_time - bound.from_time + reach;
      sessions_.push_back(bound);
      ++result_.about.sessions;
    }
  }

  /// All bounds in windows, as loose as stamps are coarse.
  void constrain(std::uint32_t windows, const ClockErrors* errors, std::int64_t rate_ppb) {
    bounds_ = collect(windows, errors, rate_ppb);
    const std::int64_t mu_margin = *std::max_element(mu_.ticks.begin(), mu_.ticks.end()) / 1'000;
    bounds_.insert(bounds_.end(), sessions_.begin(), sessions_.end());
    for (CausalBound& bound : bounds_) {
      bound.slack += result_.quantum[bound.from] + result_.quantum[bound.to] + mu_margin;
    }
    GuaranteeProblem problem;
    problem.clocks = clocks_;
    problem.reference = reference_clock_;
    problem.begin = result_.begin = begin_;
    problem.width = result_.width = width(windows);
    problem.windows = result_.windows = windows;
    problem.bounds = bounds_;
    guarantee_.emplace(problem);
  }

  Result<ProvenIntervals> prove() {
    const auto most =
        std::max<std::size_t>(k_most_cells / std::max<std::size_t>(clocks_, facts_.size()), 16);
    TRY(go_on());
    constrain(static_cast<std::uint32_t>(std::min<std::size_t>(k_first_windows, most)), nullptr,
              k_assumed_rate_ppb);
    // A first look tells how wide the windows may be and which bounds are tight; then again.
    for (int round = 0; round < 2; ++round) {
      const auto least = guarantee_->least_rate();
      if (least.contradiction) return without(contradicts(*least.contradiction));
      result_.about.least_rate_ppm = static_cast<double>(least.rate_ppb) / 1e3;
      limits_.wander_ppb = option_.max_rate_ppm ? given_rate() : rate_of_trace(least.rate_ppb);
      if (auto contradiction = narrow()) return refuse(*contradiction);
      if (round == 1) break;
      TRY(go_on());
      const ClockErrors errors = middles();
      constrain(windows_for(most), &errors, typical_rate());
    }
    result_.limits = std::move(limits_);
    result_.intervals = std::move(intervals_);
    result_.about.max_rate_ppm = static_cast<double>(result_.limits.wander_ppb) / 1e3;
    result_.about.max_rate_source = option_.max_rate_ppm ? "given" : "trace";
    result_.about.windows = result_.windows;
    result_.about.window_ticks = result_.width;
    return std::move(result_);
  }

  /// The limit is one on how far rates leave their means; the lines may have other rates. How far,
  /// the intervals at both ends of a clock tell, which follow from any limits that are too large.
  std::optional<Contradiction> narrow() {
    if (limits_.wander_ppb > proven_wander_) {  // what a first look proved holds
      limits_.extra_ppb.assign(clocks_, clock::k_most_rate_ppb - limits_.wander_ppb);
    }
    proven_wander_ = limits_.wander_ppb;
    for (int round = 0; round < k_narrowings; ++round) {
      if (option_.max_rate_ppm) {
        if (auto found = guarantee_->contradiction(limits_)) return found;
      }
      intervals_ = guarantee_->intervals(limits_);
      if (round + 1 == k_narrowings || !take_rates_left_open()) break;
    }
    return std::nullopt;
  }

  [[nodiscard]] std::int64_t given_rate() const {
    return std::clamp<std::int64_t>(std::llround(*option_.max_rate_ppm * 1e3), 0,
                                    clock::k_most_rate_ppb);
  }

  /// From what the trace shows of its clocks' rates.
  [[nodiscard]] std::int64_t rate_of_trace(std::int64_t least) {
    double largest = 0;
    for (const LocationIndex l : own_) {
      const trace::LocationSkeleton& location = trace_.locations[l];
      if (corrected_ || location.event_count == 0) continue;
      const BaseLine line = clock::chord(maps_[l], location.first, location.last);
      largest = std::max(largest,
                         clock::largest_rate(maps_[l], line, location.first, location.last));
    }
    const std::int64_t shown = processes_.reduce(
        Team::Reduction::max,
        static_cast<std::int64_t>(std::min(largest, 0.1) * static_cast<double>(clock::k_ppb)));
    return std::min(k_margin * std::max(least, shown) + k_assumed_rate_ppb,
                    clock::k_most_rate_ppb);
  }

  /// Takes over what the intervals leave open of the clocks' rates; false if that changes little.
  bool take_rates_left_open() {
    std::vector<std::int64_t> first(clocks_, end_), last(clocks_, begin_);
    for (const Facts& facts : facts_) {
      const std::uint32_t c = clock_of(facts.location);
      first[c] = std::min(first[c], result_.lines[c](facts.first));
      last[c] = std::max(last[c], result_.lines[c](facts.last));
    }
    if (session_clock_ && *session_clock_ != reference_clock_) {
      first[*session_clock_] = begin_;
      last[*session_clock_] = end_;
    }
    bool much = false;
    const GuaranteeProblem grid = this->grid();
    for (std::uint32_t c = 0; c < clocks_; ++c) {
      if (c == reference_clock_ || first[c] >= last[c]) continue;
      const std::uint32_t begin = grid.window_of(first[c]), end = grid.window_of(last[c]);
      // From the first event to the last one, each up to half a window from a middle.
      const std::int64_t whole = rate_between(c, begin, end, last[c] - first[c],
                                              clock::spread(result_.width, limits_.of(c)) + 2);
      const std::int64_t open =
          std::min({whole, rate_in_between(c, begin, end), limits_.extra_ppb[c]});
      much = much || open < limits_.extra_ppb[c] - limits_.extra_ppb[c] / 16;
      limits_.extra_ppb[c] = open;
    }
    return much;
  }

  /// Largest mean rate of an error from the middle of one window to that of another, ppb, if they are
  /// `length` apart and the error may have changed by `more` than between the middles.
  [[nodiscard]] std::int64_t rate_between(std::uint32_t c, std::uint32_t from, std::uint32_t to,
                                          std::int64_t length, std::int64_t more) const {
    const auto a = intervals_.of(c, from), b = intervals_.of(c, to);
    if (!a.bounded() || !b.bounded() || length <= 0) return clock::k_most_rate_ppb;
    const Int128 change = Int128{std::max(std::abs(b.upper - a.lower), std::abs(b.lower - a.upper))} + more;
    return static_cast<std::int64_t>(
        std::min<Int128>(ceil_div(change * clock::k_ppb, length), clock::k_most_rate_ppb));
  }

  /// Between the windows where it is known best, and a wander more: their mean is not that of all.
  [[nodiscard]] std::int64_t rate_in_between(std::uint32_t c, std::uint32_t begin,
                                             std::uint32_t end) const {
    std::vector<std::uint32_t> best;
    for (std::uint32_t part = 0; part < k_parts_of_run; ++part) {
      const auto bound = [&](std::uint32_t p) {
        return static_cast<std::uint32_t>(begin + std::uint64_t{end - begin + 1} * p / k_parts_of_run);
      };
      std::int64_t narrowest = ErrorIntervals::k_unbounded;
      for (std::uint32_t w = bound(part); w < bound(part + 1); ++w) {
        const auto interval = intervals_.of(c, w);
        if (!interval.bounded() || interval.upper - interval.lower >= narrowest) continue;
        if (narrowest == ErrorIntervals::k_unbounded) best.push_back(w);
        narrowest = interval.upper - interval.lower;
        best.back() = w;
      }
    }
    std::int64_t least = clock::k_most_rate_ppb;
    for (const std::uint32_t from : best) {
      for (const std::uint32_t to : best) {
        const std::int64_t length = (static_cast<std::int64_t>(to) - from) * result_.width;
        least = std::min(least, rate_between(c, from, to, length, 0));
      }
    }
    return std::min(least + limits_.wander_ppb, clock::k_most_rate_ppb);
  }

  /// Of a clock in the middle of all.
  [[nodiscard]] std::int64_t typical_rate() const {
    std::vector<std::int64_t> extra = limits_.extra_ppb;
    const auto middle = extra.begin() + static_cast<std::ptrdiff_t>(extra.size() / 2);
    std::nth_element(extra.begin(), middle, extra.end());
    return limits_.wander_ppb + *middle;
  }

  [[nodiscard]] GuaranteeProblem grid() const {
    GuaranteeProblem grid;
    grid.begin = result_.begin;
    grid.width = result_.width;
    grid.windows = result_.windows;
    return grid;
  }

  /// Best knowledge of the errors, to tell which bounds are tight.
  [[nodiscard]] ClockErrors middles() const {
    std::vector<double> values(std::size_t{clocks_} * result_.windows, 0);
    for (std::uint32_t c = 0; c < clocks_; ++c) {
      for (std::uint32_t w = 0; w < result_.windows; ++w) {
        const auto interval = intervals_.of(c, w);
        if (!interval.bounded()) continue;
        values[std::size_t{c} * result_.windows + w] =
            (static_cast<double>(interval.lower) + static_cast<double>(interval.upper)) / 2;
      }
    }
    return {result_.begin + result_.width / 2, static_cast<double>(result_.width), result_.windows,
            std::move(values)};
  }

  /// So narrow that a bound loses little inside of them, as far as memory goes.
  [[nodiscard]] std::uint32_t windows_for(std::size_t most) const {
    std::vector<double> widths;
    for (std::uint32_t w = 0; w < result_.windows; ++w) {
      for (std::uint32_t c = 0; c < clocks_; ++c) {
        const auto interval = intervals_.of(c, w);
        if (c == reference_clock_ || !interval.bounded()) continue;
        widths.push_back(static_cast<double>(interval.upper) - static_cast<double>(interval.lower));
      }
    }
    if (widths.empty()) return static_cast<std::uint32_t>(std::min<std::size_t>(64, most));
    const auto tight = widths.begin() + static_cast<std::ptrdiff_t>(widths.size() / 10);
    std::nth_element(widths.begin(), tight, widths.end());
    std::vector<std::uint64_t> pairs;
    for (const CausalBound& bound : bounds_) {
      pairs.push_back(std::uint64_t{bound.from} * clocks_ + bound.to);
    }
    std::sort(pairs.begin(), pairs.end());
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    const double wanted = static_cast<double>(end_ - begin_) * static_cast<double>(typical_rate()) /
                          static_cast<double>(clock::k_ppb) /
                          (std::max(*tight, 1.0) * k_share_of_interval);
    const std::size_t affordable =
        std::min({most, k_most_bounds / std::max<std::size_t>(pairs.size(), 1) + 1,
                  std::size_t{k_most_windows}});
    return static_cast<std::uint32_t>(
        std::clamp(wanted, 256.0, static_cast<double>(std::max<std::size_t>(affordable, 256))));
  }

  // --- sentences ---

  static std::string process_name(const trace::Definitions& definitions, LocationIndex l) {
    const std::uint32_t group = definitions.locations[l].group;
    return group < definitions.location_groups.size() ? definitions.location_groups[group].name
                                                      : definitions.locations[l].name;
  }
  [[nodiscard]] std::string name_of_clock(std::uint32_t clock) const {
    for (const Facts& facts : facts_) {
      if (clock_of(facts.location) == clock) {
        return process_name(trace_.definitions, facts.location);
      }
    }
    return "the clock of the sessions";
  }
  /// "MPI Rank 1 and MPI Rank 3 between 0.1 s and 0.12 s".
  [[nodiscard]] std::string place(const Contradiction& found) const {
    const std::size_t told = std::min<std::size_t>(found.clocks.size(), 3);
    std::string names;
    for (std::size_t i = 0; i < told; ++i) {
      const bool last = i + 1 == told && told == found.clocks.size();
      names += (i == 0 ? "" : last ? " and " : ", ") + name_of_clock(found.clocks[i]);
    }
    if (told < found.clocks.size()) {
      names += fmt::format(" and {} more", found.clocks.size() - told);
    }
    const auto seconds = [&](std::int64_t time) {
      return static_cast<double>(time - begin_) /
             static_cast<double>(trace_.definitions.clock.resolution_hz);
    };
    return fmt::format("{}, {:.6g} s to {:.6g} s after the first event", names,
                       seconds(found.begin - result_.width / 2),
                       seconds(found.end + result_.width / 2));
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

  Team& processes_;
  const LoadedTrace& loaded_;
  const trace::Trace& trace_;
  std::vector<LocationIndex> own_;
  const match::Graph& graph_;
  const ChosenMu& mu_;
  const Presynchronised& presync_;
  const BoundsOption& option_;
  const Progress* progress_;

  ProvenIntervals result_;
  std::vector<Facts> facts_;    ///< of all locations with events
  std::uint32_t clocks_ = 0;    ///< that of the sessions too, if it is none of theirs
  std::uint32_t reference_clock_ = 0;
  std::optional<std::uint32_t> session_clock_;  ///< if sessions have intervals
  bool corrected_ = false;      ///< clock offsets are a correction, not measurements
  std::vector<ClockMap> maps_;  ///< per location: the best there are
  std::int64_t begin_ = 0, end_ = 0;
  BigVector<std::int64_t> times_;  ///< per node, ghosts too; along the lines
  std::vector<CausalBound> sessions_, bounds_;
  std::optional<Guarantee> guarantee_;
  clock::RateLimits limits_;
  std::int64_t proven_wander_ = -1;  ///< for which limits_.extra_ppb was found; -1: none yet
  ErrorIntervals intervals_;
};

}  // namespace

Result<ProvenIntervals> prove_intervals(Team& processes, const LoadedTrace& loaded,
                                        const match::Graph& graph, const ChosenMu& mu,
                                        const Presynchronised& presync, const BoundsOption& option,
                                        const Progress* progress) {
  return Prover(processes, loaded, graph, mu, presync, option, progress).run();
}

}  // namespace entrain::engine
