// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <entrain/align.hpp>
#include <entrain/error.hpp>
#include <entrain/progress.hpp>

#include "base/edge_list.hpp"
#include "formats/tables/counters.hpp"
#include "formats/tables/reader.hpp"
#include "formats/tables/times.hpp"

namespace entrain::tables {

/// How a table of edges is written.
struct Layout {
  Unit unit = Unit::unnamed;  ///< unit of times whose column has none; unnamed: see Times
  std::vector<GivenColumn> columns{};
  std::uint64_t max_unpacked = 0;  ///< see json::TextReader
  /// Ticks per second of each clock whose whole times are no ticks of the run; 0: they are. Empty:
  /// all are.
  std::vector<std::uint64_t> clock_hz{};
};

/// The layout that the words of AlignFiles::unit and AlignFiles::columns name. Errors:
/// ErrorKind::usage.
Result<Layout> layout_of(std::string_view unit, std::string_view columns);

/// Contents of a table of edges.
struct EdgeTable {
  EdgeList list;
  std::vector<Wrap> wraps;         ///< one per clock
  std::vector<std::string> notes;  ///< assumptions, a sentence each
  std::vector<SetAside> set_aside;
};

/// Reads a table of edges (docs/manual/align.md) on `threads` threads (0: all cores). Rows stay in
/// order; instances are in the order of their first rows. Stamps of counters that wrap count on,
/// and effects stand at the ends of the steps of their clocks, but not in a table of write_edges().
/// `clocks`: if it has some, others are refused; else it gets those that the table names, numbers
/// first by value, then names. Its `name` becomes that of the source.
///
/// Errors: ErrorKind::input with line and column for rows that are damaged or refused, for two
/// begins or ends of one clock in an instance, and for a table that lacks columns;
/// ErrorKind::interrupted if `progress` (may be null) requests it. About 200 MB/s per thread.
Result<EdgeTable> read_edges(const Source& source, Clocks& clocks, unsigned threads,
                             Progress* progress, const Layout& layout = {});

}  // namespace entrain::tables
