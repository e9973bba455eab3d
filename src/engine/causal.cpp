// SPDX-License-Identifier: BSD-3-Clause
#include "engine/causal.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "base/big_vector.hpp"
#include "base/try.hpp"
#include "clock/causal_evidence.hpp"
#include "clock/causal_fit.hpp"
#include "clock/causal_lines.hpp"
#include "engine/node_times.hpp"
#include "match/bounds.hpp"

namespace entrain::engine {

namespace {

using clock::CausalBound;
using clock::CausalFit;
using clock::ClockErrors;
using clock::SessionBound;

/// Windows in which the tightest edge of every pair of clocks is kept.
constexpr std::uint32_t k_windows = 512;
/// Wider windows, to see both directions of a pair in one, once the errors are about known.
constexpr std::uint32_t k_wide_windows = 16;
constexpr std::size_t k_most_knots = 257;
/// Unknowns above which no finer knots are tried.
constexpr std::size_t k_many_unknowns = std::size_t{1} << 17;
/// Clocks that nobody measured come together in fewer rounds, if they do.
constexpr int k_most_alignments = 64;
constexpr double k_worth_a_round = 0.7;  ///< of the violation before
/// Which edge is the tightest depends on the errors: the fit is repeated with what it found.
constexpr int k_rounds = 2;

class Bender {
 public:
  Bender(Workers& workers, const LoadedTrace& loaded, const match::Graph& graph,
         const trace::ClockDomains& domains, const MuTicks& mu, Presynchronised& presync,
         const Progress* progress)
      : workers_(workers),
        processes_(workers.processes()),
        trace_(loaded.trace),
        own_(loaded.own(processes_)),
        graph_(graph),
        domains_(domains),
        mu_(mu),
        presync_(presync),
        progress_(progress),
        clock_of_(domains.of),
        clocks_(domains.count()),
        component_of_(clocks_, 0) {
    for (const LocationIndex l : own_) {
      const std::uint32_t clock = clock_of_[l];
      if (domains.members[clock].front() == l) own_clocks_.push_back(clock);
    }
  }

  Result<bool> run() {
    presync_.method = "causal";
    presync_.provenance = fmt::format("causal base={}", presync_.provenance);
    const bool measured = has_sessions();
    evaluate();
    if (begin_ >= end_) return tell("there are no events to compare clocks by", false);
    std::string preparation;
    if (!measured) {
      TRY_ASSIGN(preparation, align());
    }
    TRY_ASSIGN(const CausalFit fit, this->fit(measured));
    if (!fit.converged) {
      return tell(preparation + "the fit did not settle: no clock is bent", !measured);
    }
    if (fit.active == 0) return tell(preparation + "no edge asks for a bend", !measured);
    if (!foretold_) {
      return tell(
          preparation +
              "bends along one half of the edges do not foretell the other: no clock is bent",
          !measured);
    }
    if (!bend(fit.errors)) {
      return tell(preparation + "the fit would turn time backward: no clock is bent", !measured);
    }
    return tell(
        fmt::format("{}{} bounds of {} pairs of clocks and times hold the clocks, on {} knots each",
                    preparation, fit.active, bounds_.size(), fit.errors.knots()),
        true);
  }

 private:
  bool tell(std::string reason, bool changed) {
    presync_.clocks.reason = std::move(reason);
    return changed;
  }
  [[nodiscard]] Result<void> go_on() const {
    const bool stopped = progress_ != nullptr && progress_->cancelled();
    if (!processes_.any(stopped)) return {};
    return fail(ErrorKind::interrupted, "interrupted; nothing was written");
  }
  const trace::LocationSkeleton& location(LocationIndex l) const { return trace_.locations[l]; }

  /// True if clocks were measured: where only few were, the others follow no straight line.
  [[nodiscard]] bool has_sessions() const {
    return processes_.any(std::any_of(own_.begin(), own_.end(), [&](LocationIndex l) {
      return location(l).clock_offsets.size() >= 2;
    }));
  }

  /// Times of all nodes and the span of all events, through the maps as they are.
  void evaluate() {
    begin_ = std::numeric_limits<std::int64_t>::max();
    end_ = std::numeric_limits<std::int64_t>::min();
    for (const LocationIndex l : own_) {
      if (location(l).event_count == 0) continue;
      begin_ = std::min(begin_, presync_.maps[l](location(l).first));
      end_ = std::max(end_, presync_.maps[l](location(l).last));
    }
    begin_ = processes_.reduce(Team::Reduction::min, begin_);
    end_ = processes_.reduce(Team::Reduction::max, end_);
    evaluate_nodes(workers_, graph_, own_, times_,
                   [&](LocationIndex l) { return ClockMap::Cursor(presync_.maps[l]); });
  }

