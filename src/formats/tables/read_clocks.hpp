// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <entrain/align.hpp>
#include <entrain/error.hpp>

#include "formats/tables/reader.hpp"
#include "formats/tables/times.hpp"

namespace entrain::tables {

/// Reads tables of clocks and their sessions (docs/manual/align.md), in order: CSV or JSON lines.
/// `resolution_hz`: required resolution of all clocks; 0: any. `unit`: that of times. `clock_hz`:
/// gets Layout::clock_hz; clocks may then have several resolutions, of which the highest one is
/// that of the run. Errors: ErrorKind::input, with line and column, for a clock that is described
/// twice, times that are none, two sessions at one time, and other resolutions.
Result<Clocks> read_clocks(std::span<const Source> sources, std::uint64_t resolution_hz,
                           Unit unit = Unit::unnamed,
                           std::vector<std::uint64_t>* clock_hz = nullptr);

/// Refuses clocks with names that read_clocks() would refuse. Errors: ErrorKind::input.
Result<void> check_names(const Clocks& clocks);

}  // namespace entrain::tables
