// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <entrain/clock_map.hpp>

#include "trace/trace.hpp"

namespace entrain::formats {

/// Clock maps that shift all events of a clock alike, and what they leave out.
struct ConstantShifts {
  std::vector<ClockMap> maps;
  std::vector<std::int64_t> left_out;  ///< largest distance of each clock from its map, ticks
  std::string note;  ///< names the clock of which they leave out most; empty if they are exact
};

/// The shift of each clock is the middle between the least and the largest one that `maps` ask for
/// while it has events. Maps of clocks without events become identities. The first clock of a
/// process decides for all of it: they are in one file.
///
/// Example: a map adds 100 ns to the first event of a clock and 300 ns to the last one. The shift
/// is 200 ns, and up to 100 ns are left out.
ConstantShifts constant_shifts(const trace::Trace& trace, std::span<const ClockMap> maps);

}  // namespace entrain::formats
