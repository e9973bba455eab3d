// SPDX-License-Identifier: BSD-3-Clause
#include "fit/block_band.hpp"

#include <algorithm>
#include <cmath>

namespace entrain::fit {

namespace {

// Cholesky's method on dense blocks, stored column by column. Sums are added in a fixed order, so
// results are the same on every machine.

/// Columns that are factorised before the others are updated.
constexpr std::ptrdiff_t k_panel_columns = 8;

/// Four numbers per instruction, or per two on older machines. Compilers do not find them alone.
/// The attributes follow the name: before it clang ignores the alignment.
using Four [[gnu::vector_size(32), gnu::aligned(8)]] = double;
static_assert(alignof(Four) == alignof(double));

/// c[4 Fours x 4] -= a[4 Fours x depth] b[4 x depth]', all stored column by column, with the
/// distances `ldc` and `ld` between columns. Every number of c gets its products in the order of
/// the depth.
template <int Fours>
[[gnu::always_inline]] inline void subtract_block(double* c, std::ptrdiff_t ldc, const double* a,
                                                  const double* b, std::ptrdiff_t ld,
                                                  std::ptrdiff_t depth) {
  Four sum[4][Fours] = {};
  for (std::ptrdiff_t k = 0; k < depth; ++k) {
    for (int i = 0; i < Fours; ++i) {
      const Four rows = *reinterpret_cast<const Four*>(a + 4 * i);
      for (int j = 0; j < 4; ++j) sum[j][i] += rows * b[j];
    }
    a += ld;
    b += ld;
  }
  for (int j = 0; j < 4; ++j) {
    for (int i = 0; i < Fours; ++i) *reinterpret_cast<Four*>(c + j * ldc + 4 * i) -= sum[j][i];
  }
}

[[gnu::always_inline]] inline void subtract_all(double* c, std::ptrdiff_t ldc, std::ptrdiff_t rows,
                                                std::ptrdiff_t columns, const double* a,
                                                std::ptrdiff_t ld, std::ptrdiff_t depth) {
  for (std::ptrdiff_t j = 0; j < columns; j += 4) {
    std::ptrdiff_t i = j;
    for (; i + 8 <= rows; i += 8) subtract_block<2>(c + j * ldc + i, ldc, a + i, a + j, ld, depth);
    for (; i < rows; i += 4) subtract_block<1>(c + j * ldc + i, ldc, a + i, a + j, ld, depth);
  }
}

[[gnu::always_inline]] inline bool factorise_all(double* panel, std::ptrdiff_t rows,
                                                 std::ptrdiff_t columns) {
  for (std::ptrdiff_t first = 0; first < columns; first += k_panel_columns) {
    const std::ptrdiff_t end = std::min(first + k_panel_columns, columns);
    subtract_all(panel + first * rows + first, rows, rows - first, end - first, panel + first, rows,
                 first);
    for (std::ptrdiff_t j = first; j < end; ++j) {
      double* const column = panel + j * rows;
      if (!(column[j] > 0)) return false;
      const double root = std::sqrt(column[j]), inverse = 1 / root;
      column[j] = root;
      for (std::ptrdiff_t i = j + 1; i < rows; ++i) column[i] *= inverse;
      for (std::ptrdiff_t other = j + 1; other < end; ++other) {
        double* const to = panel + other * rows;
        const double factor = column[other];
        for (std::ptrdiff_t i = other; i < rows; ++i) to[i] -= factor * column[i];
      }
    }
  }
  return true;
}

#ifdef __x86_64__
/// The same with wider instructions, which not all machines have. Results are the same to the bit.
[[gnu::target("avx2")]] void subtract_wide(double* c, std::ptrdiff_t ldc, std::ptrdiff_t rows,
                                           std::ptrdiff_t columns, const double* a,
                                           std::ptrdiff_t ld, std::ptrdiff_t depth) {
  subtract_all(c, ldc, rows, columns, a, ld, depth);
}
[[gnu::target("avx2")]] bool factorise_wide(double* panel, std::ptrdiff_t rows,
                                            std::ptrdiff_t columns) {
  return factorise_all(panel, rows, columns);
}
bool is_wide() {
  static const bool wide = __builtin_cpu_supports("avx2") != 0;
  return wide;
}
#endif

/// The lower part of c[rows x columns] -= a[rows x depth] a[columns x depth]', rows >= columns,
/// with the distances `ldc` and `ld` between columns. Rows and columns: multiples of 4. Blocks on
/// the diagonal are worked on as a whole.
void subtract_products(double* c, std::ptrdiff_t ldc, std::ptrdiff_t rows, std::ptrdiff_t columns,
                       const double* a, std::ptrdiff_t ld, std::ptrdiff_t depth) {
#ifdef __x86_64__
  if (is_wide()) return subtract_wide(c, ldc, rows, columns, a, ld, depth);
#endif
  subtract_all(c, ldc, rows, columns, a, ld, depth);
}

/// Cholesky's method on the first `columns` of a symmetric matrix with `rows`, multiples of 4.
/// False if it is not positive definite.
bool factorise_panel(double* panel, std::ptrdiff_t rows, std::ptrdiff_t columns) {
#ifdef __x86_64__
  if (is_wide()) return factorise_wide(panel, rows, columns);
#endif
  return factorise_all(panel, rows, columns);
}

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
