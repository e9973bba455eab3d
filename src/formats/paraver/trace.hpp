// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include <entrain/clock_map.hpp>
#include <entrain/error.hpp>

#include "base/edge_list.hpp"
#include "formats/paraver/calls.hpp"
#include "formats/paraver/records.hpp"

namespace entrain::paraver {

/// The times of a clock.
struct ClockTimes {
  std::uint64_t count = 0, first = 0, last = 0;
  std::uint64_t hash = 0;  ///< hash of the records that begin on it, in order, without times
};

/// A trace as kept in memory.
struct Trace {
  std::filesystem::path path;
  std::uint64_t max_unpacked = 0;  ///< parameter of json::Window
  TextFacts facts;
  Header header;
  std::vector<ClockTimes> clocks;
  Calls calls;
  EdgeList messages;               ///< one edge per message between clocks
  std::uint64_t all_messages = 0;  ///< messages, also those inside a clock
  std::uint64_t alone_ends = 0;    ///< ends of collectives without a begin
  std::uint64_t unread_lines = 0;  ///< neither records that are known nor comments
  std::uint64_t unread_rests = 0;  ///< records with more than their events
  bool ends_inside_record = false;
  bool whole_us = true;  ///< all times in ns are multiples of 1,000
};

/// Errors: those of parse_header() and for_each_line().
Result<Trace> read_trace(const std::filesystem::path& path, std::uint64_t max_unpacked);

/// Calls `see(line)` for all lines of a trace that was read. Errors: ErrorKind::input if it has
/// changed; those of `see`.
Result<void> for_each_line_again(const Trace& trace,
                                 const std::function<Result<void>(std::string_view)>& see);

/// Same for its records.
template <class See>
Result<void> for_each_record(const Trace& trace, const See& see) {
  Record record;
  return for_each_line_again(trace, [&](std::string_view line) -> Result<void> {
    return record.parse(line, trace.header) ? see(record) : Result<void>();
  });
}

/// Writes a copy with mapped times. All times are later by one distance where the first one would
/// be negative. The records of each clock keep their order; those of several are in order of their
/// new times, as they were. The end that the header tells stays as far behind the last time.
/// Errors: ErrorKind::output, ErrorKind::input if the trace has changed.
Result<void> write_trace(const std::filesystem::path& to, const Trace& trace,
                         std::span<const ClockMap> maps);

}  // namespace entrain::paraver
