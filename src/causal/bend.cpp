// SPDX-License-Identifier: BSD-3-Clause
#include "causal/bend.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <entrain/options.hpp>

#include "base/try.hpp"
#include "constraints/constrained_clocks.hpp"
#include "fit/choose_fit.hpp"
#include "fit/clock_subset.hpp"
#include "fit/evidence.hpp"
#include "lines/lines_from_edges.hpp"

namespace entrain::causal {

namespace {

/// Rounds of the fit; tests: bend_test.cpp, tests/bounds/bend_test.cpp; values: docs/decisions/37.
struct BendThresholds {
  /// Windows once errors are roughly known: wide enough to hold both directions of a pair.
  static constexpr std::uint32_t wide_windows = 16;
  static constexpr std::size_t most_knots = 257, fewest_knots = 33;  ///< knots per clock
  /// Unknowns above which no finer knots are tried. Chosen, not measured.
  static constexpr std::size_t most_unknowns = std::size_t{1} << 17;
  /// Least scale of the first round as a share of the worst violation, and of the next round as a
  /// share of the first scale. Where clocks wander by more than a latency within a window, round
  /// trips come out too short, and constraints as hard as that contradict each other.
  static constexpr double first_precision = 1.0 / 4096, next_precision = 1.0 / 4;
  /// The tightest edges depend on the errors, so a second round uses the errors of the first.
  static constexpr int rounds = 2;
  /// CausalProblem::tolerance of the rounds before the last.
  static constexpr double first_tolerance = 1e-1;
  static constexpr double straight = 0.5;  ///< ticks; clocks with smaller errors stay
};

class Bender {
 public:
  Bender(const constraints::Context& context, const trace::ClockDomains& domains,
         clocks::Presynchronised& presync)
      : context_(context), clocks_(context, domains, presync.maps), presync_(presync) {}

  Result<bool> run() {
    TRY_ASSIGN(const bool changed, fit_edges());
    if (clocks_.begin() >= clocks_.end()) return changed;
    TRY_ASSIGN(const bool bent, lines::bend_to_ends(clocks_));
    if (!bent) return changed;
    presync_.clocks.reason += "; bent by ends of collectives, which coincide";
    return true;
  }

 private:
  Result<bool> fit_edges() {
    presync_.method = PresyncMethod::causal;
    presync_.provenance = fmt::format("causal base={}", presync_.provenance);
    const bool measured = has_sessions();
    clocks_.evaluate();
    if (clocks_.begin() >= clocks_.end())
      return report("there are no events to compare clocks by", false);
    lines::Alignment alignment;
    if (!measured) {
      TRY_ASSIGN(alignment, lines::align_unmeasured(clocks_));
    }
    const std::string& preparation = alignment.sentence;
    by_ends_ = alignment.by_ends;
    TRY_ASSIGN(const fit::CausalFit fit, this->fit(measured));
    if (!fit.converged) return report(preparation + not_fitted(), !measured);
    if (fit.active == 0) return report(preparation + "no edge asks for a bend", !measured);
    if (!predicted_) {
      return report(
          preparation +
              "bends along one half of the edges do not predict the other: no clock is bent",
          !measured);
    }
    if (!bend(fit.errors)) {
      return report(preparation + "the fit would turn time backward: no clock is bent", !measured);
    }
    return report(
        fmt::format(
            "{}{} constraints of {} pairs of clocks and times hold the clocks, on {} knots each",
            preparation, fit.active, clocks_.constraints().size(), fit.errors.knots()),
        true);
  }

  [[nodiscard]] std::string not_fitted() const {
    if (joined_ <= k_most_bent_clocks) return "the fit did not settle: no clock is bent";
    return fmt::format(
        "constraints join {} clocks, more than a fit can take ({}): no clock is bent", joined_,
        k_most_bent_clocks);
  }
  bool report(std::string reason, bool changed) {
    presync_.clocks.reason = std::move(reason);
    return changed;
  }
  /// True if some clock was measured. Then no clock is aligned by a straight line.
  [[nodiscard]] bool has_sessions() const {
    const std::vector<LocationIndex> own = context_.share.own();
    return context_.team().any(std::any_of(own.begin(), own.end(), [&](LocationIndex l) {
      return !context_.trace().locations[l].clock_offsets.empty();
    }));
  }

