// SPDX-License-Identifier: BSD-3-Clause
#include "fit/curvature.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace entrain::fit {

namespace {

/// Choice of the method. Decisions 10, 37 and 68 have measurements; curvature_test.cpp holds that
/// all methods agree.
struct CurvatureThresholds {
  /// Multiplications of a factorisation above which conjugate gradients are used.
  static constexpr double most_direct_work = 1e8;
  /// An estimate of them is trusted if it exceeds that by this factor.
  static constexpr double clearly = 8;
  /// Least knots merged into one unknown of an estimate, and unknowns left, approximately.
  static constexpr std::size_t merged = 8, coarse_size = 1024;
  /// Multiplications in a band of dense blocks above which conjugate gradients are cheaper.
  static constexpr double most_band_work = 4e8;
  /// Time of a multiplication in a band, relative to a sparse factorisation.
  static constexpr double band_cost = 0.25;
  static constexpr std::size_t few_clocks = 12;  ///< always a band up to so many clocks
  static constexpr std::size_t sparsity = 4;     ///< else if one in so many pairs is coupled
  static constexpr int most_iterations = 5'000;  ///< conjugate gradients
};

bool have_one_pattern(const FitMatrix& a, const FitMatrix& b) {
  return a.cols() == b.cols() && a.nonZeros() == b.nonZeros() &&
         std::equal(a.outerIndexPtr(), a.outerIndexPtr() + a.outerSize(), b.outerIndexPtr()) &&
         std::equal(a.innerIndexPtr(), a.innerIndexPtr() + a.nonZeros(), b.innerIndexPtr());
}

}  // namespace

Curvature::Curvature(std::size_t clocks, std::size_t knots, double scale)
    : clocks_(clocks), knots_(knots), weight_(scale * scale) {
  begin();
}

void Curvature::begin() {
  work_ = 0;
  costly_ = std::numeric_limits<Eigen::Index>::max();
  kept_.clear();
  weights_.clear();
  is_analysed_ = false;
  constraints_ = {};
  estimated_work_.reset();
  pairs_ = 0;
  const bool fits = BlockBand::work(clocks_, knots_) <= CurvatureThresholds::most_band_work;
  coupled_.assign(fits ? clocks_ * clocks_ : 0, 0);
}

void Curvature::set_constraints(std::span<const FitConstraint> constraints) {
  for (const FitConstraint& one : constraints.subspan(constraints_.size())) {
    if (coupled_.empty()) break;
    const auto [first, last] = std::minmax({one.to % knots_, one.from % knots_});
    const auto [low, high] = std::minmax({one.to / knots_, one.from / knots_});
    std::uint8_t& known = coupled_[low * clocks_ + high];
    pairs_ += known == 0 ? 1 : 0;
    known = 1;
    if (last - first >= BlockBand::k_reach) coupled_.clear();
  }
  constraints_ = constraints;
  weights_.resize(constraints.size(), 0.0);
  // With more constraints it may exceed the limit.
  if (estimated_work_ && !is_clearly_costly()) estimated_work_.reset();
}

/// True if a band of dense blocks is best.
bool Curvature::is_dense() const {
  return !coupled_.empty() && (clocks_ <= CurvatureThresholds::few_clocks ||
                               CurvatureThresholds::sparsity * pairs_ >= clocks_ * clocks_ / 2);
}

double Curvature::work_in_band(std::size_t clocks, std::size_t knots) {
  return BlockBand::work(clocks, knots) * CurvatureThresholds::band_cost;
}

