// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>

#include "causal/curvature.hpp"

namespace entrain::causal {

/// Multiplications of a factorisation with all these constraints in the matrix, about: eight knots
/// of a clock count as one unknown, or more where clocks are many. That is a small part of the work
/// of finding out exactly, and comes close where constraints are so many that each knot meets
/// others. Where they are few it is far too much.
[[nodiscard]] double estimate_work(std::size_t clocks, std::size_t knots,
                                   std::span<const FitConstraint> constraints);

}  // namespace entrain::causal
