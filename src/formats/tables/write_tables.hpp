// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include <entrain/align.hpp>
#include <entrain/error.hpp>
#include <entrain/report.hpp>

#include "base/edge_list.hpp"
#include "formats/tables/counters.hpp"

namespace entrain::tables {

/// Receives a piece of text; its error ends the writing.
using Sink = std::function<Result<void>(std::string_view)>;

/// Distances of effects to their causes, ticks, per edge and per member of an instance. Only ends
/// with a begin before them have one.
struct Margins {
  std::span<const std::int64_t> edges, members;
  static constexpr std::int64_t k_none =
      INT64_MIN;  ///< nothing precedes this end, or it is a begin
};

/// Writes a table that read_edges() reads: single edges first, then the begins and ends of
/// instances, all in order. Errors: those of check_names() and of `sink`.
Result<void> write_edges(const Clocks& clocks, const Edges& edges, const Margins& margins,
                         bool json, const Sink& sink);

/// A table that read_clocks() reads, as CSV.
std::string clocks_csv(const Clocks& clocks);

/// The knots of the maps as "clock,tick,offset". At stamp `tick` the common time is tick + offset;
/// between two rows of a clock, and beyond, the offset is linear. A clock that keeps its times has
/// one row. Ticks of a clock in `wraps` are those that it shows, and those behind the wrap come
/// first. Maps that are unproven say so in a further column, "verdict".
std::string maps_csv(const Clocks& clocks, std::span<const ClockMap> maps,
                     std::span<const Wrap> wraps, Verdict verdict);

/// Copies a table of CSV and maps its times; every other byte stays. Errors: ErrorKind::input with
/// line and column, also for unknown clocks, and for those that show a stamp more than once.
Result<void> map_table(const AlignFiles& files, const Clocks& clocks,
                       std::span<const ClockMap> maps, std::span<const Wrap> wraps,
                       const Sink& sink);
/// The same to a new file, packed as the table is. Errors: also ErrorKind::output.
Result<void> map_table(const AlignFiles& files, const Clocks& clocks,
                       std::span<const ClockMap> maps, std::span<const Wrap> wraps,
                       const std::filesystem::path& to);

/// The name with the ending of a file that is packed as `table` is; `table` empty: not packed.
/// Errors: ErrorKind::input where it cannot be read.
Result<std::string> named_as_packed(const std::string& name, const std::filesystem::path& table);

}  // namespace entrain::tables
