// SPDX-License-Identifier: BSD-3-Clause
#include "causal/interior_point.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/cancel.hpp"

namespace entrain::causal {

namespace {

constexpr int k_most_inner_steps = 70;
/// About what it takes: a first step that is dearer than that share of all work is the last one.
constexpr int k_usual_inner_steps = 25;
/// The slack of a constraint that is just met, at first: a share of the worst violation, or of
/// softness.
constexpr double k_first_room = 0.3, k_least_room = 2;
/// Constraints that are known come in where they are missed by less than so many of these slacks.
constexpr double k_room_reach = 100;
/// New ones are looked for that are missed by less than so many. Fewer at once make shorter work of
/// a step; too few are found late.
constexpr double k_more_reach = 5;
/// Constraints that took part leave where they are missed by so many times as much.
constexpr double k_leave = 30;
/// Constraints with less than that share of the weight of an exceeded one are left out of the
/// matrix: steps become a little too long there, which longest_step() sees to.
constexpr double k_least_share = 1e-9;
/// How close a step may come to where a dual or a slack would be 0.
constexpr double k_stay_inside = 0.995;
/// The sum of all products, in units of the cost, that decides which constraints are met.
constexpr double k_least_products = 1e-9;
/// Products, and duals that nothing balances, as a share of the cost, where the minimum is about
/// known.
constexpr double k_about = 0.01;
/// Correctors of a step that is shorter than so much of what it was meant to be; how far off a
/// product may be from all others before they care; and what they must gain.
constexpr int k_most_correctors = 2;
constexpr double k_long_step = 0.9, k_apart = 10, k_least_gain = 0.1;
/// A step so short gets nowhere. Rooms are then made so many times larger.
constexpr double k_short_step = 0.3, k_widen = 30;

}  // namespace

std::size_t InteriorPoint::near_count() const {
  return parts_[0].constraints.size() + parts_[1].constraints.size() + parts_[2].constraints.size();
}

/// Calls `body` with every part, two at once.
template <class Body>
void InteriorPoint::for_parts(const Body& body) {
  curvature_.halves()(near_count(), [&](unsigned half) { body(parts_[half]); });
  body(parts_[2]);
}

/// The sum of what `body` returns for the states of a part; in a fixed order.
template <class Body>
double InteriorPoint::sum_of_parts(const Body& body) const {
  std::array<double, 3> sums{};
  curvature_.halves()(near_count(), [&](unsigned half) { sums[half] = body(parts_[half].states); });
  sums[2] = body(parts_[2].states);
  return sums[0] + sums[1] + sums[2];
}

void InteriorPoint::drop_all() {
  parts_ = {};
  is_near_.assign(cost_.constraints().size(), 0);
}

/// Takes in constraints that are missed by less than many slacks, or than the unknowns `move` by,
/// ticks. A product of weight * middle^2 is that of a constraint that is just met and leaves the
/// slack `middle`. Returns what the duals of those that came or left cost, which nothing balances
/// yet.
double InteriorPoint::activate_near(const Vector& v, double middle, double move) {
  activate_(v, k_more_reach * middle);
  const double margin = std::max(k_room_reach * middle, move);
  const std::vector<FitConstraint>& constraints = cost_.constraints();
  is_near_.resize(constraints.size(), 0);
  std::array<double, 3> left{};
  for_parts([&](Part& part) {
    left[static_cast<std::size_t>(&part - parts_.data())] = drop_far(v, k_leave * margin, part);
  });
  double squares = left[0] + left[1] + left[2];
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    if (is_near_[i] != 0) continue;
    const double over = constraints[i].excess(v);
    if (over < -margin) continue;
    is_near_[i] = 1;
    Part& part = parts_[curvature_.half_of(constraints[i])];
    part.constraints.push_back(constraints[i]);
    part.numbers.push_back(static_cast<std::uint32_t>(i));
    const double root = std::sqrt(over * over + 4 * middle * middle);
    // The smaller one by the product: as a difference it would be rounded off.
    const double large = (root + std::abs(over)) / 2, small = middle * middle / large;
    State& state = part.states.emplace_back();
    state.dual = weight_ * (over > 0 ? large : small);
    state.slack = over > 0 ? small : large;
    squares += state.dual * state.dual;
  }
  return squares / (2 * weight_);
}

