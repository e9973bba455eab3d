// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include <Eigen/SparseCore>

namespace entrain::causal {

/// An order in which the unknowns of a sparse symmetric matrix are eliminated, so that few entries
/// appear: that of an approximate minimum degree (Amestoy, Davis, Duff 1996). Returns the place of
/// every unknown.
///
/// Two unknowns in a row that have much the same neighbours, as two knots that one constraint
/// touches, count as one, which they would become anyway: half the unknowns have a quarter of the
/// entries.
///
/// `lower`: the lower half, the whole diagonal included, compressed.
[[nodiscard]] std::vector<std::int32_t> elimination_order(const Eigen::SparseMatrix<double>& lower);

}  // namespace entrain::causal
