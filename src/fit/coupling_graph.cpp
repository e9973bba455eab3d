// SPDX-License-Identifier: BSD-3-Clause
#include "fit/coupling_graph.hpp"

#include <algorithm>

#include "fit/block_band.hpp"

namespace entrain::fit {

namespace {

/// Where the band of dense blocks is used; coupling_graph_test.cpp.
struct DenseBandThresholds {
  /// Multiplications above which conjugate gradients are cheaper.
  static constexpr double most_work = 4e8;
  static constexpr std::size_t few_clocks = 12;  ///< always a band up to so many clocks
  static constexpr std::size_t sparsity = 4;     ///< else if one in so many pairs is coupled
};

}  // namespace

CouplingGraph::CouplingGraph(std::size_t clocks, std::size_t knots)
    : clocks_(clocks), knots_(knots) {
  forget();
}

void CouplingGraph::forget() {
  pairs_ = 0;
  fits_band_ = BlockBand::work(clocks_, knots_) <= DenseBandThresholds::most_work;
  coupled_.assign(fits_band_ ? clocks_ * clocks_ : 0, 0);
}

void CouplingGraph::take(std::span<const FitConstraint> more) {
  for (const FitConstraint& constraint : more) {
    if (!fits_band_) return;
    const std::size_t to_knot = constraint.to % knots_, from_knot = constraint.from % knots_;
    fits_band_ = std::max(to_knot, from_knot) - std::min(to_knot, from_knot) < BlockBand::k_reach;
    const std::size_t to = constraint.to / knots_, from = constraint.from / knots_;
    std::uint8_t& known = coupled_[std::min(to, from) * clocks_ + std::max(to, from)];
    pairs_ += known == 0 ? 1 : 0;
    known = 1;
  }
}

bool CouplingGraph::is_dense() const {
  return fits_band_ && (clocks_ <= DenseBandThresholds::few_clocks ||
                        DenseBandThresholds::sparsity * pairs_ >= clocks_ * clocks_ / 2);
}

}  // namespace entrain::fit
