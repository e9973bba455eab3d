// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include <Eigen/SparseCore>

#include <entrain/progress.hpp>

#include "base/cancel.hpp"
#include "base/flat_map.hpp"
#include "fit/block_band.hpp"
#include "fit/clock_factors.hpp"
#include "fit/coupling_graph.hpp"
#include "fit/sparse_factor.hpp"
#include "fit/static_condensation.hpp"
#include "fit/terms.hpp"

namespace entrain::fit {

/// Inner product of two vectors of one length. Adds in the order of the vector unit, unlike a plain
/// loop.
[[nodiscard]] double inner_product(std::span<const double> a, std::span<const double> b);

/// How Curvature solves its equations. `automatic`: a band of dense blocks, a sparse factorisation
/// or conjugate gradients, whichever takes the fewest multiplications.
enum class SolveMethod { automatic, direct, iterative };

/// Hessian of the cost of a fit: bends of every clock, fixed terms and active constraints.
///
/// The matrix has five diagonals per clock. All constraints between two pieces of clocks share one
/// block of two by two. The matrix is factorised as a whole where that is cheap: as a band of dense
/// blocks if most clocks are coupled with most others, else by static condensation of the knots
/// without constraints and a sparse factorisation of the rest. Where the factors would fill up,
/// conjugate gradients are preconditioned by the factors of every clock by itself, and stochastic
/// Lanczos quadrature with fixed probes estimates the determinant (Ubaru, Chen, Saad, 2017).
/// Deterministic; one thread.
class Curvature {
 public:
  /// `knots` unknowns per clock, one clock after the other. The terms must outlive this. `scale`: 1
  /// / sigma of the constraints.
  Curvature(std::size_t clocks, std::size_t knots, std::span<const FitTerm> fixed,
            std::span<const FitConstraint> constraints, double scale);
  Curvature(const Curvature&) = delete;
  Curvature& operator=(const Curvature&) = delete;

  /// Sets the constraints that compute() numbers; they must stay. The previous ones are a prefix of
  /// them.
  void set_constraints(std::span<const FitConstraint> constraints);

  /// Starts a fit: resets work() and the methods found too expensive.
  void begin();

  /// Lets solve() and log_determinant() end early, with any result, once `progress` (may be null)
  /// is cancelled.
  void stop_with(const Progress* progress) { cancel_ = Cancel(progress); }

  /// Builds and factorises bend * (second difference)^2 of all inner knots, all fixed terms, and
  /// the constraints `active`, each times its share (none given: 1). False if the matrix is not
  /// positive definite.
  bool compute(double bend, std::span<const std::uint32_t> active,
               SolveMethod method = SolveMethod::automatic, std::span<const double> shares = {});

  /// Solves directly, or by conjugate gradients until the preconditioned residual is `tolerance` of
  /// the initial one.
  [[nodiscard]] std::vector<double> solve(std::span<const double> right, double tolerance = 1e-7);
  [[nodiscard]] double log_determinant();

  /// True if the matrix of the last compute() is not factorised as a whole.
  [[nodiscard]] bool is_iterative() const { return !direct_; }
  /// True if the factorisation with all constraints would cost many times the limit, so that
  /// methods that need it need not be tried.
  [[nodiscard]] bool is_clearly_costly();
  /// Approximate multiplications since begin(); the same on every machine.
  [[nodiscard]] double work() const { return work_; }
  /// Multiplications of one compute() in a band of dense blocks.
  [[nodiscard]] static double work_in_band(std::size_t clocks, std::size_t knots);

 private:
  using Vector = Eigen::VectorXd;
  using Matrix = Eigen::SparseMatrix<double>;

  /// Contribution of the constraints between two neighbouring knots of one clock and two of
  /// another.
  struct Block {
    Eigen::Index low = 0, high = 0;  ///< first knots, unknowns
    std::array<double, 4> value{};   ///< low x high, low + 1 x high, low x high + 1, ...
    /// Contribution to each clock: low x low, low x low + 1, low + 1 x low + 1; high x high, ...
    std::array<double, 3> low_square{}, high_square{};
    bool is_used = false;  ///< some active constraint contributes
  };

