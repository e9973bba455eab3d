// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/two_threads.hpp"
#include "causal/curvature.hpp"
#include "causal/fit.hpp"
#include "causal/knot_places.hpp"

namespace entrain::causal {

/// All constraints of a fit, in single precision: to look at all of them fast.
class LimitTable {
 public:
  /// A constraint between two places of the unknowns, as FitLimit.
  struct Row {
    std::uint32_t to = 0, from = 0;
    float to_share = 0, from_share = 0;
    float limit = 0;
    [[nodiscard]] float over(std::span<const float> v) const {
      return v[to] + to_share * (v[to + 1] - v[to]) - v[from] -
             from_share * (v[from + 1] - v[from]) - limit;
    }
  };

  /// `problem` must outlive this.
  explicit LimitTable(const CausalProblem& problem);

  [[nodiscard]] std::span<const Row> rows() const { return rows_; }
  /// The same constraint in full precision.
  [[nodiscard]] FitLimit limit(std::size_t number) const;
  /// A constraint is exceeded by so many times more, at most, if no unknown moves by more than 1.
  [[nodiscard]] double reach() const { return reach_; }
  [[nodiscard]] const CausalProblem& problem() const { return problem_; }

 private:
  const CausalProblem& problem_;
  KnotPlaces places_;
  double reach_ = 2;
  std::vector<Row> rows_;
};

/// Picks the constraints that a fit has to look at. Of hundreds of thousands some hundred hold the
/// clocks in the end, and nobody knows which. So a fit takes those that are tightest where it
/// begins, finds the minimum among them, and takes in the tightest of those that are violated
/// there. When none is violated, the minimum is that of all constraints.
///
/// Of every clock and piece between two knots, the tightest one that holds it from above counts,
/// and the tightest one that holds it from below.
///
/// One thread per object; it uses several.
class LimitPicker {
 public:
  /// Both must outlive this. `halves`: may be null.
  explicit LimitPicker(const LimitTable& table, TwoThreads* halves = nullptr)
      : table_(table), halves_(halves) {}

  /// Begins a fit: nothing is picked or known.
  void begin();
  /// Picks the tightest constraints of those that the unknowns `v` (FitCost) exceed, or miss by
  /// less than `reach`, ticks, and that were not picked before. Returns their numbers, ascending.
  [[nodiscard]] std::vector<std::uint32_t> pick(std::span<const double> v, double reach);
  /// By how much `v` exceeds a constraint of all at most, ticks, at least 0.
  [[nodiscard]] double worst(std::span<const double> v);

 private:
  /// A constraint, and by how much it is exceeded, about.
  struct Slot {
    double over = 0;
    std::uint32_t number = 0;
  };

  void look(std::span<const double> v, double reach);
  void look_at_all(double margin);
  [[nodiscard]] float least_over(double margin) const;

  const LimitTable& table_;
  TwoThreads* halves_;
  std::vector<float> rough_;  ///< `v` of the last look()
  std::vector<double> seen_;  ///< the unknowns at which all constraints were looked at
  double margin_ = 0;         ///< those further below than that were left out
  std::vector<std::uint32_t> near_;
  std::vector<Slot> found_, found_later_;  ///< of the last look(); the second half of them
  std::vector<std::uint8_t> is_picked_;
};

}  // namespace entrain::causal
