// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include <Eigen/SparseCore>

namespace entrain::causal {

/// Returns the place of every unknown in a fill-reducing order of elimination of a sparse symmetric
/// matrix: approximate minimum degree (Amestoy, Davis, Duff 1996).
///
/// Two consecutive unknowns with nearly the same neighbours, such as two knots that one constraint
/// touches, count as one. The ordering then works on a quarter of the entries.
///
/// `lower`: the lower half, the whole diagonal included, compressed.
[[nodiscard]] std::vector<std::int32_t> elimination_order(const Eigen::SparseMatrix<double>& lower);

}  // namespace entrain::causal