  /// Adds sessions at both ends of the run for a clock that was measured once, which a fit could
  /// turn freely otherwise. Half-widths grow with the distance from the measurement; the master of
  /// the sessions has none of that.
  void add_ends(LocationIndex l, double rate, double least,
                std::vector<constraints::SessionConstraint>& sessions) const {
    const trace::ClockOffset& record = context_.trace().locations[l].clock_offsets.front();
    const bool master = record.offset == 0 && record.stddev == 0;
    const std::int64_t measured = presync_.maps[l](record.time);
    for (const std::int64_t time : {clocks_.begin(), clocks_.end()}) {
      // Unsigned: a damaged record may hold any time.
      const std::uint64_t away =
          time > measured ? static_cast<std::uint64_t>(time) - static_cast<std::uint64_t>(measured)
                          : static_cast<std::uint64_t>(measured) - static_cast<std::uint64_t>(time);
      const double reach = rate * static_cast<double>(away);
      sessions.push_back({clocks_.clock_of(l), time, master ? least : least + reach});
    }
  }

  /// Sessions of all clocks, in a fixed order. A session means that the presync is right there.
  [[nodiscard]] std::vector<constraints::SessionConstraint> sessions(double scale,
                                                                     bool measured) const {
    const double rate = context_.prior.mean();
    std::vector<constraints::SessionConstraint> own;
    for (const LocationIndex l : context_.share.own()) {
      const auto& records = context_.trace().locations[l].clock_offsets;
      for (const trace::ClockOffset& record : records) {
        const double known = std::isfinite(record.stddev) ? std::max(record.stddev, 0.0) : 0;
        own.push_back(
            {clocks_.clock_of(l), presync_.maps[l](record.time), std::max(2 * scale, known)});
      }
      if (records.size() == 1) add_ends(l, rate, 2 * scale, own);
    }
    std::vector<constraints::SessionConstraint> all = gather_everywhere(context_.team(), own);
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());  // locations share records
    // Edges do not determine the common offset and rate: the first clock does.
    if (!measured) {
      const auto hold_ends = [&](std::uint32_t clock, double half_width) {
        for (const std::int64_t time : {clocks_.begin(), clocks_.end()})
          all.push_back({clock, time, half_width});
      };
      std::set<std::uint32_t> references;
      for (const constraints::ClockConstraint& constraint : clocks_.constraints()) {
        references.insert(clocks_.component_of[constraint.to]);
      }
      for (const std::uint32_t reference : references) hold_ends(reference, scale / 2);
      // The worst violation estimates the error of the lines. It keeps the fit well-posed.
      const double wrong = std::max(clocks_.worst_violation(), 1.0);
      for (std::uint32_t c = 0; c < clocks_.clocks(); ++c) {
        if (!references.contains(c)) hold_ends(c, wrong);
      }
    }
    return all;
  }

  /// The clock whose time the others get, if one is chosen: it does not bend.
  [[nodiscard]] std::vector<constraints::SessionConstraint> session_of_reference() const {
    const LocationIndex chosen = context_.reference.location;
    if (chosen == k_none) return {};
    return {{clocks_.clock_of(chosen), clocks_.begin(), 0}};
  }

  /// Keeps only two-sided constraints: one-sided ones must not bend clocks.
  ///
  /// With sessions, a way back whose slack exceeds the worst violation in the whole run does not
  /// count either: the clock would end at the edge of what is possible, wherever the truth is, and
  /// is better left as it was measured. Example: lines are off by 2 us, messages take 2 us one way
  /// and 50 us the other, so that 48 us remain. The whole run counts and not each window: where
  /// programs wait for each other, the way back is wide in one moment and narrow in the next.
  void keep_two_sided(bool measured, const constraints::ClockErrors* errors) {
    const auto keep_within = [&](std::int64_t width, double most_slack) {
      clocks_.keep(fit::two_sided_constraints(
          clocks_.take_constraints(), clocks_.clocks(), clocks_.begin(), width,
          {.most_slack = most_slack, .errors = errors, .threads = context_.threads}));
    };
    if (measured) keep_within(clocks_.width_of(1), clocks_.worst_violation());
    keep_within(clocks_.width_of(BendThresholds::wide_windows),
                std::numeric_limits<double>::infinity());
  }

  /// Largest number of knots per clock.
  static std::size_t most_knots(std::size_t clocks) {
    return std::clamp<std::size_t>(BendThresholds::most_unknowns / std::max<std::size_t>(clocks, 1),
                                   BendThresholds::fewest_knots, BendThresholds::most_knots);
  }