  void collect(const ClockErrors* errors) {
    match::BoundOptions options;
    options.times = times_;
    options.clock_of = clock_of_;
    options.clocks = static_cast<std::uint32_t>(clocks_);
    options.mu = mu_;
    options.begin = begin_;
    options.end = end_;
    options.windows = k_windows;
    options.errors = errors;
    options.threads = workers_.threads();
    bounds_ = match::collect_bounds(processes_, graph_, options);
    std::erase_if(bounds_, [&](const CausalBound& bound) {
      return component_of_[bound.from] != component_of_[bound.to];
    });
  }

  [[nodiscard]] std::int64_t width_of(std::uint32_t windows) const {
    return (end_ - begin_) / windows + 1;
  }

  /// Without sessions: straight lines. Returns what is to be told.
  Result<std::string> align() {
    std::vector<std::uint32_t> group_of(clocks_);
    std::iota(group_of.begin(), group_of.end(), 0u);
    // Of a collective only the latest and the earliest clock are seen, and far-off clocks spoil the
    // windows: what came together shows more.
    for (int round = 0; round < k_most_alignments; ++round) {
      TRY(go_on());
      collect(nullptr);
      const std::vector<clock::ClockLine> lines = clock::align_by_lines(clocks_, bounds_, group_of);
      const bool changed = std::any_of(lines.begin(), lines.end(), [](const clock::ClockLine& l) {
        return l.offset != 0 || l.rate != 0;
      });
      if (!changed || !follow(lines)) break;
      for (std::uint32_t c = 0; c < clocks_; ++c) group_of[c] = lines[c].component;
    }
    TRY(refine_lines(group_of));
    std::set<std::uint32_t> groups;
    for (const CausalBound& bound : bounds_) {
      groups.insert({group_of[bound.from], group_of[bound.to]});
    }
    component_of_ = std::move(group_of);
    if (groups.size() < 2) return "no clock was measured: aligned by messages; ";
    return fmt::format(
        "no clock was measured: aligned by messages in {} groups, between which nothing was seen "
        "to go both ways; ",
        groups.size());
  }

  /// Lines of single clocks instead of groups, now that they are about right, as long as they
  /// violate less and less.
  Result<void> refine_lines(std::vector<std::uint32_t>& group_of) {
    collect(nullptr);
    double before = violation();
    for (int round = 0; round < k_most_alignments && before > 0; ++round) {
      TRY(go_on());
      const std::vector<ClockMap> maps = presync_.maps;
      const std::vector<clock::ClockLine> lines = clock::align_by_lines(clocks_, bounds_);
      if (!follow(lines)) return {};
      collect(nullptr);
      const double after = violation();
      if (after > before) {
        presync_.maps = maps;
        evaluate();
        collect(nullptr);
        return {};
      }
      join(group_of, lines);
      if (after > k_worth_a_round * before) return {};
      before = after;
    }
    return {};
  }

  static void join(std::vector<std::uint32_t>& group_of,
                   const std::vector<clock::ClockLine>& lines) {
    for (std::uint32_t c = 0; c < group_of.size(); ++c) {
      const auto [low, high] = std::minmax(group_of[lines[c].component], group_of[c]);
      if (low != high) {
        std::replace(group_of.begin(), group_of.end(), std::uint32_t{high}, std::uint32_t{low});
      }
    }
  }

  /// Of all bounds by the maps as they are, ticks^2.
  [[nodiscard]] double violation() const {
    double sum = 0;
    for (const CausalBound& bound : bounds_) {
      const double below = std::min(static_cast<double>(bound.slack), 0.0);
      sum += below * below;
    }
    return sum;
  }

  /// All locations of the clock as one.
  [[nodiscard]] trace::LocationSkeleton extent(std::uint32_t clock) const {
    return trace::extent_of(trace_, domains_.members[clock]);
  }
  /// The map of all locations of a clock.
  [[nodiscard]] const ClockMap& map_of(std::uint32_t clock) const {
    return presync_.maps[domains_.members[clock].front()];
  }
  void set_map(std::vector<ClockMap>& maps, std::uint32_t clock, const ClockMap& map) const {
    for (const LocationIndex l : domains_.members[clock]) maps[l] = map;
  }

