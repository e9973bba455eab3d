// SPDX-License-Identifier: BSD-3-Clause
#include "causal/block_band.hpp"

#include <algorithm>
#include <cmath>

#include "causal/dense_panels.hpp"

namespace entrain::causal {

namespace {

/// Clocks per block are a multiple of this, for the vector unit. Padding has 1 on the diagonal.
constexpr std::size_t k_band_lanes = 4;

/// Inner product of two rows, in four lanes.
double product(const double* a, const double* b, std::size_t size) {
  std::array<double, 4> sum{};
  std::size_t i = 0;
  for (; i + 4 <= size; i += 4) {
    for (std::size_t lane = 0; lane < 4; ++lane) sum[lane] += a[i + lane] * b[i + lane];
  }
  for (; i < size; ++i) sum[0] += a[i] * b[i];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/// Solves L x = v for the first `columns` of a panel, in place, and subtracts their contribution
/// from the rows below.
void solve_panel_lower(const double* panel, std::size_t rows, std::size_t columns, double* v) {
  for (std::size_t j = 0; j < columns; ++j, panel += rows) {
    const double x = v[j] /= panel[j];
    for (std::size_t i = j + 1; i < rows; ++i) v[i] -= panel[i] * x;
  }
}

/// The same for the transposed panel.
void solve_panel_upper(const double* panel, std::size_t rows, std::size_t columns, double* v) {
  for (std::size_t j = columns; j-- > 0;) {
    const double* const column = panel + j * rows;
    v[j] = (v[j] - product(column + j + 1, v + j + 1, rows - j - 1)) / column[j];
  }
}

double log_of_diagonal(const double* panel, std::size_t rows, std::size_t columns) {
  double sum = 0;
  for (std::size_t j = 0; j < columns; ++j) sum += std::log(panel[j * (rows + 1)]);
  return sum;
}

}  // namespace

double BlockBand::work(std::size_t clocks, std::size_t knots) {
  const auto n = static_cast<double>(clocks);
  return (19.0 / 6) * n * n * n * static_cast<double>(knots);
}

void BlockBand::clear(std::size_t clocks, std::size_t knots, TwoThreads& halves) {
  all_clocks_ = clocks;
  clocks_ = (clocks + k_band_lanes - 1) / k_band_lanes * k_band_lanes;
  knots_ = knots;
  const std::size_t left = (knots - k_reach) / 2;
  halves(size(), [&](unsigned side) {
    sides_[side].clear(clocks_, side == 0 ? left : knots - k_reach - left);
  });
  for (std::size_t knot = 0; knot < knots; ++knot) {
    for (std::size_t c = clocks; c < clocks_; ++c) add({knot, c}, {knot, c}, 1);
  }
}

void BlockBand::Side::clear(std::size_t all_clocks, std::size_t all) {
  clocks = all_clocks;
  count = all;
  panels.assign(count * panel_size(), 0.0);
  middle.assign(4 * clocks * clocks, 0.0);
}

bool BlockBand::Side::factorise() {
  const auto n = static_cast<std::ptrdiff_t>(clocks);
  for (std::size_t at = 0; at < count; ++at) {
    double* const columns = panel(at);
    if (!factorise_panel(columns, 3 * n, n)) return false;
    subtract_products(diagonal_block(at + 1), distance(at + 1), 2 * n, n, columns + n, 3 * n, n);
    subtract_products(diagonal_block(at + 2), distance(at + 2), n, n, columns + 2 * n, 3 * n, n);
  }
  return true;
}

/// Adds the contributions of both sides to the middle. The right side has its knots in the opposite
/// order.
void BlockBand::join_middle() {
  middle_ = sides_[0].middle;
  const std::vector<double>& right = sides_[1].middle;
  const std::size_t n = clocks_, rows = 2 * n;
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = j; i < n; ++i) {
      middle_[j * rows + i] += right[(n + j) * rows + n + i];
      middle_[(n + j) * rows + n + i] += right[j * rows + i];
    }
    for (std::size_t i = 0; i < n; ++i) middle_[j * rows + n + i] += right[i * rows + n + j];
  }
}

bool BlockBand::factorise(TwoThreads& halves) {
  std::array<char, 2> good{};
  halves(size(), [&](unsigned side) { good[side] = sides_[side].factorise() ? 1 : 0; });
  if (good[0] == 0 || good[1] == 0) return false;
  join_middle();
  const auto rows = static_cast<std::ptrdiff_t>(2 * clocks_);
  return factorise_panel(middle_.data(), rows, rows);
}

void BlockBand::solve(std::span<double> values, TwoThreads& halves) const {
  const std::size_t n = clocks_;
  std::vector<double> v(n * knots_, 0.0);
  for (std::size_t k = 0; k < knots_; ++k)
    std::copy_n(values.data() + k * all_clocks_, all_clocks_, v.data() + k * n);
  // Values of the right side in its (opposite) order, and its contribution to the middle.
  std::vector<double> right((sides_[1].count + 2) * n, 0.0);
  const auto for_right = [&](auto body) {
    for (std::size_t at = 0; at < sides_[1].count; ++at) {
      for (std::size_t c = 0; c < n; ++c) body(right[at * n + c], v[(knots_ - 1 - at) * n + c]);
    }
  };
  for_right([](double& here, double& there) { here = there; });
  const std::array<double*, 2> of_side{v.data(), right.data()};
  halves(size(), [&](unsigned side) {
    for (std::size_t at = 0; at < sides_[side].count; ++at)
      solve_panel_lower(sides_[side].panel(at), 3 * n, n, of_side[side] + at * n);
  });
  double* const middle = v.data() + sides_[0].count * n;
  double* const left_over = right.data() + sides_[1].count * n;
  for (std::size_t i = 0; i < 2 * n; ++i) middle[i] += left_over[(i + n) % (2 * n)];
  solve_panel_lower(middle_.data(), 2 * n, 2 * n, middle);
  solve_panel_upper(middle_.data(), 2 * n, 2 * n, middle);
  for (std::size_t i = 0; i < 2 * n; ++i) left_over[(i + n) % (2 * n)] = middle[i];
  halves(size(), [&](unsigned side) {
    for (std::size_t at = sides_[side].count; at-- > 0;)
      solve_panel_upper(sides_[side].panel(at), 3 * n, n, of_side[side] + at * n);
  });
  for_right([](double& here, double& there) { there = here; });
  for (std::size_t k = 0; k < knots_; ++k)
    std::copy_n(v.data() + k * n, all_clocks_, values.data() + k * all_clocks_);
}

double BlockBand::log_determinant() const {
  double sum = log_of_diagonal(middle_.data(), 2 * clocks_, 2 * clocks_);
  for (const Side& side : sides_) {
    for (std::size_t at = 0; at < side.count; ++at)
      sum += log_of_diagonal(side.panel(at), 3 * clocks_, clocks_);
  }
  return 2 * sum;
}

}  // namespace entrain::causal
