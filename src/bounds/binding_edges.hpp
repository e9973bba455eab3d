// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>

#include "bounds/error_bounds.hpp"
#include "constraints/context.hpp"

namespace entrain::bounds {

/// The graph of a context without edges that others of the same two locations imply: errors that
/// change within `limits` meet what is left exactly if they meet all.
///
/// Between two edges of a pair of locations, the error of either clock changes by a bounded amount.
/// An edge with that much more slack than another one binds nothing. Of many messages in a short
/// time, few are left: those whose slack lies on the lower envelope of cones. `times`: of all
/// nodes along base lines, ticks. Calls of collectives stay. Nodes without edges go in a team of
/// one. Independent of the numbers of threads and processes. O(edges).
[[nodiscard]] match::Graph binding_edges(const constraints::Context& context,
                                         std::span<const std::uint32_t> clock_of,
                                         std::span<const std::int64_t> times,
                                         const RateLimits& limits);

}  // namespace entrain::bounds
