// SPDX-License-Identifier: BSD-3-Clause
#include "causal/fit_by_groups.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "base/cancel.hpp"
#include "base/executor.hpp"
#include "causal/clock_subset.hpp"
#include "causal/fit_solver.hpp"

namespace entrain::causal {

namespace {

/// Block coordinate descent; tests: fit_by_groups_test.cpp, values: docs/decisions/37.
struct GroupThresholds {
  static constexpr std::size_t clocks = 11;  ///< group size; one dense band with the fixed clock
  static constexpr std::size_t most_colours = 64;  ///< beyond, hardly any groups are independent
  static constexpr int most_sweeps = 4;
  /// Change of an error that ends the sweeps: in units of sigma, and as a share of the largest
  /// change of the first sweep. Chosen, not measured.
  static constexpr double small_change = 0.5, small_share = 1e-3;
  static constexpr double fixed_sigma = 0.01;  ///< half-width of the fixed clock, units of sigma
  static constexpr std::size_t clocks_at_once = 4096;  ///< one system of equations up to so many
};
constexpr std::uint32_t k_none_yet = std::numeric_limits<std::uint32_t>::max();

/// Lists of numbers, one after the other.
struct Lists {
  std::vector<std::size_t> first;
  std::vector<std::uint32_t> items;

  [[nodiscard]] std::span<const std::uint32_t> of(std::size_t list) const {
    return {items.data() + first[list], first[list + 1] - first[list]};
  }
  [[nodiscard]] std::size_t size() const { return first.size() - 1; }
};

/// Distributes items to lists (counting sort): for_each(add) calls add(list, item) for each, and is
/// called twice.
template <class ForEach>
Lists sorted_into(std::size_t lists, ForEach for_each) {
  Lists sorted;
  sorted.first.assign(lists + 1, 0);
  for_each([&](std::size_t list, std::uint32_t) { ++sorted.first[list + 1]; });
  std::partial_sum(sorted.first.begin(), sorted.first.end(), sorted.first.begin());
  sorted.items.resize(sorted.first.back());
  std::vector<std::size_t> next(sorted.first.begin(), sorted.first.end() - 1);
  for_each([&](std::size_t list, std::uint32_t item) { sorted.items[next[list]++] = item; });
  return sorted;
}

/// Groups of clocks that share constraints, and a colouring of the groups.
class Groups {
 public:
  explicit Groups(const CausalProblem& problem)
      : problem_(problem),
        constraints_(sorted_into(problem.clocks, [&](auto add) { for_ends(add); })),
        group_of_(problem.clocks, k_none_yet) {
    for (std::uint32_t c = 0; c < problem.clocks; ++c) {
      if (group_of_[c] == k_none_yet) grow(c);
    }
    clocks_ = sorted_into(count_, [&](auto add) {
      for (std::uint32_t c = 0; c < problem.clocks; ++c) add(group_of_[c], c);
    });
    sessions_ = sorted_into(count_, [&](auto add) {
      for (std::uint32_t s = 0; s < problem.sessions.size(); ++s)
        add(group_of_[problem.sessions[s].clock], s);
    });
    colour();
  }

  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] std::span<const std::uint32_t> clocks(std::size_t g) const { return clocks_.of(g); }
  [[nodiscard]] std::span<const std::uint32_t> sessions(std::size_t g) const {
    return sessions_.of(g);
  }
  /// Numbers of the constraints of a clock.
  [[nodiscard]] std::span<const std::uint32_t> constraints(std::uint32_t clock) const {
    return constraints_.of(clock);
  }
  [[nodiscard]] std::uint32_t of(std::uint32_t clock) const { return group_of_[clock]; }
  /// Groups of one colour share no constraint.
  [[nodiscard]] const Lists& by_colour() const { return by_colour_; }
  /// Calls `body` with the neighbours of a group; some repeat.
  template <class Body>
  void for_neighbours(std::size_t g, Body body) const {
    for (const std::uint32_t clock : clocks(g)) {
      for (const std::uint32_t n : constraints(clock)) {
        const std::uint32_t other = of(other_end(problem_.constraints[n], clock));
        if (other != g) body(other);
      }
    }
  }

 private:
  static std::uint32_t other_end(const ClockConstraint& constraint, std::uint32_t clock) {
    return constraint.from == clock ? constraint.to : constraint.from;
  }
  template <class Add>
  void for_ends(Add add) const {
    for (std::uint32_t n = 0; n < problem_.constraints.size(); ++n) {
      add(problem_.constraints[n].from, n);
      add(problem_.constraints[n].to, n);
    }
  }

