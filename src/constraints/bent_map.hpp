// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include <entrain/clock_map.hpp>
#include <entrain/error.hpp>

#include "trace/trace.hpp"

namespace entrain::constraints {

/// Adds a move to a map of a clock with events: `move`, ticks, is a function of the map's time that
/// is linear between `times`, ascending. Flushes stay straight. Errors: as ClockMap::from_knots();
/// ErrorKind::input if time would run backward.
///
/// Example: the identity, times 0, 100 and 200, moves 0, 8 and 0. The stamp 50 gets the time 54.
Result<ClockMap> bent_map(const ClockMap& map, const trace::LocationSkeleton& stamps,
                          std::span<const std::int64_t> times,
                          const std::function<std::int64_t(std::int64_t)>& move);

}  // namespace entrain::constraints
