// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>

#include "fit/terms.hpp"

namespace entrain::fit {

/// Estimates the multiplications of a factorisation with all these constraints: eight or more knots
/// of a clock count as one unknown. It takes a small part of the time of an exact count. The
/// estimate is close if constraints touch most knots, and far too large if they are few.
[[nodiscard]] double estimate_work(std::size_t clocks, std::size_t knots,
                                   std::span<const FitConstraint> constraints);

}  // namespace entrain::fit
