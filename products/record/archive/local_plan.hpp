// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "record/clocks/clock_points.hpp"

namespace entrain::record {

/// The content of the local definitions of one process: the global number of each of its own
/// numbers, and its clock records.
struct LocalPlan {
  std::map<std::uint32_t, std::uint32_t> regions, comms, windows, groups,
      strings;  ///< local -> global
  std::vector<ClockPoint> points;
};

/// A plan as text, which rank 0 sends to the plan's process, and back.
std::string to_text(const LocalPlan& plan);
LocalPlan parse_plan(const std::string& text);

/// Writes local definitions; without the clock records in the archive with true times.
void write_local(OTF2_DefWriter* writer, const LocalPlan& plan, bool with_clock);

}  // namespace entrain::record
