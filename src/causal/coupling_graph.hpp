// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "causal/curvature.hpp"

namespace entrain::causal {

/// Which clocks meet in the constraints of a fit, to tell how its equations are solved best.
class CouplingGraph {
 public:
  CouplingGraph(std::size_t clocks, std::size_t knots);

  /// Begins anew: no constraint is known.
  void forget();
  /// Some more constraints.
  void take(std::span<const FitConstraint> more);
  /// True if a band of dense blocks (BlockBand) holds all constraints, and costs less than to find
  /// an order of elimination: where clocks are few, or most of them meet most others.
  [[nodiscard]] bool is_dense() const;

 private:
  std::size_t clocks_, knots_;
  std::vector<std::uint8_t> meet_;  ///< per pair of clocks: some constraint joins them
  std::size_t pairs_ = 0;           ///< that meet
  bool fit_band_ = false;           ///< it is not too large, and no constraint joins distant knots
};

}  // namespace entrain::causal