/// Multiplications of a factorisation with all constraints. Eight or more knots of a clock count as
/// one unknown: that takes a small part of the time of an exact count.
double Curvature::estimated_work() const {
  const std::size_t merged = std::clamp(clocks_ * knots_ / CurvatureThresholds::coarse_size,
                                        std::min(CurvatureThresholds::merged, knots_), knots_);
  const std::size_t pieces = (knots_ + merged - 1) / merged, size = clocks_ * pieces;
  const auto piece_of = [&](std::size_t unknown) {
    return unknown / knots_ * pieces + unknown % knots_ / merged;
  };
  FitEntries entries;
  const auto add = [&](std::size_t a, std::size_t b) {
    entries.emplace_back(static_cast<int>(std::max(a, b)), static_cast<int>(std::min(a, b)), 1);
  };
  for (std::size_t i = 0; i < size; ++i) {
    add(i, i);
    if (i % pieces != 0) add(i, i - 1);
  }
  for (const FitConstraint& one : constraints_) add(piece_of(one.from), piece_of(one.to));
  FitMatrix coarse(static_cast<Eigen::Index>(size), static_cast<Eigen::Index>(size));
  coarse.setFromTriplets(entries.begin(), entries.end());
  SparseFactor<Eigen::AMDOrdering<int>> factor;
  factor.analyse(coarse);
  return static_cast<double>(merged * merged * merged) * factor.work();
}

bool Curvature::is_clearly_costly() {
  if (is_dense()) return false;
  if (!estimated_work_) estimated_work_ = estimated_work();
  return *estimated_work_ > CurvatureThresholds::clearly * CurvatureThresholds::most_direct_work;
}

bool Curvature::compute(const FitMatrix& fixed, std::span<const std::uint32_t> active,
                        SolveMethod method, std::span<const double> shares) {
  if (method == SolveMethod::automatic && is_dense()) return factorise_band(fixed, active, shares);
  assemble(fixed, active, shares);
  if (method == SolveMethod::direct) return *factorise_whole(false);
  if (method == SolveMethod::automatic && matrix_.nonZeros() < costly_) {
    if (const std::optional<bool> is_done = factorise_whole(true)) return *is_done;
    costly_ = matrix_.nonZeros();
  }
  return factorise_clocks();
}

bool Curvature::factorise_band(const FitMatrix& fixed, std::span<const std::uint32_t> active,
                               std::span<const double> shares) {
  way_ = Way::band;
  const auto value_at = [&](std::size_t i) -> BlockBand::Value { return {i % knots_, i / knots_}; };
  band_.clear(clocks_, knots_);
  for (std::size_t n = 0; n < active.size(); ++n) {
    const auto row = constraints_[active[n]].row();
    std::array<BlockBand::Value, std::tuple_size_v<decltype(row)>> at;
    for (std::size_t i = 0; i < row.size(); ++i) {
      at[i] = value_at(row[i].at);
      const double share = weight(shares, n) * row[i].weight;
      for (std::size_t j = 0; j <= i; ++j) band_.add(at[i], at[j], share * row[j].weight);
    }
  }
  for (Eigen::Index column = 0; column < fixed.outerSize(); ++column) {
    for (FitMatrix::InnerIterator entry(fixed, column); entry; ++entry) {
      band_.add(value_at(static_cast<std::size_t>(entry.row())),
                value_at(static_cast<std::size_t>(column)), entry.value());
    }
  }
  work_ += work_in_band(clocks_, knots_);
  return band_.factorise();
}

/// Builds the matrix. Constraints that are no longer active are dropped when they are most of all,
/// or when a new order is needed anyway.
void Curvature::assemble(const FitMatrix& fixed, std::span<const std::uint32_t> active,
                         std::span<const double> shares) {
  for (const std::uint32_t number : kept_) weights_[number] = 0;
  if (2 * active.size() < kept_.size()) kept_.clear();
  std::vector<std::uint8_t> is_kept(constraints_.size(), 0);
  for (const std::uint32_t number : kept_) is_kept[number] = 1;
  for (std::size_t n = 0; n < active.size(); ++n) {
    weights_[active[n]] = weight(shares, n);
    if (is_kept[active[n]] == 0) kept_.push_back(active[n]);
  }
  build(fixed);
  if (is_analysed_ || kept_.size() == active.size()) return;
  kept_.assign(active.begin(), active.end());
  build(fixed);
}

/// Sums up `fixed` and the constraints that are kept.
void Curvature::build(const FitMatrix& fixed) {
  FitEntries entries;
  entries.reserve(10 * kept_.size());
  for (const std::uint32_t number : kept_)
    add_square(constraints_[number].row(), weights_[number], entries);
  FitMatrix coupling(fixed.rows(), fixed.cols());
  coupling.setFromTriplets(entries.begin(), entries.end());
  const FitMatrix before = std::exchange(matrix_, fixed + coupling);
  is_analysed_ = is_analysed_ && have_one_pattern(before, matrix_);
}

