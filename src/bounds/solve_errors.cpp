// SPDX-License-Identifier: BSD-3-Clause
#include "bounds/solve_errors.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace entrain::bounds {

namespace {

using difference::Effort;
using difference::Exact;
using difference::Node;
using difference::System;
using difference::Values;

/// Iterations; solve_errors_test.cpp. Chosen, not measured.
struct SolvingThresholds {
  /// Steps per node and edge that a search may take.
  static constexpr std::uint64_t steps_each = 1'000;
  static constexpr std::uint64_t searches = 8;  ///< such searches for a least limit
  static constexpr int narrowings = 32;
  /// Parts of a life; the narrowest interval of each is used.
  static constexpr std::int64_t parts = 48;
  /// Another round needs a limit that fell by more than 1 in so many.
  static constexpr std::int64_t worthwhile = 1024;
};

/// Rates of u that errors within limits have.
difference::ClockLimits limits_of(const ErrorProblem& problem, const RateLimits& limits,
                                  std::uint32_t clock, bool with_mean) {
  difference::ClockLimits result{.rate = of_u(limits.of(clock)), .mean = {}};
  const Lifetime& life = problem.lives[clock];
  if (!with_mean || limits.mean.empty() || life.first >= life.last) return result;
  // A tick for the rounding of each of the two stamps, as in narrow().
  result.mean = {.rates = of_u(limits.mean[clock]),
                 .first = life.first - problem.begin,
                 .last = life.last - problem.begin,
                 .slack_ticks = 2};
  return result;
}

/// `with_means`: over the life of every clock its error changes by its mean rate. Rates that are
/// `limits.of` all the time would allow more, but wander averages out.
System system_of(const ErrorProblem& problem, const RateLimits& limits, bool with_means) {
  std::vector<difference::ClockLimits> of_clocks;
  for (std::uint32_t c = 0; c < problem.clocks; ++c) {
    of_clocks.push_back(limits_of(problem, limits, c, with_means));
  }
  return System({.clocks = of_clocks, .reference = problem.reference, .edges = problem.edges});
}

Effort effort_of(const ErrorProblem& problem, const System& system) {
  return {.most = SolvingThresholds::steps_each *
                  (std::uint64_t{system.nodes()} + problem.edges.size() + 1)};
}

/// The clocks and times of a cycle of constraints; without steps: none of each.
Contradiction described(const ErrorProblem& problem, const System& system,
                        const difference::Certificate& certificate) {
  if (certificate.steps.empty()) return {.is_certain = true, .clocks = {}};
  Contradiction found{.is_certain = true,
                      .clocks = {},
                      .begin = std::numeric_limits<std::int64_t>::max(),
                      .end = std::numeric_limits<std::int64_t>::min()};
  for (const difference::Certificate::Step& step : certificate.steps) {
    found.clocks.push_back(system.clock(step.from));
    if (step.from == 0) continue;
    found.begin = std::min(found.begin, problem.begin + system.stamp(step.from));
    found.end = std::max(found.end, problem.begin + system.stamp(step.from));
  }
  std::ranges::sort(found.clocks);
  found.clocks.erase(std::unique(found.clocks.begin(), found.clocks.end()), found.clocks.end());
  return found;
}
/// Why there is no solution.
tl::unexpected<Contradiction> described(const ErrorProblem& problem, const System& system,
                                        const difference::Failure& failure) {
  if (!failure.certificate || failure.certificate->steps.empty()) {
    return tl::unexpected(Contradiction());
  }
  return tl::unexpected(described(problem, system, *failure.certificate));
}

/// Distance of a node that nothing ties to the reference: above all sums of constraints, but
/// finite, so that a search finds cycles there too.
constexpr Exact k_untied = difference::k_unbounded / 8;

/// Errors from u, which is their negative: the least u gives the greatest error.
ErrorBounds errors_of(const ErrorProblem& problem, const System& system, const Values& lower,
                      const Values& upper) {
  ErrorBounds errors;
  for (std::uint32_t c = 0; c < problem.clocks; ++c) {
    std::vector<ClockBound::Point> points;
    for (Node node = system.begin(c); c != problem.reference && node < system.end(c); ++node) {
      ClockBound::Point& point = points.emplace_back();
      point.time = problem.begin + system.stamp(node);
      if (upper[node] < k_untied / 2) point.lower = -upper[node];
      if (lower[node] > -k_untied / 2) point.upper = -lower[node];
    }
    if (c == problem.reference) points.push_back({problem.begin, 0, 0});
    errors.emplace_back(c == problem.reference ? RateRange{0, 0} : of_u(system.limits(c).rate),
                        std::move(points));
  }
  return errors;
}

/// Values of u that are known to be too small or too large, to start from.
Values start_of(const ErrorProblem& problem, const System& system, const ErrorBounds& known,
                bool is_upper) {
  const Exact untied = is_upper ? k_untied : -k_untied;
  Values values(system.nodes(), untied);
  values[0] = 0;
  if (known.empty()) return values;
  for (Node node = 1; node < system.stamped(); ++node) {
    const auto at = known[system.clock(node)].at(problem.begin + system.stamp(node));
    const Exact value = is_upper ? -at.lower : -at.upper;
    if (!difference::is_unbounded(value)) values[node] = value;
  }
  return values;
}

/// The tightest bounds. `known`: bounds that hold, found under limits that are not smaller, for a
/// part of the constraints; they save time. Empty: none.
Proved<ErrorBounds> solve(const ErrorProblem& problem, const System& system,
                          const ErrorBounds& known) {
  Effort effort = effort_of(problem, system);
  const auto upper = greatest_below(system, start_of(problem, system, known, true), effort);
  if (!upper) return described(problem, system, upper.error());
  const auto lower = least_above(system, start_of(problem, system, known, false), effort);
  if (!lower) return described(problem, system, lower.error());
  return errors_of(problem, system, *lower, *upper);
}

/// Narrows the mean rate of a clock over its life by the one between two points. What is outside of
/// these differs from the mean over the life by the wander at most; so does what is inside.
void narrow(const ClockBound::Point& a, const ClockBound::Point& b, const Lifetime& life,
            std::int64_t wander_ppb, RateRange& range) {
  const Exact inside = b.time - a.time, outside = life.last - life.first - inside;
  // A tick for the rounding of each of the two stamps.
  const Exact away = wander_ppb * std::min(inside, outside) + 2 * difference::k_tick;
  const auto bounded = [](Exact x, Exact y) {
    return !difference::is_unbounded(x) && !difference::is_unbounded(y);
  };
  const auto ppb = [](Exact rate) {
    return static_cast<std::int64_t>(std::clamp<Exact>(rate, -k_most_rate_ppb, k_most_rate_ppb));
  };
  if (bounded(b.upper, a.lower)) {
    range.upper_ppb = std::min(range.upper_ppb, ppb(ceil_div(b.upper - a.lower + away, inside)));
  }
  if (bounded(b.lower, a.upper)) {
    range.lower_ppb = std::max(range.lower_ppb, ppb(floor_div(b.lower - a.upper - away, inside)));
  }
}

/// The mean rate of a clock over its life that bounds on its error leave, within `range`: from its
/// ends and the narrowest bounds of its parts.
RateRange open_rates(const ClockBound& bound, const Lifetime& life, std::int64_t wander_ppb,
                     RateRange range) {
  std::vector<ClockBound::Point> places{bound.at(life.first), bound.at(life.last)};
  const std::int64_t length = (life.last - life.first) / SolvingThresholds::parts + 1;
  std::int64_t part = -1;
  for (const ClockBound::Point& point : bound.points()) {
    if (point.time < life.first || point.time > life.last) continue;
    const std::int64_t its_part = (point.time - life.first) / length;
    const auto width = [](const ClockBound::Point& p) { return p.upper - p.lower; };
    if (its_part != std::exchange(part, its_part)) {
      places.push_back(point);
    } else if (width(point) < width(places.back())) {
      places.back() = point;
    }
  }
  for (const ClockBound::Point& from : places) {
    for (const ClockBound::Point& to : places) {
      if (from.time < to.time) narrow(from, to, life, wander_ppb, range);
    }
  }
  return range;
}

/// Lowers limits to what bounds leave. True if that is worth another round. A clock without a mean
/// rate that is possible is a contradiction.
Proved<bool> lower_limits(const ErrorProblem& problem, const ErrorBounds& errors,
                          RateLimits& limits) {
  if (limits.mean.empty()) return false;
  bool much = false;
  for (std::uint32_t c = 0; c < problem.clocks; ++c) {
    const Lifetime& life = problem.lives[c];
    if (c == problem.reference || life.first >= life.last) continue;
    const RateRange range = open_rates(errors[c], life, limits.wander_ppb, limits.mean[c]);
    if (range.lower_ppb > range.upper_ppb) {
      return tl::unexpected(
          Contradiction{true,
                        {std::min(c, problem.reference), std::max(c, problem.reference)},
                        life.first,
                        life.last});
    }
    const std::int64_t old = limits.of(c).width();
    limits.mean[c] = range;
    much = much || limits.of(c).width() < old - old / SolvingThresholds::worthwhile;
  }
  return much;
}

}  // namespace