  Result<fit::CausalFit> fit(bool measured) {
    const std::vector<constraints::ClockConstraint>& constraints = clocks_.constraints();
    fit::CausalFit found;
    double scale = 0;
    for (int round = 0; round < BendThresholds::rounds; ++round) {
      TRY(clocks_.check_cancelled());
      const constraints::ClockErrors* const errors = round == 0 ? nullptr : &found.errors;
      clocks_.collect(errors);
      keep_two_sided(measured, errors);
      const std::uint32_t windows =
          round == 0 ? constraints::ConstrainedClocks::k_windows : BendThresholds::wide_windows;
      const double latency =
          fit::latency_scale(constraints, clocks_.begin(), clocks_.width_of(windows), errors);
      // Few messages, or latencies with long tails, show no short round trip. A scale coarser than
      // the violations is no latency, and must not soften the sessions.
      const double fine = std::max(clocks_.worst_violation() / 4, 1.0);
      const double coarse = round == 0 ? clocks_.worst_violation() * BendThresholds::first_precision
                                       : scale * BendThresholds::next_precision;
      scale = std::max(std::min(latency, fine), coarse);
      const std::vector<constraints::SessionConstraint> all = sessions(scale, measured);
      fit::CausalProblem problem;
      problem.clocks = clocks_.clocks();
      problem.begin = clocks_.begin();
      problem.end = clocks_.end();
      problem.sigma = scale / 2;
      problem.latency = latency <= fine ? latency : 0;
      problem.constraints = constraints;
      problem.sessions = all;
      problem.tolerance = round + 1 < BendThresholds::rounds ? BendThresholds::first_tolerance : 0;
      problem.threads = context_.threads;
      problem.progress = context_.progress;
      const fit::ClockSubset joined(problem, fit::joined_clocks(problem));
      joined_ = joined.problem().clocks;
      if (joined_ > k_most_bent_clocks) return fit::CausalFit();
      found.errors = joined.errors(found.errors);
      found = fit::fit_at_root(context_.team(), [&] {
        return fit::choose_fit(joined.problem(), most_knots(joined.problem().clocks), found);
      });
      TRY(clocks_.check_cancelled());
      if (!found.converged) return found;
      found.errors = joined.of_all(found.errors);
      found.errors = fit::without_common_mode(found.errors, clocks_.clocks(), constraints,
                                              measured ? all : session_of_reference());
      if (found.active == 0) break;
      if (round + 1 == BendThresholds::rounds) {
        fit::CausalFit of_joined = found;
        of_joined.errors = joined.errors(found.errors);
        const fit::HeldOut held = fit::at_root(context_.team(), [&] {
          return fit::hold_out(joined.problem(), of_joined,
                               clocks_.width_of(constraints::ConstrainedClocks::k_windows));
        });
        TRY(clocks_.check_cancelled());
        predicted_ = held.supports_bends(measured || by_ends_);
      }
    }
    return found;
  }

  /// False, with all maps as before, if a map would decrease.
  bool bend(const constraints::ClockErrors& errors) {
    std::vector<std::int64_t> times;
    for (std::size_t k = 0; k < errors.knots(); ++k) {
      times.push_back(errors.begin() + std::llround(errors.distance(k)));
    }
    using Map = Result<std::optional<ClockMap>>;
    const bool good = clocks_.replace_maps([&](std::uint32_t clock, const auto& stamps) -> Map {
      const auto is_straight = [](double e) { return std::abs(e) < BendThresholds::straight; };
      if (std::ranges::all_of(errors.of(clock), is_straight)) return std::nullopt;
      return constraints::bent_map(clocks_.map_of(clock), stamps, times, [&](std::int64_t time) {
        return -std::llround(errors(clock, time));
      });
    });
    for (ClockQuality& clock : presync_.clocks.clocks) {  // they describe the maps before the bend
      if (!good) break;
      clock.interval_bound_ticks.reset();
      clock.predicted_bound_ticks.reset();
    }
    return good;
  }

  const constraints::Context& context_;
  constraints::ConstrainedClocks clocks_;
  clocks::Presynchronised& presync_;
  bool by_ends_ = false;    ///< clocks were aligned by the ends of collectives
  std::size_t joined_ = 0;  ///< clocks that constraints join
  bool predicted_ = true;   ///< a fit to half of the edges predicts the other half
};

}  // namespace

Result<bool> bend_by_edges(const constraints::Context& context, const trace::ClockDomains& domains,
                           clocks::Presynchronised& presync) {
  return Bender(context, domains, presync).run();
}

}  // namespace entrain::causal
