// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <entrain/report.hpp>

#include "base/name_table.hpp"
#include "formats/tables/reader.hpp"
#include "formats/tables/times.hpp"

namespace entrain::tables {

/// A row that is a begin or an end of an instance of a collective.
struct MemberRow {
  std::uint32_t instance = 0, clock = 0;  ///< numbers of names
  std::uint64_t time = 0;
  std::uint64_t line = 0;
  std::uint32_t rank = 0;
  EdgeKind kind = EdgeKind::n_to_n;
  bool is_end = false;
  bool sync = false;
  bool has_kind = false;
  bool has_rank = false;
};

/// The rows of a piece of a table of edges, with names numbered within the piece. Not thread safe.
class EdgeRows {
 public:
  /// `wants_delays`: keeps min_delay; 0 for edges without one. `times`: one per column.
  EdgeRows(bool wants_delays, std::vector<Times> times)
      : wants_delays_(wants_delays), times_(std::move(times)) {}

  /// Removes all rows, and keeps the memory.
  void clear();
  /// Adds a row; false, with the problem, if it is refused.
  bool take(const Row& row, Problem& problem);

  std::vector<std::uint32_t> cause_clock, effect_clock;
  std::vector<std::uint64_t> cause_time, effect_time;
  std::vector<std::int64_t> min_delay;
  std::vector<EdgeKind> kind;
  std::vector<MemberRow> members;
  NameTable clocks, instances;
  std::vector<std::uint64_t> clock_lines;  ///< line of the first use; index: name of a clock
  std::vector<std::size_t> clock_columns;  ///< column of the first use
  std::uint64_t other_kinds = 0;           ///< rows whose kind is a word of the user's own
  std::string other_kind;                  ///< the first such word
  /// Lines of the first time in whole ticks, and of the first one with another unit; 0: none.
  std::uint64_t in_ticks = 0, in_seconds = 0;

 private:
  bool take_edge(const Row& row, Problem& problem);
  bool take_member(const Row& row, Problem& problem);
  /// Sets all members but clock and time.
  bool describe_member(const Row& row, MemberRow& member, Problem& problem);
  bool take_time(const Row& row, std::size_t column, std::uint64_t& time, Problem& problem);
  bool add_member(MemberRow member, std::size_t clock, std::size_t time, const Row& row,
                  Problem& problem);
  bool number(const Row& row, std::size_t column, std::uint32_t& clock, Problem& problem);
  /// The kind that a row names; `other` if it is empty or a word of the user's own.
  EdgeKind kind_of(std::string_view word, EdgeKind other);

  bool wants_delays_;
  std::vector<Times> times_;  ///< index: column
};

}  // namespace entrain::tables
