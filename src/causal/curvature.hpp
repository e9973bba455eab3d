// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <Eigen/Sparse>
#include <Eigen/SparseCholesky>

namespace entrain::causal {

/// A linear function of the values at two neighbouring knots of one clock, or of those of one clock
/// and of another one.
struct CausalRow {
  std::array<Eigen::Index, 4> at{};  ///< unknowns; at[1] = at[0] + 1, at[3] = at[2] + 1
  std::array<double, 4> weight{};
  std::size_t count = 0;  ///< 2 or 4

  void add(Eigen::Index index, double w) {
    at[count] = index;
    weight[count] = w;
    ++count;
  }
  [[nodiscard]] double value(const Eigen::VectorXd& v) const {
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += weight[i] * v[at[i]];
    return sum;
  }
};

/// One weighted term of the fit: scale^2 * max(0, row - limit)^2 for bounds, without the max for
/// others.
struct CausalTerm {
  CausalRow row;
  double limit = 0;
  double scale = 1;
};

/// The second derivative of a causal fit's cost: bends of every clock, and the terms in force.
///
/// It is five diagonals per clock, and a block of two by two for any two pieces of clocks that
/// bounds join, however many do. Where that costs little it is factorised as one sparse matrix. Of
/// many clocks that hang together, whose factors fill up, only the matrix of every clock by itself
/// is factorised, which preconditions conjugate gradients; the determinant is estimated by
/// stochastic Lanczos quadrature with probes that are always the same (Ubaru, Chen, Saad, 2017).
/// Deterministic; one thread.
class Curvature {
 public:
  /// `knots` unknowns per clock, one clock after the other. The terms have to outlive this: `fixed`
  /// of one clock each, `bounds` of two.
  Curvature(std::size_t clocks, std::size_t knots, const std::vector<CausalTerm>& fixed,
            const std::vector<CausalTerm>& bounds);

  /// How to solve; `automatic` by what the factors would cost.
  enum class Way { automatic, direct, iterative };

  /// bend * (second difference)^2 of all inner knots, all fixed terms, and the bounds for which
  /// `active` is true. False if the matrix is not positive definite.
  bool compute(double bend, const std::vector<bool>& active, Way way = Way::automatic);

  /// Exactly, or, where that costs too much, until the residual is `tolerance` of what it was, as
  /// the clocks by themselves weigh it.
  [[nodiscard]] Eigen::VectorXd solve(const Eigen::VectorXd& right, double tolerance = 1e-7);
  [[nodiscard]] double log_determinant();

  /// True if the matrix of the last compute() is not factorised as a whole.
  [[nodiscard]] bool is_iterative() const { return !direct_; }
  /// Multiplications so far, about: the same on every machine.
  [[nodiscard]] double work() const { return work_; }

 private:
  using Vector = Eigen::VectorXd;
  using Matrix = Eigen::SparseMatrix<double>;

  /// Tells what a factorisation will cost.
  class Factor : public Eigen::SimplicialLDLT<Matrix, Eigen::Lower> {
   public:
    [[nodiscard]] double work() const;
  };
  /// What joins two neighbouring knots of one clock and two of another one.
  struct Block {
    Eigen::Index low = 0, high = 0;  ///< the first ones
    std::array<double, 4> value{};   ///< low x high, low + 1 x high, low x high + 1, ...
  };

  void add(const CausalTerm& term, Block* block);
  bool factorize_whole(Way way);
  bool factorize_clocks();
  [[nodiscard]] Matrix assembled() const;

  // Unknowns are numbered knot by knot here, all clocks of a knot side by side.
  [[nodiscard]] Eigen::Index by_knot(Eigen::Index by_clock) const {
    return by_clock % knots_ * clocks_ + by_clock / knots_;
  }
  [[nodiscard]] Vector by_knots(const Vector& by_clocks) const;
  [[nodiscard]] Vector by_clocks(const Vector& by_knots) const;
  [[nodiscard]] Vector times(const Vector& v);         ///< the matrix itself
  void solve_lower(Vector& v);                         ///< v = L^-1 v
  void solve_upper(Vector& v);                         ///< v = L^-T v
  [[nodiscard]] double quadrature(std::size_t probe);  ///< of z' log(L^-1 H L^-T) z

  Eigen::Index clocks_, knots_, size_;
  const std::vector<CausalTerm>& fixed_;
  const std::vector<CausalTerm>& bounds_;
  std::vector<std::uint32_t> block_of_;  ///< per bound
  std::vector<Block> all_blocks_;        ///< of all bounds, without values
  std::vector<Block> blocks_;            ///< of the active ones
  std::vector<std::uint32_t> place_;     ///< of every block in `blocks_`
  /// The matrices of the clocks: the diagonal, and beside it by one knot and by two.
  Vector diagonal_, beside1_, beside2_;
  /// L of these: left of the diagonal by one knot and by two, and 1 / diagonal.
  Vector left1_, left2_, inverse_;
  double work_ = 0;
  bool direct_ = true;
  std::size_t costly_ = std::numeric_limits<std::size_t>::max();  ///< so many blocks cost too much
  Factor factor_;
};

}  // namespace entrain::causal
