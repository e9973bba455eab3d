// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <entrain/clock_map.hpp>
#include <entrain/error.hpp>

namespace entrain::trace {

/// outer(inner(t)) as one map, for increasing maps and times that inner does not make negative.
///
/// Exact at the knots of `inner`, and within two ticks elsewhere between the first and the last
/// knot of `outer`: the composition of the maps rounds twice, one map only once, and a bend of
/// `outer` may fall between two ticks. Increasing again, as far as one tick of rounding goes: with
/// a rate below 1 two neighbouring ticks may become one, but never change order.
Result<ClockMap> composed(const ClockMap& inner, const ClockMap& outer);

/// The map by which a clock shows the time of a reference: `reference` and `map` are those of both
/// to another time. The map itself, if an offset is out of range.
ClockMap seen_from(const ClockMap& reference, const ClockMap& map);

}  // namespace entrain::trace
