// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <entrain/progress.hpp>

#include "base/two_threads.hpp"

namespace entrain::causal {

/// A weighted term of the fit that always counts, of one clock at one time, between two knots:
/// (scale * value)^2.
struct FitTerm {
  std::uint32_t at = 0;  ///< the unknown of the first of two neighbouring knots
  double share = 0;      ///< distance from there, 1 at the next knot
  double scale = 1;

  [[nodiscard]] double value(std::span<const double> v) const {
    return (1 - share) * v[at] + share * v[at + 1];
  }
};

/// A term that counts where one clock exceeds another one by more than a limit:
/// scale^2 * max(0, over)^2, with one scale for all.
struct FitLimit {
  std::uint32_t to = 0, from = 0;       ///< as FitTerm::at
  double to_share = 0, from_share = 0;  ///< as FitTerm::share
  double limit = 0;

  [[nodiscard]] double over(std::span<const double> v) const {
    return (1 - to_share) * v[to] + to_share * v[to + 1] - (1 - from_share) * v[from] -
           from_share * v[from + 1] - limit;
  }
  /// By how much over() changes at most if no unknown moves by more than 1.
  [[nodiscard]] double reach() const {
    return std::abs(1 - to_share) + std::abs(to_share) + std::abs(1 - from_share) +
           std::abs(from_share);
  }
  /// Adds to a gradient what a force on this limit adds.
  void push(std::span<double> gradient, double force) const {
    gradient[to] += force * (1 - to_share);
    gradient[to + 1] += force * to_share;
    gradient[from] -= force * (1 - from_share);
    gradient[from + 1] -= force * from_share;
  }
};

/// Sum of the products of two vectors of one length. Adds in the order of the solver's vector unit,
/// which a plain loop would not.
[[nodiscard]] double inner_product(std::span<const double> a, std::span<const double> b);

/// The second derivative of a causal fit's cost: bends of every clock, and the terms in force.
///
/// The matrix has five diagonals per clock. Any two pieces of clocks that constraints join add a
/// block of two by two, however many constraints do. The matrix is factorised as a whole where that
/// costs little: as a band of dense blocks where most clocks meet most others, else clock by clock
/// as far as no constraint joins them (ClockChains), and the rest in an order of elimination. The
/// factors of many clocks that hang together fill up: then only the matrix of every clock by itself
/// is factorised, as a preconditioner of conjugate gradients, and the determinant is estimated by
/// stochastic Lanczos quadrature with probes that are always the same (Ubaru, Chen, Saad, 2017).
/// Deterministic; one thread.
class Curvature {
 public:
  /// `knots` unknowns per clock, one clock after the other. The terms must outlive this. `scale`:
  /// of the limits. `threads`: 0: all cores.
  Curvature(std::size_t clocks, std::size_t knots, std::span<const FitTerm> fixed,
            std::span<const FitLimit> limits, double scale, unsigned threads = 1);
  ~Curvature();
  Curvature(const Curvature&) = delete;
  Curvature& operator=(const Curvature&) = delete;

  /// From now on compute() means these limits; they must stay.
  void set_limits(std::span<const FitLimit> limits);

  /// Begins a fit: counts work anew, and forgets what costs too much to factorise.
  void begin();

  /// From now on solve() and log_determinant() end early, with any result, once `progress` (may be
  /// null) is cancelled.
  void stop_with(const Progress* progress);

  /// How to solve; `automatic` by the cost of the factors, or as a band of dense blocks.
  enum class Way { automatic, direct, iterative };

  /// Builds and factorises bend * (second difference)^2 of all inner knots, all fixed terms, and
  /// the limits with the numbers `active`, each times its share (none given: 1). False if the
  /// matrix is not positive definite.
  bool compute(double bend, std::span<const std::uint32_t> active, Way way = Way::automatic,
               std::span<const double> shares = {});

  /// Solves exactly, or, where that costs too much, until the residual is `tolerance` of what it
  /// was, weighed by the matrices of the single clocks.
  [[nodiscard]] std::vector<double> solve(std::span<const double> right, double tolerance = 1e-7);
  [[nodiscard]] double log_determinant();

  /// True if the matrix of the last compute() is not factorised as a whole.
  [[nodiscard]] bool is_iterative() const;
  /// True if a matrix with all limits would cost so much that nothing but conjugate gradients is
  /// left, many times over: what needs factors of it need not be tried.
  [[nodiscard]] bool is_clearly_costly();
  /// Multiplications since begin(), about: the same on every machine.
  [[nodiscard]] double work() const;
  /// Two threads for those who work with this; only the one that uses this asks.
  [[nodiscard]] TwoThreads& halves() const;
  /// Where the unknowns of a limit lie: 0 or 1 if all are of one half of the run, 2 else. What is
  /// done to unknowns by limits of 0 and of 1 may be done at once.
  [[nodiscard]] std::uint8_t half_of(const FitLimit& limit) const;
  /// Those of one compute() where all clocks meet.
  [[nodiscard]] static double work_in_band(std::size_t clocks, std::size_t knots);

 private:
  class Matrices;  // keeps the linear algebra library out of this header
  std::unique_ptr<Matrices> matrices_;
};

}  // namespace entrain::causal
