// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>

#include <entrain/clock_map.hpp>
#include <entrain/clocks.hpp>
#include <entrain/report.hpp>

#include "diagnosis/clock_evidence.hpp"

namespace entrain::diagnosis {

/// The table of the clocks that have events: how `corrected` maps them, one map per location,
/// against the maps as measured. `bounds`: with rows if there are few enough, or null. Collective;
/// the same at every process.
ClockTable clock_table(const ClocksOfTrace& clocks, std::span<const ClockMap> corrected,
                       const ClockEvidence& evidence, const ClockBounds* bounds);

/// The same for the clocks as measured, of which nothing is violated. Without a graph there is no
/// evidence, and locations are tied that have equal `groups`.
ClockTable unmoved_clocks(const ClocksOfTrace& clocks, std::span<const std::uint32_t> groups);

}  // namespace entrain::diagnosis
