// SPDX-License-Identifier: BSD-3-Clause
#include "causal/coupling_graph.hpp"

#include <algorithm>

#include "causal/block_band.hpp"

namespace entrain::causal {

namespace {

/// Multiplications above which conjugate gradients are cheaper.
constexpr double k_most_band_work = 4e8;
/// A band it is for so few clocks, or if one in so many pairs meets.
constexpr std::size_t k_few_clocks = 12, k_dense = 4;

}  // namespace

CouplingGraph::CouplingGraph(std::size_t clocks, std::size_t knots)
    : clocks_(clocks), knots_(knots) {
  forget();
}

void CouplingGraph::forget() {
  pairs_ = 0;
  fit_band_ = BlockBand::work(clocks_, knots_) <= k_most_band_work;
  meet_.assign(fit_band_ ? clocks_ * clocks_ : 0, 0);
}

void CouplingGraph::take(std::span<const FitConstraint> more) {
  for (const FitConstraint& constraint : more) {
    if (!fit_band_) return;
    const std::size_t to_knot = constraint.to % knots_, from_knot = constraint.from % knots_;
    fit_band_ = std::max(to_knot, from_knot) - std::min(to_knot, from_knot) < BlockBand::k_reach;
    const std::size_t to = constraint.to / knots_, from = constraint.from / knots_;
    std::uint8_t& known = meet_[std::min(to, from) * clocks_ + std::max(to, from)];
    pairs_ += known == 0 ? 1 : 0;
    known = 1;
  }
}

bool CouplingGraph::is_dense() const {
  return fit_band_ && (clocks_ <= k_few_clocks || k_dense * pairs_ >= clocks_ * clocks_ / 2);
}

}  // namespace entrain::causal