  /// Grows a group from a clock, breadth first.
  void grow(std::uint32_t begin) {
    std::vector<std::uint32_t> members{begin};
    group_of_[begin] = static_cast<std::uint32_t>(count_);
    for (std::size_t i = 0; i < members.size(); ++i) {
      for (const std::uint32_t n : constraints_.of(members[i])) {
        if (members.size() == GroupThresholds::clocks) break;
        const std::uint32_t other = other_end(problem_.constraints[n], members[i]);
        if (group_of_[other] != k_none_yet) continue;
        group_of_[other] = static_cast<std::uint32_t>(count_);
        members.push_back(other);
      }
    }
    ++count_;
  }

  /// Greedy colouring.
  void colour() {
    std::vector<std::uint32_t> colours(count_, k_none_yet), seen_by;
    for (std::uint32_t g = 0; g < count_; ++g) {
      for_neighbours(g, [&](std::uint32_t other) {
        if (colours[other] != k_none_yet) seen_by[colours[other]] = g;
      });
      std::uint32_t colour = 0;
      while (colour < seen_by.size() && seen_by[colour] == g) ++colour;
      if (colour == seen_by.size()) seen_by.push_back(k_none_yet);
      colours[g] = colour;
    }
    by_colour_ = sorted_into(seen_by.size(), [&](auto add) {
      for (std::uint32_t g = 0; g < count_; ++g) add(colours[g], g);
    });
  }

  const CausalProblem& problem_;
  Lists constraints_;
  std::vector<std::uint32_t> group_of_;
  std::size_t count_ = 0;
  Lists clocks_, sessions_, by_colour_;
};

class FitByGroups {
 public:
  FitByGroups(const CausalProblem& problem, double amplitude, const ClockErrors& start)
      : problem_(problem),
        amplitude_(amplitude),
        groups_(problem),
        spacing_(static_cast<double>(problem.end - problem.begin) /
                 static_cast<double>(problem.knots - 1)),
        number_(problem.clocks),
        change_(groups_.size(), std::numeric_limits<double>::infinity()) {
    std::vector<double> values(problem.clocks * problem.knots, 0.0);
    if (start.knots() == problem.knots) {
      values.assign(start.values().begin(), start.values().end());
    }
    errors_ = ClockErrors(problem.begin, spacing_, problem.knots, std::move(values));
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      for (std::uint32_t i = 0; const std::uint32_t clock : groups_.clocks(g)) number_[clock] = i++;
    }
  }

  CausalFit run() {
    CausalFit fit;
    fit.amplitude = amplitude_;
    if (groups_.by_colour().size() > GroupThresholds::most_colours) return fit;
    const Cancel cancel(problem_.progress);
    double enough = GroupThresholds::small_change * problem_.sigma;
    for (int sweep = 0; sweep < GroupThresholds::most_sweeps; ++sweep) {
      fit.steps += sweep_over(enough);
      if (cancel.asked() || !settled_) return fit;
      const double largest = *std::max_element(change_.begin(), change_.end());
      if (largest < enough) break;
      if (sweep == 0) enough = std::max(enough, GroupThresholds::small_share * largest);
    }
    describe(fit);
    return fit;
  }

 private:
  /// Fits every group that changed or has a changed neighbour. Returns the number of steps.
  int sweep_over(double enough) {
    const Cancel cancel(problem_.progress);
    std::vector<int> steps(groups_.size(), 0);
    std::vector<std::uint8_t> good(groups_.size(), 1);
    for (std::size_t colour = 0; colour < groups_.by_colour().size(); ++colour) {
      const std::span<const std::uint32_t> of_colour = groups_.by_colour().of(colour);
      for_each_in_parallel(problem_.threads, of_colour.size(), [&](std::size_t i) {
        const std::uint32_t g = of_colour[i];
        if (cancel.asked()) return;
        if (is_quiet(g, enough)) {
          change_[g] = 0;
          return;
        }
        good[g] = fit_group(g, steps[g]) ? 1 : 0;
      });
    }
    settled_ = std::find(good.begin(), good.end(), 0) == good.end();
    return std::accumulate(steps.begin(), steps.end(), 0);
  }

  [[nodiscard]] bool is_quiet(std::uint32_t g, double enough) const {
    double largest = change_[g];
    groups_.for_neighbours(
        g, [&](std::uint32_t other) { largest = std::max(largest, change_[other]); });
    return largest < enough;
  }

  /// Problem of one group. The clocks around it become one fixed clock without error: their known
  /// errors go into the slacks.
  struct Part {
    std::vector<ClockConstraint> constraints;
    std::vector<SessionConstraint> sessions;
    CausalProblem problem;
    std::vector<double> start;
  };

