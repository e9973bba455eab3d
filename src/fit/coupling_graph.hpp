// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fit/terms.hpp"

namespace entrain::fit {

/// Graph of the clocks that the constraints of a fit couple. Its density decides how the equations
/// are solved.
class CouplingGraph {
 public:
  CouplingGraph(std::size_t clocks, std::size_t knots);

  void forget();
  void take(std::span<const FitConstraint> more);
  /// True if a band of dense blocks (BlockBand) holds all constraints, and is cheaper than a sparse
  /// factorisation: if clocks are few, or most are coupled with most others.
  [[nodiscard]] bool is_dense() const;

 private:
  std::size_t clocks_, knots_;
  std::vector<std::uint8_t>
      coupled_;             ///< 1 if a constraint couples the pair, one per pair of clocks
  std::size_t pairs_ = 0;   ///< number of coupled pairs
  bool fits_band_ = false;  ///< the band is affordable, and no constraint couples distant knots
};

}  // namespace entrain::fit