Proved<ErrorBounds> find_error_bounds(const ErrorProblem& problem, const RateLimits& limits) {
  return solve(problem, system_of(problem, limits, problem.is_mean_given), {});
}

Proved<LeastLimit> find_least_limit(const ErrorProblem& problem, std::span<const RateRange> means,
                                    std::optional<std::int64_t> wander_ppb,
                                    std::span<const std::int64_t> near,
                                    std::vector<difference::Cycle>* known) {
  System system = system_of(problem, {0, {means.begin(), means.end()}}, true);
  Effort effort = effort_of(problem, system);
  effort.most *= SolvingThresholds::searches;
  std::vector<RateRange> means_of_u;
  std::vector<std::int64_t> near_of_u;
  for (const RateRange& mean : means) means_of_u.push_back(of_u(mean));
  for (const std::int64_t mean : near) near_of_u.push_back(-mean);
  const auto found =
      difference::find_least_limits(system, means_of_u, wander_ppb, near_of_u, effort, known);
  if (!found) return described(problem, system, found.error());
  if (found->ppb > k_most_rate_ppb) {
    return tl::unexpected(described(problem, system, found->shown));
  }
  LeastLimit result{.ppb = found->ppb,
                    .is_least = found->is_least,
                    .means = {},
                    .errors = errors_of(problem, system, found->solution, found->solution),
                    .shown = described(problem, system, found->shown)};
  for (const std::int64_t mean : found->means) result.means.push_back(-mean);
  return result;
}

Proved<Narrowed> narrow_limits(const ErrorProblem& problem, Narrowed narrowed,
                               const std::function<bool(const ErrorBounds&)>& add_violated) {
  int narrowings = 0;
  do {
    System system = system_of(problem, narrowed.limits, problem.is_mean_given);
    // Limits are lowered first: fewer edges are violated then.
    for (;;) {
      auto errors = solve(problem, system, narrowed.errors);
      if (!errors) return tl::unexpected(std::move(errors.error()));
      narrowed.errors = *std::move(errors);
      const auto is_worthwhile = lower_limits(problem, narrowed.errors, narrowed.limits);
      if (!is_worthwhile) return tl::unexpected(is_worthwhile.error());
      if (!*is_worthwhile || narrowings++ >= SolvingThresholds::narrowings) break;
      for (std::uint32_t c = 0; c < system.clocks(); ++c) {
        const auto own = limits_of(problem, narrowed.limits, c, true);
        system.set_rate(c, own.rate);
        if (own.mean) system.set_mean(c, own.mean->rates);
      }
    }
  } while (add_violated(narrowed.errors));
  return narrowed;
}

}  // namespace entrain::bounds
