// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>

#include <entrain/align.hpp>
#include <entrain/error.hpp>

#include "formats/tables/reader.hpp"
#include "formats/tables/times.hpp"

namespace entrain::tables {

/// Reads tables of clocks and their sessions (docs/manual/align.md), in order: CSV or JSON lines.
/// `resolution_hz`: required resolution of all clocks; 0: any. `unit`: that of times. Errors:
/// ErrorKind::input, with line and column, for a clock that is described twice, times that are
/// none, two sessions at one time, and several resolutions.
Result<Clocks> read_clocks(std::span<const tables::Source> sources, std::uint64_t resolution_hz,
                           Unit unit = Unit::unnamed);

/// Refuses clocks with names that read_clocks() would refuse. Errors: ErrorKind::input.
Result<void> check_names(const Clocks& clocks);

}  // namespace entrain::tables
