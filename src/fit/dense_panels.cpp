// SPDX-License-Identifier: BSD-3-Clause
#include "fit/dense_panels.hpp"

#include <algorithm>
#include <cmath>

namespace entrain::fit {

namespace {

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

}  // namespace

void subtract_products(double* c, std::ptrdiff_t ldc, std::ptrdiff_t rows, std::ptrdiff_t columns,
                       const double* a, std::ptrdiff_t ld, std::ptrdiff_t depth) {
#ifdef __x86_64__
  if (is_wide()) return subtract_wide(c, ldc, rows, columns, a, ld, depth);
#endif
  subtract_all(c, ldc, rows, columns, a, ld, depth);
}

bool factorise_panel(double* panel, std::ptrdiff_t rows, std::ptrdiff_t columns) {
#ifdef __x86_64__
  if (is_wide()) return factorise_wide(panel, rows, columns);
#endif
  return factorise_all(panel, rows, columns);
}

}  // namespace entrain::fit
