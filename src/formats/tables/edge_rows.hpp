// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <entrain/report.hpp>

#include "base/name_table.hpp"
#include "base/stray_times.hpp"
#include "formats/tables/columns.hpp"
#include "formats/tables/reader.hpp"
#include "formats/tables/times.hpp"
#include "trace/definitions.hpp"

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
  void clear() {
    cause_clock.clear(), effect_clock.clear(), cause_time.clear(), effect_time.clear();
    min_delay.clear(), kind.clear(), members.clear();
    clocks = {}, instances = {};
    clock_lines.clear(), clock_columns.clear();
    other_kinds = 0;
    other_kind.clear();
    lines = {};
  }
  /// Adds a row; false, with the problem, if it is refused.
  bool take(const Row& row, Problem& problem) {
    if (!row.cells[k_instance].empty()) return take_member(row, problem);
    if (!row.cells[k_role].empty()) {
      return refuse(problem, k_instance, "is missing beside a role");
    }
    return take_edge(row, problem);
  }

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
  /// Lines of the first time in each notation, in that of whole numbers only if these are ticks; 0:
  /// none.
  std::array<std::uint64_t, k_notations> lines{};

 private:
  bool take_edge(const Row& row, Problem& problem) {
    std::uint32_t cause = 0, effect = 0;
    std::uint64_t from = 0, to = 0;
    std::int64_t delay = 0;
    if (!number(row, k_cause_clock, cause, problem) ||
        !take_time(row, k_cause_time, from, problem) ||
        !number(row, k_effect_clock, effect, problem) ||
        !take_time(row, k_effect_time, to, problem)) {
      return false;
    }
    if (wants_delays_) {
      problem.column = k_min_delay;
      if (!row.cells[k_min_delay].empty() &&
          !times_[k_min_delay].parse_distance(row.cells[k_min_delay], delay, problem.text)) {
        return false;
      }
      if (delay < 0) {
        return tables::refuse(row.cells[k_min_delay], "is negative", problem.text);
      }
      if (delay > trace::k_largest_mu) {
        return refuse(problem, k_min_delay, "is more than 2^52 ticks");
      }
      min_delay.push_back(delay);
    }
    cause_clock.push_back(cause);
    cause_time.push_back(from);
    effect_clock.push_back(effect);
    effect_time.push_back(to);
    kind.push_back(kind_of(row.cells[k_kind], EdgeKind::p2p));
    return true;
  }
  bool take_member(const Row& row, Problem& problem) {
    const auto& cells = row.cells;
    const std::string_view role = cells[k_role];
    MemberRow member;
    if (!describe_member(row, member, problem)) return false;
    if (!role.empty() && role != "begin" && role != "end") {
      return refuse(problem, k_role, fmt::format("\"{}\" is neither begin nor end", role));
    }
    // The place of a begin and of an end: columns of clock and time.
    using Place = std::pair<std::size_t, std::size_t>;
    Place begin{k_cause_clock, k_cause_time}, end{k_effect_clock, k_effect_time};
    bool begins = !cells[k_cause_clock].empty(), ends = !cells[k_effect_clock].empty();
    if (!cells[k_member_clock].empty()) {
      begin = {k_member_clock, k_begin}, end = {k_member_clock, k_end};
      begins = !cells[k_begin].empty(), ends = !cells[k_end].empty();
    } else if (!role.empty() && begins != ends) {  // a role says more than the column
      (role == "begin" ? begin : end) = begins ? begin : end;
      begins = ends = true;
    }
    if (!begins && !ends) return refuse(problem, k_cause_clock, "neither begin nor end is there");
    if (role == "begin") ends = false;
    if (role == "end") begins = false;
    if (!begins && !ends) return refuse(problem, k_role, "the time of that role is missing");
    if (begins && !add_member(member, begin.first, begin.second, row, problem)) return false;
    member.is_end = true;
    return !ends || add_member(member, end.first, end.second, row, problem);
  }
  /// Sets all members but clock and time.
  bool describe_member(const Row& row, MemberRow& member, Problem& problem) {
    const auto& cells = row.cells;
    member.line = row.line;
    problem.column = k_instance;
    if (!is_name(cells[k_instance], problem.text)) return false;
    member.instance = instances.number(cells[k_instance]);
    member.has_kind = !cells[k_kind].empty();
    member.kind = kind_of(cells[k_kind], EdgeKind::n_to_n);
    if (!cells[k_min_delay].empty() && cells[k_min_delay] != "0") {
      return refuse(problem, k_min_delay, "counts for single edges only");
    }
    problem.column = k_sync;
    if (!cells[k_sync].empty() && !tables::parse_bool(cells[k_sync], member.sync, problem.text)) {
      return false;
    }
    std::uint64_t rank = 0;
    problem.column = k_rank;
    if (!cells[k_rank].empty() && !parse_ticks(cells[k_rank], rank, problem.text)) return false;
    if (rank > std::numeric_limits<std::uint32_t>::max()) {
      return refuse(problem, k_rank, "is too large");
    }
    member.rank = static_cast<std::uint32_t>(rank);
    member.has_rank = !cells[k_rank].empty();
    return true;
  }
  bool take_time(const Row& row, std::size_t column, std::uint64_t& time, Problem& problem) {
    const std::string_view text = row.cells[column];
    if (text.empty()) return refuse(problem, column, "is missing");
    problem.column = column;
    if (is_negative_without_sign(text)) {
      time = k_no_time;
      return true;
    }
    Notation notation = times_[column].parse(text, time, problem.text);
    if (notation == Notation::whole && !times_[column].in_ticks()) notation = Notation::decimal;
    std::uint64_t& line = lines[static_cast<std::size_t>(notation)];
    if (line == 0) line = row.line;
    return notation != Notation::none;
  }
  bool add_member(MemberRow member, std::size_t clock, std::size_t time, const Row& row,
                  Problem& problem) {
    if (!number(row, clock, member.clock, problem)) return false;
    if (!take_time(row, time, member.time, problem)) return false;
    members.push_back(member);
    return true;
  }
  bool number(const Row& row, std::size_t column, std::uint32_t& clock, Problem& problem) {
    clock = clocks.number(row.cells[column]);
    if (clock < clock_lines.size()) return true;
    problem.column = column;
    if (!is_name(row.cells[column], problem.text)) return false;
    clock_lines.push_back(row.line);
    clock_columns.push_back(column);
    return true;
  }
  /// The kind that a row names; `other` if it is empty or a word of the user's own.
  EdgeKind kind_of(std::string_view word, EdgeKind other) {
    if (word.empty()) return other;
    for (std::size_t k = 0; k < k_edge_kinds; ++k) {
      if (word == name_of(static_cast<EdgeKind>(k))) return static_cast<EdgeKind>(k);
    }
    if (other_kinds++ == 0) other_kind = word;
    return other;
  }

  bool wants_delays_;
  std::vector<Times> times_;  ///< index: column
};

}  // namespace entrain::tables
