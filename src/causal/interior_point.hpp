// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "causal/curvature.hpp"
#include "causal/fit_cost.hpp"

namespace entrain::causal {

/// Finds the minimum of a fit's cost from anywhere, through the inside of its limits: a primal-dual
/// interior-point method with Mehrotra's predictor and corrector (On the implementation of a
/// primal-dual interior point method, 1992) and Gondzio's further correctors (Multiple centrality
/// corrections, 1996).
///
/// A limit that is exceeded by r pushes two clocks with the force w r, one that is not exceeded
/// with none. So a force z leaves a room t = z / w - r >= 0, and z t = 0: either there is room, or
/// there is a force. The method begins with the same z t > 0 for all limits, and makes it smaller
/// with every step, as one for all. Example: w = 1, and z t = 0.01. A limit missed by 1 has z =
/// 0.01, one exceeded by 1 has z = 1.01, and one that is just met has z = t = 0.1: nothing jumps
/// where a limit is met. Newton's method on the cost itself stops at every limit that it meets
/// on its way; where clocks are soft and limits hard, these are hundreds. This one takes some
/// twenty steps from anywhere, each as dear as two of the others.
///
/// Limits come in when they are near, with a product like those of all others, and leave when they
/// are far.
///
/// A step that gets nowhere means that products have come apart: all begin as one again then, from
/// where the unknowns are.
///
/// One thread per object.
class InteriorPoint {
 public:
  /// Takes more limits into the cost and the curvature, those that `v` exceeds or misses by less
  /// than `reach`, ticks.
  using Take = std::function<void(const std::vector<double>& v, double reach)>;

  /// True if unknowns so close to the minimum tell all that is wanted.
  using Strained = std::function<bool(const std::vector<double>& v)>;

  /// Both must have the same limits, and outlive this. `take` is asked for more of them at every
  /// step.
  InteriorPoint(FitCost& cost, Curvature& curvature, Take take)
      : cost_(cost), curvature_(curvature), take_(std::move(take)) {}

  /// Goes from `v`, which follows, to where the limits that are met are those of the minimum, but
  /// for rounding. Returns the number of steps. Nothing, with `v` anywhere, if that would take more
  /// multiplications than `most_work`, or does not work out; `cancel` ends it so, too.
  /// With `strained`, looks at `v` once about the minimum is found, and ends there if that is true.
  /// With a `tolerance`, ends where the cost is above the least one by about that share.
  std::optional<int> run(std::vector<double>& v, double most_work, const Progress* cancel,
                         const Strained& strained = {}, double tolerance = 0);

  /// True if the last run() ended so.
  [[nodiscard]] bool ended_strained() const { return ended_strained_; }

 private:
  using Vector = std::vector<double>;

  /// What a limit does, and what a step changes of it.
  struct State {
    double force = 0, room = 0;
    double force_step = 0, room_step = 0;
    double target = 0;  ///< what force * room is to become, where they change along straight lines
  };
  /// A step of the unknowns, and how many times it can be made.
  struct Step {
    Vector of;
    double length = 0;
  };

  /// Some of the limits that take part.
  struct Part {
    std::vector<FitLimit> limits;
    std::vector<State> states, states_before;
    std::vector<std::uint32_t> numbers;  ///< in FitCost::limits()
    std::vector<std::uint32_t> active;   ///< in the matrix, and their shares
    Vector shares;
  };

  [[nodiscard]] std::size_t near_count() const;
  template <class Body>
  void for_parts(const Body& body);
  template <class Body>
  [[nodiscard]] double sum_of_parts(const Body& body) const;
  void forget_near();
  double leave_far(const Vector& v, double reach, Part& part);
  double take_near(const Vector& v, double middle, double move);
  [[nodiscard]] Vector gradient(const Vector& v);
  bool factorize();
  [[nodiscard]] Vector find_step(Vector gradient);
  [[nodiscard]] Step best_step(const Vector& gradient, double sum);
  bool correct(const Vector& gradient, double aimed, Step& step);
  double advance(Vector& v, const Step& step);
  [[nodiscard]] double longest() const;
  [[nodiscard]] double products(double length) const;
  [[nodiscard]] double middle_room() const;
  [[nodiscard]] double cost_of_forces() const;

  FitCost& cost_;
  Curvature& curvature_;
  Take take_;
  double weight_ = 1;  ///< w
  bool ended_strained_ = false;
  /// Those whose unknowns all lie in the first half of the run, those in the second, and the rest:
  /// two threads take one half each (Curvature::half_of()).
  std::array<Part, 3> parts_;
  std::vector<std::uint8_t> is_near_;  ///< of all limits
  std::vector<std::uint32_t> active_;  ///< in the matrix, and their shares
  Vector shares_;
};

}  // namespace entrain::causal
