// SPDX-License-Identifier: BSD-3-Clause
#include "fit/evidence.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <numeric>
#include <utility>

#include "base/disjoint_sets.hpp"
#include "base/executor.hpp"
#include "constraints/strong_components.hpp"
#include "fit/clock_sample.hpp"
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

}  // namespace

namespace {

/// Numbers of constraints by windows, one window after the other.
class ByWindow {
 public:
  ByWindow(std::span<const ClockConstraint> constraints, std::int64_t begin, std::int64_t width) {
    const auto window_of = [&](const ClockConstraint& constraint) {
      return static_cast<std::size_t>(std::max<std::int64_t>(constraint.to_time - begin, 0) /
                                      width);
    };
    std::vector<std::uint32_t> window;
    window.reserve(constraints.size());
    std::size_t count = 0;
    for (const ClockConstraint& constraint : constraints) {
      window.push_back(static_cast<std::uint32_t>(window_of(constraint)));
      count = std::max<std::size_t>(count, window.back() + std::size_t{1});
    }
    first_.assign(count + 1, 0);
    for (const std::uint32_t w : window) ++first_[w + std::size_t{1}];
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    numbers_.resize(constraints.size());
    std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
    for (std::size_t n = 0; n < window.size(); ++n)
      numbers_[next[window[n]]++] = static_cast<std::uint32_t>(n);
  }

  [[nodiscard]] std::size_t size() const { return first_.size() - 1; }
  /// Constraints of a window and the next one.
  [[nodiscard]] std::span<const std::uint32_t> of_two(std::size_t window) const {
    const std::size_t end = std::min(window + 2, size());
    return std::span(numbers_).subspan(first_[window], first_[end] - first_[window]);
  }

 private:
  std::vector<std::size_t> first_;
  std::vector<std::uint32_t> numbers_;
};

constexpr std::size_t k_windows_at_once = 4;  ///< windows per task of a thread

}  // namespace

std::vector<ClockConstraint> two_sided_constraints(std::vector<ClockConstraint> constraints,
                                                   std::size_t clocks, std::int64_t begin,
                                                   std::int64_t width, const TwoSidedOptions& by) {
  const ByWindow windows(constraints, begin, width);
  const bool any_slack = by.most_slack == std::numeric_limits<double>::infinity();
  std::vector<std::uint8_t> held(constraints.size(), 0);
  const auto look_at = [&](std::size_t window, constraints::StrongComponents& components,
                           std::vector<const ClockConstraint*>& seen) {
    seen.clear();
    for (const std::uint32_t n : windows.of_two(window)) {
      if (any_slack || -overshoot(constraints[n], by.errors) <= by.most_slack)
        seen.push_back(&constraints[n]);
    }
    components.find(seen);
    for (const std::uint32_t n : windows.of_two(window)) {
      // Two threads may mark the same constraint.
      if (components.contains(constraints[n]))
        std::atomic_ref(held[n]).store(1, std::memory_order_relaxed);
    }
  };
  const std::size_t parts = (windows.size() + k_windows_at_once - 1) / k_windows_at_once;
  for_each_in_parallel(by.threads, parts, [&](std::size_t part) {
    constraints::StrongComponents components(clocks);
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

ClockErrors without_common_mode(const ClockErrors& errors, std::size_t clocks,
                                std::span<const ClockConstraint> constraints) {
  DisjointSets connected(clocks);
  for (const ClockConstraint& constraint : constraints)
    connected.join(constraint.from, constraint.to);
  const std::size_t knots = errors.knots();
  std::vector<double> sums(clocks * knots, 0.0);
  std::vector<std::size_t> members(clocks, 0);
  for (std::uint32_t c = 0; c < clocks; ++c) {
    const std::size_t of = connected.find(c);
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

namespace {

/// Hold-out; docs/decisions/37.
struct HoldOutThresholds {
  static constexpr double tolerance = 0.01;         ///< CausalProblem::tolerance of its fits
  static constexpr std::size_t sample_pairs = 300;  ///< coupled pairs in the sample of clocks
};

/// Fits to one half of the windows and measures the other.
HeldOut hold_out_half(CausalProblem problem, const CausalFit& fit, std::int64_t width,
                      std::int64_t fold) {
  const std::span<const ClockConstraint> all = problem.constraints;
  std::vector<std::uint8_t> is_seen;
  is_seen.reserve(all.size());
  for (const ClockConstraint& constraint : all)
    is_seen.push_back((constraint.to_time - problem.begin) / width % 2 == fold ? 0 : 1);
  std::vector<ClockConstraint> seen;
  seen.reserve(static_cast<std::size_t>(std::count(is_seen.begin(), is_seen.end(), 1)));
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (is_seen[i] != 0) seen.push_back(all[i]);
  }
  problem.constraints = seen;
  problem.tolerance = HoldOutThresholds::tolerance;
  problem.knots = fit.errors.knots();
  // A good start only: the minimum is unique.
  const CausalFit found = fit_causal(problem, fit.amplitude, fit.errors);
  HeldOut result;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (is_seen[i] != 0) continue;
    const double unbent = violation(all[i], nullptr);
    result.unbent += unbent;
    result.bent += found.converged ? violation(all[i], &found.errors) : unbent;
  }
  return result;
}

/// Problem of the hold-out: a sample of the clocks if it is nearly complete, else all.
class HoldOutSample {
 public:
  HoldOutSample(const CausalProblem& problem, const CausalFit& fit)
      : problem_(problem), some_(problem, HoldOutThresholds::sample_pairs), fit_(fit) {
    if (are_some()) fit_.errors = some_.errors(fit.errors);
  }
  [[nodiscard]] HeldOut half(std::int64_t width, std::int64_t fold, unsigned threads) const {
    CausalProblem problem = are_some() ? some_.problem() : problem_;
    problem.threads = threads;
    return hold_out_half(problem, fit_, width, fold);
  }

 private:
  [[nodiscard]] bool are_some() const { return some_.is_useful() && some_.is_nearly_complete(); }

  const CausalProblem& problem_;
  ClockSample some_;
  CausalFit fit_;
};

HeldOut sum_of(std::span<const HeldOut> halves) {
  HeldOut sum;
  for (const HeldOut& half : halves) {
    sum.unbent += half.unbent;
    sum.bent += half.bent;
  }
  return sum;
}

}  // namespace

HeldOut hold_out(const CausalProblem& problem, const CausalFit& fit, std::int64_t width) {
  const HoldOutSample judged(problem, fit);
  std::array<HeldOut, 2> halves;
  const unsigned threads = std::max(worker_count(problem.threads) / 2, 1u);  // of each
  for_each_in_parallel(problem.threads, halves.size(), [&](std::size_t fold) {
    halves[fold] = judged.half(width, static_cast<std::int64_t>(fold), threads);
  });
  return sum_of(halves);
}

HeldOut hold_out(Team& team, const CausalProblem& problem, const CausalFit& fit,
                 std::int64_t width) {
  if (team.size() == 1) return hold_out(problem, fit, width);
  std::vector<HeldOut> own;
  if (team.rank() < 2)
    own.push_back(HoldOutSample(problem, fit).half(width, team.rank(), problem.threads));
  return sum_of(gather_everywhere(team, own));
}

}  // namespace entrain::fit
