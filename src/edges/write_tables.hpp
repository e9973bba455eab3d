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

#include "edges/list.hpp"

namespace entrain::edges {

/// Takes a piece of text; its error ends the writing.
using Sink = std::function<Result<void>(std::string_view)>;

/// How far effects come after their causes, ticks: of single edges, and of the members of
/// instances, where only those of ends that have a begin are written.
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

/// "clock,tick,offset": the knots of the maps. At stamp `tick` the common time is tick + offset;
/// between two rows of a clock the offset is a straight line, and so are its continuations. A clock
/// that keeps its times has one row.
std::string maps_csv(const Clocks& clocks, std::span<const ClockMap> maps);

/// Copies a table of CSV byte for byte, but for the digits of its times, which become those that
/// the maps give. Errors: ErrorKind::input with line and column, also for clocks that there are
/// not.
Result<void> map_table(const AlignFiles& files, const Clocks& clocks,
                       std::span<const ClockMap> maps, const Sink& sink);

}  // namespace entrain::edges
