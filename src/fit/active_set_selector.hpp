// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fit/problem.hpp"
#include "fit/terms.hpp"

namespace entrain::fit {

/// All constraints of a fit in single precision, for fast evaluation.
class ConstraintTable {
 public:
  /// Single-precision FitConstraint.
  struct Row {
    std::uint32_t to = 0, from = 0;
    float to_share = 0, from_share = 0;
    float bound = 0;
    [[nodiscard]] float excess(std::span<const float> v) const {
      return v[to] + to_share * (v[to + 1] - v[to]) - v[from] -
             from_share * (v[from + 1] - v[from]) - bound;
    }
  };

  /// `problem` must outlive this.
  explicit ConstraintTable(const CausalProblem& problem);

  [[nodiscard]] std::span<const Row> rows() const { return rows_; }
  /// The same constraint in full precision.
  [[nodiscard]] FitConstraint constraint_at(std::size_t number) const;
  /// Largest FitConstraint::sensitivity().
  [[nodiscard]] double sensitivity() const { return sensitivity_; }
  [[nodiscard]] const CausalProblem& problem() const { return problem_; }

 private:
  const CausalProblem& problem_;
  KnotPlaces places_;
  double sensitivity_ = 2;
  std::vector<Row> rows_;
};

/// Active-set selection by constraint generation. Of hundreds of thousands of constraints, some
/// hundreds are active at the minimum; which ones is unknown. A fit begins with the constraints
/// that are tightest at its start, minimises, and adds the tightest that the minimum violates. Once
/// none is violated, the minimum is that of all constraints.
///
/// Selects, per clock and piece between two knots, the tightest upper and the tightest lower
/// constraint.
///
/// Not thread safe; evaluates all constraints on several threads.
class ActiveSetSelector {
 public:
  /// `table` must outlive this.
  explicit ActiveSetSelector(const ConstraintTable& table) : table_(table) {}

  /// Starts a fit: nothing is selected or known.
  void begin();
  /// Selects the tightest of the constraints that the unknowns `v` (FitCost) exceed, or miss by
  /// less than `margin`, ticks, and that were not selected before. Returns their numbers,
  /// ascending.
  [[nodiscard]] std::vector<std::uint32_t> select(std::span<const double> v, double margin);
  /// Largest excess of `v` over any constraint, ticks, at least 0.
  [[nodiscard]] double worst(std::span<const double> v);

 private:
  /// A constraint and its approximate excess.
  struct Slot {
    double over = 0;
    std::uint32_t number = 0;
  };

  void look(std::span<const double> v, double margin);
  void look_at_all(double margin);
  [[nodiscard]] float least_over(double margin) const;

  const ConstraintTable& table_;
  std::vector<float> single_;  ///< `v` of the last look(), single precision
  std::vector<double> seen_;   ///< unknowns at which all constraints were evaluated
  double margin_ = 0;          ///< constraints missed by more were left out, ticks
  std::vector<std::uint32_t> near_;
  std::vector<Slot> found_;  ///< result of the last look()
  std::vector<std::uint8_t> is_selected_;
};

}  // namespace entrain::fit
