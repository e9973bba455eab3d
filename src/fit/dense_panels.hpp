// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

/// Cholesky's method on dense blocks, stored column by column. Sums are added in a fixed order, so
/// results are the same on every machine.
namespace entrain::fit {

/// The lower part of c[rows x columns] -= a[rows x depth] a[columns x depth]', rows >= columns,
/// with the distances `ldc` and `ld` between columns. Rows and columns: multiples of 4. Blocks on
/// the diagonal are worked on as a whole.
void subtract_products(double* c, std::ptrdiff_t ldc, std::ptrdiff_t rows, std::ptrdiff_t columns,
                       const double* a, std::ptrdiff_t ld, std::ptrdiff_t depth);

/// Cholesky's method on the first `columns` of a symmetric matrix with `rows`, multiples of 4.
/// False if it is not positive definite.
bool factorise_panel(double* panel, std::ptrdiff_t rows, std::ptrdiff_t columns);

}  // namespace entrain::fit
