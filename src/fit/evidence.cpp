// SPDX-License-Identifier: BSD-3-Clause
#include "fit/evidence.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

#include "base/disjoint_sets.hpp"
#include "base/executor.hpp"
#include "base/flat_map.hpp"
#include "base/ids.hpp"
#include "base/strong_components.hpp"
#include "fit/clock_subset.hpp"
#include "fit/fit_solver.hpp"

namespace entrain::fit {

namespace {

/// Violation of a constraint by clocks with these errors (null: none), ticks; below 0: slack.
double overshoot(const ClockConstraint& constraint, const ClockErrors* errors) {
  const double over = -static_cast<double>(constraint.slack);
  return errors == nullptr ? over
                           : over + (*errors)(constraint.to, constraint.to_time) -
                                 (*errors)(constraint.from, constraint.from_time);
}

/// Squared violation, ticks^2; 0 if the constraint holds.
double violation(const ClockConstraint& constraint, const ClockErrors* errors) {
  const double over = overshoot(constraint, errors);
  return over > 0 ? over * over : 0;
}

constexpr std::size_t k_windows_at_once = 4;  ///< windows per task of a thread

/// Hold-out; docs/decisions/37.
struct HoldOutThresholds {
  static constexpr double tolerance = 0.01;         ///< CausalProblem::tolerance of its fits
  static constexpr std::size_t sample_pairs = 300;  ///< coupled pairs in the sample of clocks
};

/// Fits to one half of the windows and measures the other.
HeldOut hold_out_half(CausalProblem problem, const CausalFit& fit, std::int64_t width,
                      std::int64_t fold) {
  std::vector<ClockConstraint> seen, unseen;
  for (const ClockConstraint& one : problem.constraints)
    ((one.to_time - problem.begin) / width % 2 == fold ? unseen : seen).push_back(one);
  problem.constraints = seen;
  problem.tolerance = HoldOutThresholds::tolerance;
  problem.knots = fit.errors.knots();
  // A good start only: the minimum is unique.
  const CausalFit found = fit_causal(problem, fit.amplitude, fit.errors);
  HeldOut result;
  for (const ClockConstraint& one : unseen) {
    result.unbent += violation(one, nullptr);
    result.bent += violation(one, found.converged ? &found.errors : nullptr);
  }
  return result;
}

}  // namespace

std::vector<ClockConstraint> two_sided_constraints(std::vector<ClockConstraint> constraints,
                                                   std::size_t clocks, std::int64_t begin,
                                                   std::int64_t width, const TwoSidedOptions& by) {
  std::vector<std::vector<std::uint32_t>> windows;  // numbers of their constraints
  for (std::uint32_t n = 0; n < constraints.size(); ++n) {
    const std::int64_t since = std::max<std::int64_t>(constraints[n].to_time - begin, 0);
    const auto window = static_cast<std::size_t>(since / width);
    if (windows.size() <= window) windows.resize(window + 1);
    windows[window].push_back(n);
  }
  const bool any_slack = by.most_slack == std::numeric_limits<double>::infinity();
  std::vector<std::uint8_t> held(constraints.size(), 0);
  const auto look_at = [&](std::size_t window, StrongComponents& components,
                           std::vector<const ClockConstraint*>& seen) {
    seen.clear();
    const auto both =
        std::span(windows).subspan(window, std::min<std::size_t>(2, windows.size() - window));
    for (const std::vector<std::uint32_t>& one : both) {
      for (const std::uint32_t n : one) {
        if (any_slack || -overshoot(constraints[n], by.errors) <= by.most_slack)
          seen.push_back(&constraints[n]);
      }
    }
    components.find(seen, [](const ClockConstraint* one) { return Arc{one->from, one->to}; });
    for (const std::vector<std::uint32_t>& one : both) {
      for (const std::uint32_t n : one) {
        const std::uint32_t component = components.of(constraints[n].from);
        if (component == k_none || component != components.of(constraints[n].to)) continue;
        // Two threads may mark the same constraint.
        std::atomic_ref(held[n]).store(1, std::memory_order_relaxed);
      }
    }
  };
  const std::size_t parts = (windows.size() + k_windows_at_once - 1) / k_windows_at_once;
  for_each_in_parallel(by.threads, parts, [&](std::size_t part) {
    StrongComponents components(clocks);
    std::vector<const ClockConstraint*> seen;
    const std::size_t first = part * k_windows_at_once;
    for (std::size_t w = first; w < std::min(first + k_windows_at_once, windows.size()); ++w)
      look_at(w, components, seen);
  });
  // In place: a second copy of millions costs more than the search.
  std::size_t kept = 0;
  for (std::size_t n = 0; n < constraints.size(); ++n) {
    if (held[n] != 0) constraints[kept++] = constraints[n];
  }
  constraints.resize(kept);
  return constraints;
}

double latency_scale(std::span<const ClockConstraint> constraints, std::int64_t begin,
                     std::int64_t width, const ClockErrors* errors) {
  constexpr double k_no_trip = std::numeric_limits<double>::infinity();
  /// The tightest constraint of each direction between two clocks in a window.
  struct Trip {
    double up = k_no_trip, down = k_no_trip;
  };
  FlatMap<std::uint64_t, std::uint32_t, IntegerHash> numbers;
  std::vector<Trip> trips;
  for (const ClockConstraint& constraint : constraints) {
    const auto [low, high] = std::minmax(constraint.from, constraint.to);
    double slack = static_cast<double>(constraint.slack);
    if (errors != nullptr) {
      slack += (*errors)(constraint.from, constraint.from_time) -
               (*errors)(constraint.to, constraint.to_time);
    }
    const auto window = static_cast<std::uint64_t>((constraint.to_time - begin) / width);
    const std::uint64_t key = (std::uint64_t{low} << 40) ^ (std::uint64_t{high} << 16) ^ window;
    const auto [number, is_new] = numbers.insert(key, static_cast<std::uint32_t>(trips.size()));
    if (is_new) trips.emplace_back();
    Trip& trip = trips[*number];
    double& way = constraint.from == low ? trip.up : trip.down;
    way = std::min(way, slack);
  }
  double shortest = k_no_trip;
  for (const Trip& trip : trips) {
    // Below 4 ticks the clocks bend within the window, and the sum means nothing.
    if (trip.up + trip.down >= 4) shortest = std::min(shortest, trip.up + trip.down);
  }
  return shortest == k_no_trip ? 1 : shortest / 4;
}

ClockErrors without_common_mode(const ClockErrors& errors, std::size_t clocks,
                                std::span<const ClockConstraint> constraints,
                                std::span<const constraints::SessionConstraint> sessions) {
  DisjointSets connected(clocks);
  for (const ClockConstraint& constraint : constraints)
    connected.join(constraint.from, constraint.to);
  const std::size_t knots = errors.knots();
  std::vector<double> sums(clocks * knots, 0.0);
  std::vector<std::size_t> members(clocks, 0);
  std::vector<bool> is_measured(clocks, false), is_group_measured(clocks, false);
  for (const constraints::SessionConstraint& one : sessions) {
    is_measured[one.clock] = true;
    is_group_measured[connected.find(one.clock)] = true;
  }
  for (std::uint32_t c = 0; c < clocks; ++c) {
    const std::size_t of = connected.find(c);
    if (is_group_measured[of] && !is_measured[c]) continue;
    ++members[of];
    for (std::size_t k = 0; k < knots; ++k) sums[of * knots + k] += errors.of(c)[k];
  }
  std::vector<double> values(clocks * knots);
  for (std::uint32_t c = 0; c < clocks; ++c) {
    const std::size_t of = connected.find(c);
    const auto count = static_cast<double>(members[of]);
    for (std::size_t k = 0; k < knots; ++k) {
      values[c * knots + k] = errors.of(c)[k] - sums[of * knots + k] / count;
    }
  }
  return {errors.begin(), errors.distance(1), knots, std::move(values)};
}

HeldOut hold_out(const CausalProblem& problem, const CausalFit& fit, std::int64_t width) {
  const ClockSample some(problem, HoldOutThresholds::sample_pairs);
  const bool are_some = some.is_useful() && some.is_nearly_complete();
  CausalProblem judged = are_some ? some.problem() : problem;
  CausalFit start = fit;
  if (are_some) start.errors = some.errors(fit.errors);
  judged.threads = std::max(worker_count(problem.threads) / 2, 1u);  // of each half
  std::array<HeldOut, 2> halves;
  for_each_in_parallel(problem.threads, halves.size(), [&](std::size_t fold) {
    halves[fold] = hold_out_half(judged, start, width, static_cast<std::int64_t>(fold));
  });
  return {halves[0].unbent + halves[1].unbent, halves[0].bent + halves[1].bent};
}

}  // namespace entrain::fit