  /// A point between two knots, with the unknowns of this class.
  struct Point {
    Eigen::Index at = 0;
    double first = 0, second = 0;  ///< weights of the two knots
  };
  [[nodiscard]] Point point(std::uint32_t at, double share) const {
    return {by_knot(at), 1 - share, share};
  }
  [[nodiscard]] BlockBand::Value value_at(Eigen::Index at) const {
    return {static_cast<std::size_t>(at / clocks_), static_cast<std::size_t>(at % clocks_)};
  }
  void add_square(const Point& point, double weight);
  void add(const FitConstraint& constraint, double weight);
  void add_to_band(const FitConstraint& constraint, double weight);
  bool factorize_band(std::span<const std::uint32_t> active, std::span<const double> shares);
  std::optional<bool> factorize_whole(double bend, SolveMethod method);
  void set_chains(double bend);
  bool factorize_clocks(double bend);
  void add_all(std::span<const std::uint32_t> active, std::span<const double> shares);
  Block& block_at(Eigen::Index low, Eigen::Index high);
  void add_clocks(double bend);
  void find_interface();
  void find_places();
  void assemble();
  template <class Body>
  void for_schur_entries(Body body) const;
  [[nodiscard]] std::vector<double> solve_whole(std::span<const double> right) const;
  [[nodiscard]] Vector solve_iteratively(const Vector& right, double tolerance);
  [[nodiscard]] Vector preconditioned(const Vector& residual);

  // Unknowns are numbered knot by knot here, all clocks of a knot side by side.
  [[nodiscard]] Eigen::Index by_knot(std::size_t by_clock) const {
    const auto i = static_cast<Eigen::Index>(by_clock);
    return i % knots_ * clocks_ + i / knots_;
  }
  [[nodiscard]] std::size_t by_clock(Eigen::Index by_knot) const {
    return static_cast<std::size_t>(by_knot % clocks_ * knots_ + by_knot / clocks_);
  }
  [[nodiscard]] Vector by_knots(const Vector& by_clocks) const;
  [[nodiscard]] Vector by_clocks(const Vector& by_knots) const;
  [[nodiscard]] Vector times(const Vector& v);         ///< the matrix itself
  [[nodiscard]] double quadrature(std::size_t probe);  ///< estimates z' log(L^-1 H L^-T) z

  Eigen::Index clocks_, knots_, size_;
  std::span<const FitTerm> fixed_;
  std::span<const FitConstraint> constraints_;
  double weight_;              ///< 1 / sigma^2 of the constraints
  std::vector<Block> blocks_;  ///< blocks of active and formerly active constraints
  /// Number in `blocks_` by pair of unknowns.
  FlatMap<std::uint64_t, std::uint32_t, IntegerHash> place_;
  /// Matrices of the clocks: main diagonal, and the subdiagonals at distance one and two.
  Vector diagonal_, sub1_, sub2_;
  ClockFactors factors_;  ///< factors of these, for conjugate gradients
  Cancel cancel_{nullptr};
  double work_ = 0;
  bool direct_ = true;
  /// Number of blocks known to cost too much.
  std::size_t costly_ = std::numeric_limits<std::size_t>::max();
  bool is_analysed_ = false;  ///< `schur_` has the pattern of the last analysis
  StaticCondensation chains_;
  std::optional<double> bend_of_chains_;
  Matrix schur_;                       ///< lower half of the Schur complement
  std::vector<std::uint32_t> places_;  ///< place of every entry of for_schur_entries() in `schur_`
  SparseFactor factor_;
  CouplingGraph coupling_;
  std::optional<double> estimated_work_;  ///< work with all constraints; empty: not yet estimated
  bool in_band_ = false;                  ///< the last compute() used the band
  BlockBand band_;
};

}  // namespace entrain::fit
