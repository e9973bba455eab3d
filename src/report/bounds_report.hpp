// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include <entrain/report.hpp>

#include "report/json.hpp"
#include "report/table.hpp"

namespace entrain::report {

/// Says in two or three sentences how far the times may be trusted, under which conditions, and
/// which clocks are not bounded at all. Ends with a newline.
std::string bounds_text(const ClockBounds& bounds, std::uint64_t resolution_hz, const Style& style);

/// The same for machines, with one object per location; {"reason"} alone if there are no bounds.
Json bounds_json(const ClockBounds& bounds, std::uint64_t resolution_hz);

/// ClockBounds::rows as a table: one line per location and window, times and offsets in ticks, the
/// bound in seconds. Cells without a bound are empty.
std::string bounds_csv(const ClockBounds& bounds, std::uint64_t resolution_hz);

}  // namespace entrain::report