  /// Moves all clocks along their lines; false, with all as before, if one comes too far.
  bool follow(const std::vector<clock::ClockLine>& lines) {
    std::vector<ClockMap> maps = presync_.maps;
    bool good = true;
    for (const std::uint32_t clock : own_clocks_) {
      const clock::ClockLine& line = lines[clock];
      const trace::LocationSkeleton stamps = extent(clock);
      if (stamps.event_count == 0 || (line.offset == 0 && line.rate == 0)) continue;
      const ClockMap& map = map_of(clock);
      const std::uint64_t first = stamps.first;
      const std::uint64_t last = std::max(stamps.last, first + 1);
      const auto knot = [&](std::uint64_t local) -> ClockKnot {
        const std::int64_t c = map(local);
        const std::int64_t drift = std::llround(line.rate * static_cast<double>(c - line.base));
        return {local, c - static_cast<std::int64_t>(local) + line.offset + drift};
      };
      const auto straight = ClockMap::from_knots({knot(first), knot(last)});
      good = good && straight;
      if (straight) set_map(maps, clock, *straight);
    }
    if (processes_.any(!good)) return false;
    presync_.maps = std::move(maps);
    avoid_negative_times(processes_, trace_, own_, presync_.maps);
    evaluate();
    return true;
  }

  /// All sessions of all clocks, in a fixed order; sessions say that the presync is right there.
  [[nodiscard]] std::vector<SessionBound> sessions(double scale, bool measured) const {
    std::vector<SessionBound> own;
    for (const LocationIndex l : own_) {
      for (const trace::ClockOffset& record : location(l).clock_offsets) {
        const double known = std::isfinite(record.stddev) ? std::max(record.stddev, 0.0) : 0;
        own.push_back({clock_of_[l], presync_.maps[l](record.time), std::max(2 * scale, known)});
      }
    }
    std::vector<std::vector<SessionBound>> parcels(processes_.size(), own);
    std::vector<SessionBound> all;
    for (const auto& parcel : exchange(processes_, std::move(parcels))) {
      all.insert(all.end(), parcel.begin(), parcel.end());
    }
    std::sort(all.begin(), all.end(), [](const SessionBound& a, const SessionBound& b) {
      return std::tie(a.clock, a.time, a.half_width) < std::tie(b.clock, b.time, b.half_width);
    });
    const auto same = [](const SessionBound& a, const SessionBound& b) {
      return a.clock == b.clock && a.time == b.time && a.half_width == b.half_width;
    };
    all.erase(std::unique(all.begin(), all.end(), same), all.end());  // locations share records
    // Somebody has to hold the common offset and rate of clocks, which edges cannot tell.
    if (!measured) {
      std::set<std::uint32_t> references;
      for (const CausalBound& bound : bounds_) references.insert(component_of_[bound.to]);
      for (const std::uint32_t reference : references) {
        for (const std::int64_t time : {begin_, end_}) all.push_back({reference, time, scale / 2});
      }
      // The lines are about as wrong as what they violate; without this the fit is ill-posed.
      const double wrong = std::max(worst_violation(), 1.0);
      for (std::uint32_t c = 0; c < clocks_; ++c) {
        if (references.contains(c)) continue;
        for (const std::int64_t time : {begin_, end_}) all.push_back({c, time, wrong});
      }
    }
    return all;
  }

  /// By the presync maps, ticks.
  [[nodiscard]] double worst_violation() const {
    std::int64_t worst = 0;
    for (const CausalBound& bound : bounds_) worst = std::max(worst, -bound.slack);
    return static_cast<double>(worst);
  }

  Result<CausalFit> fit(bool measured) {
    CausalFit found;
    for (int round = 0; round < k_rounds; ++round) {
      TRY(go_on());
      const ClockErrors* const errors = round == 0 ? nullptr : &found.errors;
      collect(errors);
      // Clocks are not to be bent by what only bounds them on one side.
      bounds_ = clock::held_both_ways(bounds_, clocks_, begin_, width_of(k_wide_windows));
      const std::uint32_t windows = round == 0 ? k_windows : k_wide_windows;
      const double latency = clock::latency_scale(bounds_, begin_, width_of(windows), errors);
      // Long tails and few messages leave no short round trip. What is coarser than the violations
      // must not be read as a latency, nor make the sessions softer than they are wrong.
      const double fine = std::max(worst_violation() / 4, 1.0);
      const double scale = std::min(latency, fine);
      const std::vector<SessionBound> all = sessions(scale, measured);
      clock::CausalProblem problem;
      problem.clocks = clocks_;
      problem.begin = begin_;
      problem.end = end_;
      problem.sigma = scale / 2;
      problem.latency = latency <= fine ? latency : 0;
      problem.bounds = bounds_;
      problem.sessions = all;
      problem.progress = progress_;
      const std::size_t most_knots =
          std::clamp<std::size_t>(k_many_unknowns / clocks_, 33, k_most_knots);
      CausalFit next = clock::choose_fit(problem, most_knots, found.amplitude);
      TRY(go_on());
      if (!next.converged) return next;
      found = std::move(next);
      found.errors = clock::without_common(found.errors, clocks_, bounds_);
      if (found.active == 0) break;
      if (round + 1 == k_rounds) {
        const clock::HeldOut held = clock::hold_out(problem, found, width_of(k_windows));
        TRY(go_on());
        foretold_ = held.supports_bends(measured);
      }
    }
    return found;
  }