/// Drops the constraints that are missed by more than `margin`, ticks, and have as much slack.
/// Returns the sum of the squares of their duals.
double InteriorPoint::drop_far(const Vector& v, double margin, Part& part) {
  std::size_t kept = 0;
  double squares = 0;
  for (std::size_t i = 0; i < part.constraints.size(); ++i) {
    if (part.states[i].slack > margin && part.constraints[i].excess(v) < -margin) {
      is_near_[part.numbers[i]] = 0;
      squares += part.states[i].dual * part.states[i].dual;
      continue;
    }
    part.constraints[kept] = part.constraints[i];
    part.states[kept] = part.states[i];
    part.numbers[kept++] = part.numbers[i];
  }
  part.constraints.resize(kept);
  part.states.resize(kept);
  part.numbers.resize(kept);
  return squares;
}

/// What is left of all duals: 0 at the minimum.
InteriorPoint::Vector InteriorPoint::gradient(const Vector& v) {
  Vector gradient = cost_.fixed_gradient(v);
  for_parts([&](const Part& part) {
    for (std::size_t i = 0; i < part.constraints.size(); ++i)
      part.constraints[i].push(gradient, part.states[i].dual);
  });
  return gradient;
}

bool InteriorPoint::factorize() {
  for_parts([&](Part& part) {
    part.active.clear();
    part.shares.clear();
    for (std::size_t i = 0; i < part.constraints.size(); ++i) {
      const State& state = part.states[i];
      const double share = state.dual / (weight_ * state.slack + state.dual);
      if (share < k_least_share) continue;
      part.active.push_back(part.numbers[i]);
      part.shares.push_back(share);
    }
  });
  active_.clear();
  shares_.clear();
  for (const Part& part : parts_) {
    active_.insert(active_.end(), part.active.begin(), part.active.end());
    shares_.insert(shares_.end(), part.shares.begin(), part.shares.end());
  }
  return curvature_.compute(cost_.stiffness() * cost_.stiffness(), active_, SolveMethod::automatic,
                            shares_) &&
         !curvature_.is_iterative();
}

/// The step of Newton's method towards no gradient and the targets of all products.
InteriorPoint::Vector InteriorPoint::find_step(Vector gradient) {
  for_parts([&](const Part& part) {
    for (std::size_t i = 0; i < part.constraints.size(); ++i) {
      const State& state = part.states[i];
      part.constraints[i].push(gradient, (state.target - state.dual * state.slack) /
                                             (state.slack + state.dual / weight_));
    }
  });
  Vector step = curvature_.solve(gradient);
  for (double& x : step) x = -x;
  for_parts([&](Part& part) {
    for (std::size_t i = 0; i < part.constraints.size(); ++i) {
      State& state = part.states[i];
      const double change = part.constraints[i].excess(step) + part.constraints[i].bound;
      state.dual_step = (state.target - state.dual * state.slack + state.dual * change) /
                        (state.slack + state.dual / weight_);
      state.slack_step = state.dual_step / weight_ - change;
    }
  });
  return step;
}

/// How many times the step can be made until a dual or a slack is 0.
double InteriorPoint::longest_step() const {
  std::array<double, 3> longest{};
  const auto find = [&](unsigned part) {
    double length = std::numeric_limits<double>::infinity();
    for (const State& state : parts_[part].states) {
      if (state.dual_step < 0) length = std::min(length, -state.dual / state.dual_step);
      if (state.slack_step < 0) length = std::min(length, -state.slack / state.slack_step);
    }
    longest[part] = length;
  };
  curvature_.halves()(near_count(), find);
  find(2);
  return *std::min_element(longest.begin(), longest.end());
}

/// The sum of all products after so much of the step.
double InteriorPoint::complementarity(double length) const {
  return sum_of_parts([&](const std::vector<State>& states) {
    double sum = 0;
    for (const State& state : states) {
      sum += (state.dual + length * state.dual_step) * (state.slack + length * state.slack_step);
    }
    return sum;
  });
}

/// The slack of a constraint that is just met, if its product is that of all others on average.
double InteriorPoint::central_slack() const {
  return std::sqrt(complementarity(0) / static_cast<double>(near_count()) / weight_);
}

/// What constraints cost if duals are those of the minimum.
double InteriorPoint::cost_of_duals() const {
  const double squares = sum_of_parts([](const std::vector<State>& states) {
    double sum = 0;
    for (const State& state : states) sum += state.dual * state.dual;
    return sum;
  });
  return squares / (2 * weight_);
}

