// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include <Eigen/Sparse>

#include "base/cancel.hpp"
#include "base/flat_map.hpp"
#include "causal/block_band.hpp"
#include "causal/clock_chains.hpp"
#include "causal/curvature.hpp"
#include "causal/meeting_clocks.hpp"
#include "causal/sparse_factor.hpp"

namespace entrain::causal {

/// The matrices of a Curvature, in the types of Eigen.
class Curvature::Matrices {
 public:
  using Vector = Eigen::VectorXd;
  using Matrix = Eigen::SparseMatrix<double>;

  Matrices(std::size_t clocks, std::size_t knots, std::span<const FitTerm> fixed,
           std::span<const FitLimit> limits, double scale, unsigned threads);
  void set_limits(std::span<const FitLimit> limits);
  bool compute(double bend, std::span<const std::uint32_t> active, Way way,
               std::span<const double> shares);
  [[nodiscard]] Vector solve(const Vector& right, double tolerance);
  [[nodiscard]] double log_determinant();
  [[nodiscard]] bool is_iterative() const { return !direct_; }
  [[nodiscard]] bool is_clearly_costly();
  [[nodiscard]] double work() const { return work_; }
  [[nodiscard]] TwoThreads& halves() { return halves_; }
  [[nodiscard]] std::uint8_t half_of(const FitLimit& limit) const {
    const std::size_t to = limit.to % static_cast<std::size_t>(knots_);
    const std::size_t from = limit.from % static_cast<std::size_t>(knots_);
    const std::size_t middle = BlockBand::middle_end(static_cast<std::size_t>(knots_));
    if (std::min(to, from) >= middle) return 1;
    return std::max(to, from) + 1 < middle ? 0 : 2;
  }
  void stop_with(const Progress* progress) { cancel_ = Cancel(progress); }
  void begin() {
    work_ = 0;
    costly_ = std::numeric_limits<std::size_t>::max();
    blocks_.clear();
    place_.clear();
    is_analysed_ = false;
  }

 private:
  /// The products between two neighbouring knots of one clock and two of another one.
  struct Block {
    Eigen::Index low = 0, high = 0;  ///< the first ones
    std::array<double, 4> value{};   ///< low x high, low + 1 x high, low x high + 1, ...
    /// What limits add to each clock: low x low, low x low + 1, low + 1 x low + 1; high x high, ...
    std::array<double, 3> low_square{}, high_square{};
    bool is_used = false;  ///< by an active limit
  };

  /// A value of a clock between two knots, in the numbers of this class.
  struct Point {
    Eigen::Index at = 0;
    double first = 0, second = 0;  ///< weights of the knots
  };
  [[nodiscard]] Point point(std::uint32_t at, double share) const {
    return {by_knot(at), 1 - share, share};
  }
  [[nodiscard]] BlockBand::Value value_at(Eigen::Index at) const {
    return {static_cast<std::size_t>(at / clocks_), static_cast<std::size_t>(at % clocks_)};
  }
  void add_square(const Point& point, double weight);
  void add(const FitLimit& limit, double weight);
  void add_to_band(const FitLimit& limit, double weight);
  bool factorize_band(std::span<const std::uint32_t> active, std::span<const double> shares);
  std::optional<bool> factorize_whole(double bend, Way way);
  void set_chains(double bend);
  bool factorize_clocks(double bend);
  void add_all(std::span<const std::uint32_t> active, std::span<const double> shares);
  Block& block_at(Eigen::Index low, Eigen::Index high);
  void add_clocks(double bend);
  void find_joints();
  void find_places();
  void assemble();
  template <class Body>
  void for_joint_entries(Body body) const;
  [[nodiscard]] Vector solve_whole(const Vector& right) const;

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
  void solve_lower(Vector& v);                         ///< v = L^-1 v
  void solve_upper(Vector& v);                         ///< v = L^-T v
  [[nodiscard]] double quadrature(std::size_t probe);  ///< of z' log(L^-1 H L^-T) z

  Eigen::Index clocks_, knots_, size_;
  std::span<const FitTerm> fixed_;
  std::span<const FitLimit> limits_;
  double weight_;              ///< of a limit
  std::vector<Block> blocks_;  ///< of the active limits, and of some that were
  FlatMap<std::uint64_t, std::uint32_t, IntegerHash> place_;  ///< of every block in `blocks_`
  /// The matrices of the clocks: the diagonal, and beside it by one knot and by two.
  Vector diagonal_, beside1_, beside2_;
  /// L of these: left of the diagonal by one knot and by two, and 1 / diagonal.
  Vector left1_, left2_, inverse_;
  Cancel cancel_{nullptr};
  double work_ = 0;
  bool direct_ = true;
  std::size_t costly_ = std::numeric_limits<std::size_t>::max();  ///< so many blocks cost too much
  bool is_analysed_ = false;  ///< the joints have the pattern of the last ones
  ClockChains chains_;
  std::optional<double> bend_of_chains_;
  Matrix joints_;                      ///< the lower half of their matrix
  std::vector<std::uint32_t> places_;  ///< in `joints_`, in the order of for_joint_entries()
  SparseFactor factor_;
  TwoThreads halves_;
  std::vector<std::uint8_t> halves_of_limits_;
  MeetingClocks meeting_;
  std::optional<double> rough_work_;  ///< with all limits, if anybody asked
  bool in_band_ = false;              ///< the matrix of the last compute() is
  BlockBand band_;
};

}  // namespace entrain::causal