  /// False, with all maps as before, if a map would decrease.
  bool bend(const ClockErrors& errors) {
    std::vector<ClockMap> bent = presync_.maps;
    bool good = true;
    for (const std::uint32_t clock : own_clocks_) {
      const auto values = errors.of(clock);
      const bool straight =
          std::all_of(values.begin(), values.end(), [](double e) { return std::abs(e) < 0.5; });
      const trace::LocationSkeleton stamps = extent(clock);
      if (straight || stamps.event_count == 0) continue;
      const auto map = bent_map(clock, stamps, errors);
      good = good && map && map->is_monotone();
      if (map) set_map(bent, clock, *map);
    }
    if (processes_.any(!good)) return false;
    presync_.maps = std::move(bent);
    avoid_negative_times(processes_, trace_, own_, presync_.maps);
    for (ClockQuality& clock : presync_.clocks.clocks) {  // they are of the maps as they were
      clock.interval_bound_ticks.reset();
      clock.predicted_bound_ticks.reset();
    }
    return true;
  }

  [[nodiscard]] Result<ClockMap> bent_map(std::uint32_t clock,
                                          const trace::LocationSkeleton& stamps,
                                          const ClockErrors& errors) const {
    const ClockMap& map = map_of(clock);
    const std::uint64_t first = stamps.first, last = std::max(stamps.last, first + 1);
    std::vector<std::uint64_t> locals{first, last};
    for (const ClockKnot& knot : map.knots()) {
      if (knot.local > first && knot.local < last) locals.push_back(knot.local);
    }
    std::uint64_t local = first;
    for (std::size_t k = 0; k < errors.knots(); ++k) {
      const std::int64_t time = errors.begin() + std::llround(errors.distance(k));
      if (time <= map(first) || time >= map(last)) continue;
      local = stamp_at(map, time, local, last);
      if (local < last) locals.push_back(local);
    }
    std::sort(locals.begin(), locals.end());
    locals.erase(std::unique(locals.begin(), locals.end()), locals.end());
    std::vector<ClockKnot> knots;
    for (const std::uint64_t stamp : locals) {
      const std::int64_t c = map(stamp);
      knots.push_back(
          {stamp, c - static_cast<std::int64_t>(stamp) - std::llround(errors(clock, c))});
    }
    TRY_ASSIGN(const ClockMap bent, ClockMap::from_knots(std::move(knots)));
    return straight_in_flushes(bent, stamps);
  }

  /// First stamp from `low` on whose time is at least `time`; `high` if there is none before.
  static std::uint64_t stamp_at(const ClockMap& map, std::int64_t time, std::uint64_t low,
                                std::uint64_t high) {
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      if (map(middle) < time) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  Workers& workers_;
  Team& processes_;
  const trace::Trace& trace_;
  std::vector<LocationIndex> own_;
  const match::Graph& graph_;
  const trace::ClockDomains& domains_;
  MuTicks mu_;
  Presynchronised& presync_;
  const Progress* progress_;
  const std::vector<std::uint32_t>& clock_of_;  ///< per location
  std::size_t clocks_;
  std::vector<std::uint32_t> own_clocks_;    ///< whose locations are of this process
  std::vector<std::uint32_t> component_of_;  ///< per clock: first one of those it is aligned with
  BigVector<std::int64_t> times_;            ///< per node, ghosts too
  std::int64_t begin_ = 0, end_ = 0;
  std::vector<CausalBound> bounds_;
  bool foretold_ = true;  ///< edges that a fit did not see support it
};

}  // namespace

Result<match::Graph> build_graph(Workers& workers, const LoadedTrace& loaded,
                                 const CheckOptions& options, bool every_event,
                                 const Progress* progress) {
  return match::build_graph(workers.processes(), loaded.partition, loaded.trace,
                            {options.alltoallv == AlltoallvRule::dense, options.init_finalize,
                             every_event, workers.threads()},
                            progress);
}

Result<bool> bend_by_edges(Workers& workers, const LoadedTrace& loaded, const match::Graph& graph,
                           const trace::ClockDomains& domains, const MuTicks& mu,
                           Presynchronised& presync, const Progress* progress) {
  return Bender(workers, loaded, graph, domains, mu, presync, progress).run();
}

}  // namespace entrain::engine