/// The step to smaller products, with the gradient and the sum of all products as they are.
InteriorPoint::Step InteriorPoint::best_step(const Vector& gradient, double sum) {
  // The predictor goes for products of 0. How far it gets tells what to go for.
  for_parts([](Part& part) {
    for (State& state : part.states) state.target = 0;
  });
  static_cast<void>(find_step(gradient));
  const double ratio = complementarity(std::min(1.0, longest_step())) / sum;
  const double aimed = ratio * ratio * ratio * sum / static_cast<double>(near_count());
  for_parts([&](Part& part) {
    for (State& state : part.states) state.target = aimed - state.dual_step * state.slack_step;
  });
  Step step{find_step(gradient), std::min(1.0, k_stay_inside * longest_step())};
  for (int n = 0; n < k_most_correctors && step.length < k_long_step; ++n) {
    if (!correct(gradient, aimed, step)) break;
  }
  return step;
}

/// Makes a step longer by bringing products nearer to each other that would come apart. False, with
/// all as before, if that gains little.
bool InteriorPoint::correct(const Vector& gradient, double aimed, Step& step) {
  const double wanted = std::min(1.0, 1.08 * step.length + 0.08);
  for_parts([&](Part& part) {
    part.states_before = part.states;
    for (State& state : part.states) {
      const double there =
          (state.dual + wanted * state.dual_step) * (state.slack + wanted * state.slack_step);
      const double change = std::clamp(there, aimed / k_apart, aimed * k_apart) - there;
      state.target += std::max(change, -aimed * k_apart);
    }
  });
  Step other{find_step(gradient), std::min(1.0, k_stay_inside * longest_step())};
  if (other.length < step.length + k_least_gain * (wanted - step.length)) {
    for (Part& part : parts_) std::swap(part.states, part.states_before);
    return false;
  }
  step = std::move(other);
  return true;
}

/// Makes a step, and returns by how much it moves an unknown at most.
double InteriorPoint::advance(Vector& v, const Step& step) {
  double move = 0;
  for (std::size_t i = 0; i < v.size(); ++i) {
    v[i] += step.length * step.of[i];
    move = std::max(move, std::abs(step.length * step.of[i]));
  }
  for_parts([&](Part& part) {
    for (State& state : part.states) {
      state.dual += step.length * state.dual_step;
      state.slack += step.length * state.slack_step;
      state.dual_step = state.slack_step = 0;
    }
  });
  return move;
}

std::optional<int> InteriorPoint::run(Vector& v, double most_work, const Progress* progress,
                                      const StopEarly& stop_early, double tolerance) {
  const Cancel cancel(progress);
  weight_ = cost_.scale() * cost_.scale();
  drop_all();
  const double first_slack = std::max(k_first_room * cost_.worst(v), k_least_room / cost_.scale());
  static_cast<void>(activate_near(v, first_slack, 0));
  const double work_before = curvature_.work();
  stopped_early_ = false;
  bool ask = static_cast<bool>(stop_early);
  double unbalanced = 1;      // what is left of the first gradient
  double unbalanced_new = 0;  // and of the duals of constraints that came or left later: their cost
  for (int steps = 0; steps < k_most_inner_steps; ++steps) {
    const double sum = complementarity(0);
    const double left = std::max({sum, unbalanced * cost_of_duals(), unbalanced_new});
    // With a tolerance nobody goes on from here.
    if ((tolerance > 0 ? left : sum) < k_least_products) return steps;
    if (tolerance > 0 && left < tolerance * cost_.value(v)) return steps;
    if (ask && left < k_about * cost_of_duals()) {
      ask = false;
      stopped_early_ = stop_early(v);
      if (stopped_early_) return steps;
    }
    if (cancel.asked() || !factorize()) return {};
    const double work = curvature_.work() - work_before;
    if (work > most_work || (steps == 0 && work * k_usual_inner_steps > most_work)) return {};
    const Step step = best_step(gradient(v), sum);
    const double move = advance(v, step);
    unbalanced *= 1 - step.length;
    unbalanced_new *= 1 - step.length;
    double middle = central_slack();
    if (step.length < k_short_step) {
      middle *= k_widen;
      drop_all();
    }
    unbalanced_new += activate_near(v, middle, move);
  }
  return {};
}

}  // namespace entrain::causal
