// SPDX-License-Identifier: BSD-3-Clause
#include "fit/curvature.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include <Eigen/Eigenvalues>

#include "base/random.hpp"
#include "fit/work_estimate.hpp"

namespace entrain::fit {

namespace {

/// Choice of the method. Decisions 10, 37 and 45 have measurements; curvature_test.cpp holds that
/// all methods agree.
struct CurvatureThresholds {
  /// Multiplications of a factorisation above which conjugate gradients are used.
  static constexpr double most_direct_work = 1e8;
  /// An estimate (work_estimate.hpp) is trusted if it exceeds that by this factor.
  static constexpr double clearly = 8;
  /// Time of a multiplication in a band of dense blocks, relative to a sparse factorisation.
  static constexpr double band_cost = 0.25;
  static constexpr int most_iterations = 5'000;  ///< conjugate gradients
  /// Random vectors of the quadrature (the_determinant_is_estimated_well_enough_to_choose_by).
  static constexpr std::size_t probes = 8;
  static constexpr int lanczos_steps = 40;  ///< number per probe
};
constexpr std::uint32_t k_no_row = std::numeric_limits<std::uint32_t>::max();

std::vector<double> to_std(const Eigen::VectorXd& v) { return {v.data(), v.data() + v.size()}; }

}  // namespace

Curvature::Curvature(std::size_t clocks, std::size_t knots, std::span<const FitTerm> fixed,
                     std::span<const FitConstraint> constraints, double scale)
    : clocks_(static_cast<Eigen::Index>(clocks)),
      knots_(static_cast<Eigen::Index>(knots)),
      size_(clocks_ * knots_),
      fixed_(fixed),
      weight_(scale * scale),
      coupling_(clocks, knots) {
  set_constraints(constraints);
}

void Curvature::set_constraints(std::span<const FitConstraint> constraints) {
  if (constraints.size() < constraints_.size()) {
    estimated_work_.reset();
    constraints_ = {};
    coupling_.forget();
  }
  coupling_.take(constraints.subspan(constraints_.size()));
  if (estimated_work_ &&
      *estimated_work_ <= CurvatureThresholds::clearly * CurvatureThresholds::most_direct_work)
    estimated_work_.reset();  // with more constraints it may exceed the limit
  constraints_ = constraints;
}

void Curvature::add_to_band(const FitConstraint& constraint, double weight) {
  const Point to = point(constraint.to, constraint.to_share),
              from = point(constraint.from, constraint.from_share);
  add_square(to, weight);
  add_square(from, weight);
  const BlockBand::Value low_to = value_at(to.at), low_from = value_at(from.at);
  const BlockBand::Value high_to = value_at(to.at + clocks_),
                         high_from = value_at(from.at + clocks_);
  band_.add(low_to, low_from, -weight * to.first * from.first);
  band_.add(high_to, low_from, -weight * to.second * from.first);
  band_.add(low_to, high_from, -weight * to.first * from.second);
  band_.add(high_to, high_from, -weight * to.second * from.second);
}

/// Factorises the matrix as a band of dense blocks.
bool Curvature::factorize_band(std::span<const std::uint32_t> active,
                               std::span<const double> shares) {
  const auto clocks = static_cast<std::size_t>(clocks_);
  const auto knots = static_cast<std::size_t>(knots_);
  band_.clear(clocks, knots);
  for (std::size_t n = 0; n < active.size(); ++n)
    add_to_band(constraints_[active[n]], shares.empty() ? weight_ : shares[n] * weight_);
  for (Eigen::Index i = 0; i < size_; ++i) {
    const BlockBand::Value value = value_at(i);
    band_.add(value, value, diagonal_[i]);
    if (value.knot >= 1) band_.add(value, {value.knot - 1, value.clock}, sub1_[i]);
    if (value.knot >= 2) band_.add(value, {value.knot - 2, value.clock}, sub2_[i]);
  }
  direct_ = true;
  work_ += work_in_band(clocks, knots);
  return band_.factorise();
}

void Curvature::add_square(const Point& point, double weight) {
  const auto [i, a, b] = point;
  diagonal_[i] += weight * a * a;
  diagonal_[i + clocks_] += weight * b * b;
  sub1_[i + clocks_] += weight * a * b;
}

void Curvature::add(const FitConstraint& constraint, double weight) {
  const Point to = point(constraint.to, constraint.to_share),
              from = point(constraint.from, constraint.from_share);
  const bool to_is_low = constraint.to < constraint.from;
  const Point &low = to_is_low ? to : from, &high = to_is_low ? from : to;
  Block& block = block_at(low.at, high.at);
  block.is_used = true;
  const auto add_square_to = [&](std::array<double, 3>& square, const Point& point) {
    square[0] += weight * point.first * point.first;
    square[1] += weight * point.first * point.second;
    square[2] += weight * point.second * point.second;
  };
  add_square_to(block.low_square, low);
  add_square_to(block.high_square, high);
  block.value[0] -= weight * low.first * high.first;
  block.value[1] -= weight * low.second * high.first;
  block.value[2] -= weight * low.first * high.second;
  block.value[3] -= weight * low.second * high.second;
}

Curvature::Block& Curvature::block_at(Eigen::Index low, Eigen::Index high) {
  const auto [place, is_new] =
      place_.insert(static_cast<std::uint64_t>(low) * static_cast<std::uint64_t>(size_) +
                        static_cast<std::uint64_t>(high),
                    static_cast<std::uint32_t>(blocks_.size()));
  if (is_new) blocks_.push_back({.low = low, .high = high});
  return blocks_[*place];
}

/// Adds up the blocks of the active constraints. Blocks of constraints that are no longer active
/// stay as zeros, so that the order of elimination stays valid. They are dropped when a new order
/// is needed anyway.
void Curvature::add_all(std::span<const std::uint32_t> active, std::span<const double> shares) {
  for (Block& block : blocks_) block = {.low = block.low, .high = block.high};
  const std::size_t known = blocks_.size();
  for (std::size_t n = 0; n < active.size(); ++n)
    add(constraints_[active[n]], shares.empty() ? weight_ : shares[n] * weight_);
  const auto used = static_cast<std::size_t>(std::count_if(
      blocks_.begin(), blocks_.end(), [](const Block& block) { return block.is_used; }));
  if (blocks_.size() == known && 2 * used >= known) return;
  is_analysed_ = false;
  if (used == blocks_.size()) return;
  std::vector<Block> kept;
  kept.swap(blocks_);
  place_.clear();
  for (const Block& block : kept) {
    if (block.is_used) block_at(block.low, block.high) = block;
  }
}

/// Initialises the matrices of the clocks: bends and fixed terms.
void Curvature::add_clocks(double bend) {
  diagonal_ = sub1_ = sub2_ = Vector::Zero(size_);
  const Eigen::Index n = clocks_;
  for (Eigen::Index k = 1; k + 1 < knots_; ++k) {
    const auto at = [&](Vector& v, Eigen::Index knot) { return v.segment(knot * n, n).array(); };
    at(diagonal_, k - 1) += bend;
    at(diagonal_, k) += 4 * bend;
    at(diagonal_, k + 1) += bend;
    at(sub1_, k) -= 2 * bend;
    at(sub1_, k + 1) -= 2 * bend;
    at(sub2_, k + 1) += bend;
  }
  for (const FitTerm& term : fixed_)
    add_square(point(term.at, term.share), term.scale * term.scale);
}

bool Curvature::compute(double bend, std::span<const std::uint32_t> active, SolveMethod method,
                        std::span<const double> shares) {
  in_band_ = method == SolveMethod::automatic && coupling_.is_dense();
  if (in_band_) {
    add_clocks(bend);
    return factorize_band(active, shares);
  }
  add_all(active, shares);
  if (method == SolveMethod::direct ||
      (method == SolveMethod::automatic && blocks_.size() < costly_)) {
    const std::optional<bool> definite = factorize_whole(bend, method);
    direct_ = definite.has_value();
    if (direct_) return *definite;
    costly_ = blocks_.size();
  }
  direct_ = false;
  return factorize_clocks(bend);
}

/// Empty if that costs too much.
std::optional<bool> Curvature::factorize_whole(double bend, SolveMethod method) {
  const bool limited = method == SolveMethod::automatic;
  // Too expensive by far: saves the search for an order of elimination.
  if (limited && !is_analysed_ && blocks_.size() > static_cast<std::size_t>(size_) &&
      is_clearly_costly())
    return {};
  set_chains(bend);
  if (!is_analysed_) find_interface();
  if (!chains_.eliminate()) return false;
  assemble();
  if (!is_analysed_) factor_.analyse(schur_);
  const double work = factor_.work() + chains_.work();
  if (limited && work > CurvatureThresholds::most_direct_work) return {};
  is_analysed_ = true;
  work_ += work;
  return factor_.factorise(schur_);
}

/// Sets the matrices of the clocks, which do not change between steps.
void Curvature::set_chains(double bend) {
  if (bend_of_chains_ == bend) return;
  bend_of_chains_ = bend;
  add_clocks(bend);
  chains_.set(static_cast<std::size_t>(knots_),
              {to_std(by_clocks(diagonal_)), to_std(by_clocks(sub1_)), to_std(by_clocks(sub2_))});
}

bool Curvature::is_clearly_costly() {
  if (coupling_.is_dense()) return false;
  if (!estimated_work_) {
    estimated_work_ = estimate_work(static_cast<std::size_t>(clocks_),
                                    static_cast<std::size_t>(knots_), constraints_);
  }
  return *estimated_work_ > CurvatureThresholds::clearly * CurvatureThresholds::most_direct_work;
}

/// Marks the knots of blocks as interface: they are eliminated last.
void Curvature::find_interface() {
  std::vector<std::uint8_t> touched(static_cast<std::size_t>(size_), 0);
  for (const Block& block : blocks_) {
    for (const Eigen::Index i : {block.low, block.high}) {
      const std::size_t at = by_clock(i);
      touched[at] = touched[at + 1] = 1;
    }
  }
  chains_.keep(touched);
}

/// Calls `body` with row, column and value of the lower half of the Schur complement. Entries may
/// repeat: they are to be added up.
template <class Body>
void Curvature::for_schur_entries(Body body) const {
  chains_.for_schur_entries(body);
  const auto add_square = [&](std::size_t at, const std::array<double, 3>& square) {
    body(at, at, square[0]);
    body(at + 1, at, square[1]);
    body(at + 1, at + 1, square[2]);
  };
  for (const Block& block : blocks_) {
    const std::size_t low = chains_.interface_number(by_clock(block.low));
    const std::size_t high = chains_.interface_number(by_clock(block.high));
    body(high, low, block.value[0]);
    body(high, low + 1, block.value[1]);
    body(high + 1, low, block.value[2]);
    body(high + 1, low + 1, block.value[3]);
    add_square(low, block.low_square);
    add_square(high, block.high_square);
  }
}

void Curvature::assemble() {
  if (!is_analysed_) find_places();
  schur_.coeffs().setZero();
  std::size_t n = 0;
  for_schur_entries(
      [&](std::size_t, std::size_t, double value) { schur_.valuePtr()[places_[n++]] += value; });
}

/// Finds the pattern of the Schur complement, and the place of every entry in it.
void Curvature::find_places() {
  struct Entry {
    std::uint32_t row = 0, number = 0;
  };
  const std::size_t size = chains_.interface_count();
  std::vector<std::uint32_t> next(size + 1, 0);  // per column
  for_schur_entries([&](std::size_t, std::size_t column, double) { ++next[column + 1]; });
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<Entry> entries(next.back());
  std::uint32_t number = 0;
  for_schur_entries([&](std::size_t row, std::size_t column, double) {
    entries[next[column]++] = {static_cast<std::uint32_t>(row), number++};
  });
  schur_.resize(static_cast<Eigen::Index>(size), static_cast<Eigen::Index>(size));
  schur_.reserve(static_cast<Eigen::Index>(entries.size()));
  places_.resize(entries.size());
  auto entry = entries.begin();
  for (std::size_t column = 0; column < size; ++column) {
    const auto end = entries.begin() + next[column];
    std::sort(entry, end, [](const Entry& a, const Entry& b) { return a.row < b.row; });
    schur_.startVec(static_cast<Eigen::Index>(column));
    for (std::uint32_t last = k_no_row; entry != end; ++entry) {
      if (std::exchange(last, entry->row) != entry->row) {
        schur_.insertBack(static_cast<Eigen::Index>(entry->row),
                          static_cast<Eigen::Index>(column)) = 0;
      }
      places_[entry->number] = static_cast<std::uint32_t>(schur_.data().size() - 1);
    }
  }
  schur_.finalize();
}

/// Solves by static condensation and the factor of the Schur complement.
std::vector<double> Curvature::solve_whole(std::span<const double> right) const {
  std::vector<double> v(right.begin(), right.end());
  const std::vector<double> joints = chains_.condense(v);
  const Vector solution = factor_.solve(
      Eigen::Map<const Vector>(joints.data(), static_cast<Eigen::Index>(joints.size())));
  chains_.expand({solution.data(), joints.size()}, v);
  return v;
}

std::vector<double> Curvature::solve(std::span<const double> right, double tolerance) {
  if (!in_band_ && direct_) return solve_whole(right);
  Vector v = by_knots(Eigen::Map<const Vector>(right.data(), size_));
  if (in_band_) {
    band_.solve({v.data(), static_cast<std::size_t>(size_)});
  } else {
    v = solve_iteratively(v, tolerance);
  }
  return to_std(by_clocks(v));
}

/// Conjugate gradients.
Curvature::Vector Curvature::solve_iteratively(const Vector& right, double tolerance) {
  Vector solution = Vector::Zero(size_), residual = right, near = preconditioned(residual);
  Vector direction = near;
  double product = residual.dot(near);
  const double enough = tolerance * tolerance * product;
  for (int i = 0; i < CurvatureThresholds::most_iterations && product > enough && !cancel_.asked();
       ++i) {
    const Vector image = times(direction);
    const double length = product / direction.dot(image);
    solution += length * direction;
    residual -= length * image;
    near = preconditioned(residual);
    const double next = residual.dot(near);
    direction = near + next / product * direction;
    product = next;
  }
  return solution;
}

/// Solution for the matrices of single clocks.
Curvature::Vector Curvature::preconditioned(const Vector& residual) {
  Vector near = residual;
  factors_.solve_lower(near);
  factors_.solve_upper(near);
  work_ += 6 * static_cast<double>(size_);
  return near;
}

double Curvature::log_determinant() {
  if (in_band_) return band_.log_determinant();
  if (direct_) return chains_.log_determinant() + factor_.log_determinant();
  double rest = 0;
  for (std::size_t probe = 0; probe < CurvatureThresholds::probes; ++probe)
    rest += quadrature(probe);
  return rest / static_cast<double>(CurvatureThresholds::probes) + factors_.log_determinant();
}

/// Factorises the matrices of single clocks.
bool Curvature::factorize_clocks(double bend) {
  const Eigen::Index n = clocks_;
  add_clocks(bend);
  const auto add_square = [&](Eigen::Index at, const std::array<double, 3>& square) {
    diagonal_[at] += square[0];
    sub1_[at + n] += square[1];
    diagonal_[at + n] += square[2];
  };
  for (const Block& block : blocks_) {
    add_square(block.low, block.low_square);
    add_square(block.high, block.high_square);
  }
  return factors_.factorise(clocks_, diagonal_, sub1_, sub2_);
}

Curvature::Vector Curvature::by_knots(const Vector& by_clocks) const {
  return by_clocks.reshaped(knots_, clocks_).transpose().reshaped();
}

Curvature::Vector Curvature::by_clocks(const Vector& by_knots) const {
  return by_knots.reshaped(clocks_, knots_).transpose().reshaped();
}

Curvature::Vector Curvature::times(const Vector& v) {
  const Eigen::Index n = clocks_;
  Vector product = diagonal_.cwiseProduct(v);
  for (const auto& [beside, distance] : {std::pair(&sub1_, n), std::pair(&sub2_, 2 * n)}) {
    const Eigen::Index rest = size_ - distance;
    product.tail(rest) += beside->tail(rest).cwiseProduct(v.head(rest));
    product.head(rest) += beside->tail(rest).cwiseProduct(v.tail(rest));
  }
  for (const Block& block : blocks_) {
    const Eigen::Index a = block.low, b = block.high;
    const auto& m = block.value;
    product[b] += m[0] * v[a] + m[1] * v[a + n];
    product[b + n] += m[2] * v[a] + m[3] * v[a + n];
    product[a] += m[0] * v[b] + m[2] * v[b + n];
    product[a + n] += m[1] * v[b] + m[3] * v[b + n];
  }
  work_ += 5 * static_cast<double>(size_) + 8 * static_cast<double>(blocks_.size());
  return product;
}

double Curvature::quadrature(std::size_t probe) {
  RandomStream random(0, probe);
  Vector now(size_);
  for (Eigen::Index i = 0; i < size_; ++i) now[i] = random.below(2) == 0 ? -1 : 1;
  const double norm = now.norm();
  now /= norm;
  Vector before = Vector::Zero(size_);
  const int steps =
      static_cast<int>(std::min<Eigen::Index>(CurvatureThresholds::lanczos_steps, size_));
  Vector diagonal(steps), side(steps);
  int done = 0;
  double beta = 0;
  while (done < steps && (done == 0 || !cancel_.asked())) {
    Vector next = now;
    factors_.solve_upper(next);
    next = times(next);
    factors_.solve_lower(next);
    work_ += 6 * static_cast<double>(size_);
    next -= beta * before;
    const double alpha = next.dot(now);
    next -= alpha * now;
    beta = next.norm();
    diagonal[done] = alpha;
    side[done] = beta;
    ++done;
    if (beta < 1e-10) break;
    before = now;
    now = next / beta;
  }
  Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen;
  eigen.computeFromTridiagonal(diagonal.head(done), side.head(std::max(done - 1, 0)));
  double sum = 0;
  for (int i = 0; i < done; ++i) {
    const double first = eigen.eigenvectors()(0, i);
    sum += first * first * std::log(std::max(eigen.eigenvalues()[i], 1e-300));
  }
  return norm * norm * sum;
}

double inner_product(std::span<const double> a, std::span<const double> b) {
  const auto size = static_cast<Eigen::Index>(a.size());
  return Eigen::Map<const Eigen::VectorXd>(a.data(), size)
      .dot(Eigen::Map<const Eigen::VectorXd>(b.data(), size));
}

void Curvature::begin() {
  work_ = 0;
  costly_ = std::numeric_limits<std::size_t>::max();
  blocks_.clear();
  place_.clear();
  is_analysed_ = false;
}

double Curvature::work_in_band(std::size_t clocks, std::size_t knots) {
  return BlockBand::work(clocks, knots) * CurvatureThresholds::band_cost;
}

}  // namespace entrain::fit