/// Empty if that costs too much.
std::optional<bool> Curvature::factorise_whole(bool is_limited) {
  way_ = Way::whole;
  // Too expensive by far: saves the search for an order of elimination.
  if (is_limited && !is_analysed_ && kept_.size() > clocks_ * knots_ && is_clearly_costly())
    return {};
  if (!is_analysed_) factor_.analyse(matrix_);
  if (is_limited && factor_.work() > CurvatureThresholds::most_direct_work) return {};
  is_analysed_ = true;
  work_ += factor_.work();
  return factor_.factorise(matrix_);
}

/// Numbers the unknowns knot by knot: neighbouring columns do not depend on each other then, and
/// factors of single clocks need no other order.
bool Curvature::factorise_clocks() {
  way_ = Way::clocks;
  const auto clocks = static_cast<Eigen::Index>(clocks_);
  const auto knots = static_cast<Eigen::Index>(knots_);
  const auto by_knot = [&](Eigen::Index i) {
    return static_cast<int>(i % knots * clocks + i / knots);
  };
  FitEntries entries;
  entries.reserve(static_cast<std::size_t>(matrix_.nonZeros()));
  for (Eigen::Index column = 0; column < matrix_.outerSize(); ++column) {
    for (FitMatrix::InnerIterator entry(matrix_, column); entry; ++entry) {
      const auto [low, high] = std::minmax({by_knot(entry.row()), by_knot(column)});
      entries.emplace_back(high, low, entry.value());
    }
  }
  by_knots_.resize(matrix_.rows(), matrix_.cols());
  by_knots_.setFromTriplets(entries.begin(), entries.end());
  FitMatrix own = by_knots_;
  own.prune([&](Eigen::Index row, Eigen::Index column, double) {
    return row % clocks == column % clocks;
  });
  clock_factors_.analyse(own);
  return clock_factors_.factorise(own);
}

std::vector<double> Curvature::solve(std::span<const double> right, double tolerance) {
  const auto rows = static_cast<Eigen::Index>(clocks_), knots = static_cast<Eigen::Index>(knots_);
  Eigen::VectorXd v = Eigen::Map<const Eigen::VectorXd>(right.data(), rows * knots);
  if (way_ == Way::whole) {
    v = factor_.solve(v);
  } else {
    v = v.reshaped(knots, rows).transpose().reshaped().eval();
    if (way_ == Way::clocks) v = solve_iteratively(v, tolerance);
    if (way_ == Way::band) band_.solve({v.data(), right.size()});
    v = v.reshaped(rows, knots).transpose().reshaped().eval();
  }
  return {v.data(), v.data() + v.size()};
}

/// Conjugate gradients.
Eigen::VectorXd Curvature::solve_iteratively(const Eigen::VectorXd& right, double tolerance) {
  Eigen::VectorXd solution = Eigen::VectorXd::Zero(right.size()), residual = right;
  Eigen::VectorXd near = clock_factors_.solve(residual), direction = near;
  double product = residual.dot(near);
  const double enough = tolerance * tolerance * product;
  for (int i = 0; i < CurvatureThresholds::most_iterations && product > enough && !cancel_.asked();
       ++i) {
    const Eigen::VectorXd image = by_knots_.selfadjointView<Eigen::Lower>() * direction;
    const double length = product / direction.dot(image);
    solution += length * direction;
    residual -= length * image;
    near = clock_factors_.solve(residual);
    const double next = residual.dot(near);
    direction = near + next / product * direction;
    product = next;
    work_ += 6 * static_cast<double>(right.size()) + 2 * static_cast<double>(matrix_.nonZeros());
  }
  return solution;
}

double Curvature::log_determinant() const {
  if (way_ == Way::band) return band_.log_determinant();
  return way_ == Way::whole ? factor_.log_determinant() : std::numeric_limits<double>::infinity();
}

}  // namespace entrain::fit
