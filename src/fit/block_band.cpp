// SPDX-License-Identifier: BSD-3-Clause
#include "fit/block_band.hpp"

#include <algorithm>
#include <cmath>

#include "fit/dense_panels.hpp"

namespace entrain::fit {

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

}  // namespace

double BlockBand::work(std::size_t clocks, std::size_t knots) {
  const auto n = static_cast<double>(clocks);
  return (19.0 / 6) * n * n * n * static_cast<double>(knots);
}

void BlockBand::clear(std::size_t clocks, std::size_t knots) {
  all_clocks_ = clocks;
  clocks_ = (clocks + k_band_lanes - 1) / k_band_lanes * k_band_lanes;
  knots_ = knots;
  panels_.assign(knots * rows() * clocks_, 0.0);
  for (std::size_t knot = 0; knot < knots; ++knot) {
    for (std::size_t c = clocks; c < clocks_; ++c) add({knot, c}, {knot, c}, 1);
  }
}

bool BlockBand::factorise() {
  const auto n = static_cast<std::ptrdiff_t>(clocks_), all = static_cast<std::ptrdiff_t>(rows());
  for (std::size_t knot = 0; knot < knots_; ++knot) {
    double* const columns = panel(knot);
    if (!factorise_panel(columns, all, n)) return false;
    for (std::ptrdiff_t next = 1; next <= 2 && knot + static_cast<std::size_t>(next) < knots_;
         ++next) {
      subtract_products(panel(knot + static_cast<std::size_t>(next)), all, all - next * n, n,
                        columns + next * n, all, n);
    }
  }
  return true;
}

void BlockBand::solve(std::span<double> values) const {
  const std::size_t n = clocks_;
  std::vector<double> v((knots_ + k_reach) * n, 0.0);
  for (std::size_t k = 0; k < knots_; ++k)
    std::copy_n(values.data() + k * all_clocks_, all_clocks_, v.data() + k * n);
  for (std::size_t k = 0; k < knots_; ++k) solve_panel_lower(panel(k), rows(), n, v.data() + k * n);
  for (std::size_t k = knots_; k-- > 0;) solve_panel_upper(panel(k), rows(), n, v.data() + k * n);
  for (std::size_t k = 0; k < knots_; ++k)
    std::copy_n(v.data() + k * n, all_clocks_, values.data() + k * all_clocks_);
}

double BlockBand::log_determinant() const {
  double sum = 0;
  for (std::size_t k = 0; k < knots_; ++k) {
    for (std::size_t c = 0; c < clocks_; ++c) sum += std::log(panel(k)[c * (rows() + 1)]);
  }
  return 2 * sum;
}

}  // namespace entrain::fit