  void add_constraint(const ClockConstraint& whole, std::uint32_t g, Part& part) const {
    const auto fixed = static_cast<std::uint32_t>(groups_.clocks(g).size());
    const bool own_from = groups_.of(whole.from) == g, own_to = groups_.of(whole.to) == g;
    ClockConstraint constraint = whole;
    constraint.from = own_from ? number_[whole.from] : fixed;
    constraint.to = own_to ? number_[whole.to] : fixed;
    if (!own_from) constraint.slack += std::llround(errors_(whole.from, whole.from_time));
    if (!own_to) constraint.slack -= std::llround(errors_(whole.to, whole.to_time));
    part.constraints.push_back(constraint);
  }

  [[nodiscard]] Part part_of(std::uint32_t g) const {
    const std::span<const std::uint32_t> clocks = groups_.clocks(g);
    Part part;
    for (const std::uint32_t clock : clocks) {
      for (const std::uint32_t n : groups_.constraints(clock)) {
        const ClockConstraint& constraint = problem_.constraints[n];
        // A constraint inside the group is listed at both ends.
        const bool is_second = groups_.of(constraint.from) == g && constraint.to == clock;
        if (!is_second) add_constraint(constraint, g, part);
      }
      const auto of_clock = errors_.of(clock);
      part.start.insert(part.start.end(), of_clock.begin(), of_clock.end());
    }
    for (const std::uint32_t s : groups_.sessions(g)) {
      SessionConstraint session = problem_.sessions[s];
      session.clock = number_[session.clock];
      part.sessions.push_back(session);
    }
    add_fixed_clock(static_cast<std::uint32_t>(clocks.size()), part);
    return part;
  }

  void add_fixed_clock(std::uint32_t fixed, Part& part) const {
    for (std::size_t k = 0; k < problem_.knots; ++k) {
      part.sessions.push_back({fixed, problem_.begin + std::llround(errors_.distance(k)),
                               problem_.sigma * GroupThresholds::fixed_sigma});
    }
    part.start.resize(part.start.size() + problem_.knots, 0.0);
    part.problem = problem_;
    part.problem.threads = 1;
    part.problem.clocks = fixed + std::size_t{1};
  }

  /// False, without a change, if the fit does not converge.
  bool fit_group(std::uint32_t g, int& steps) {
    Part part = part_of(g);
    part.problem.constraints = part.constraints;
    part.problem.sessions = part.sessions;
    const CausalFit fit =
        fit_causal(part.problem, amplitude_,
                   ClockErrors(problem_.begin, spacing_, problem_.knots, std::move(part.start)));
    steps = fit.steps;
    if (!fit.converged) return false;
    double change = 0;
    for (std::uint32_t i = 0; const std::uint32_t clock : groups_.clocks(g)) {
      change = std::max(change, errors_.set(clock, fit.errors.of(i++)));
    }
    change_[g] = change;
    return true;
  }

  void describe(CausalFit& fit) const {
    for (const ClockConstraint& constraint : problem_.constraints) {
      const double over = errors_(constraint.to, constraint.to_time) -
                          errors_(constraint.from, constraint.from_time) -
                          static_cast<double>(constraint.slack) + problem_.latency;
      if (over > 0) ++fit.active;
      fit.worst_violation = std::max(fit.worst_violation, over);
    }
    fit.errors = errors_;
    fit.converged = true;
  }

  const CausalProblem& problem_;
  double amplitude_;
  Groups groups_;
  double spacing_;
  std::vector<std::uint32_t> number_;  ///< number within its group, one per clock
  ClockErrors errors_;
  /// Largest change of an error at the last fit, ticks; one per group.
  std::vector<double> change_;
  bool settled_ = true;
};

}  // namespace

CausalFit fit_by_groups(const CausalProblem& problem, double amplitude, const ClockErrors& start) {
  return FitByGroups(problem, amplitude, start).run();
}

namespace {

CausalFit fit_joined(const CausalProblem& problem, double amplitude, const ClockErrors& start) {
  const bool at_once = problem.clocks <= GroupThresholds::clocks_at_once;
  return at_once ? fit_causal(problem, amplitude, start) : fit_by_groups(problem, amplitude, start);
}

}  // namespace

CausalFit fit_all_clocks(const CausalProblem& problem, double amplitude, const ClockErrors& start) {
  std::vector<std::uint32_t> clocks = joined_clocks(problem);
  if (!is_much_smaller(clocks.size(), problem)) return fit_joined(problem, amplitude, start);
  const ClockSubset joined(problem, std::move(clocks));
  CausalFit fit = fit_joined(joined.problem(), amplitude, joined.errors(start));
  fit.errors = joined.of_all(fit.errors);
  return fit;
}

}  // namespace entrain::causal
