// SPDX-License-Identifier: BSD-3-Clause
#include "formats/tables/edge_rows.hpp"

#include <limits>

#include <fmt/core.h>

#include "formats/tables/columns.hpp"
#include "trace/definitions.hpp"

namespace entrain::tables {
bool EdgeRows::take_time(const Row& row, std::size_t column, std::uint64_t& time,
                         Problem& problem) {
  const std::string_view text = row.cells[column];
  if (text.empty()) return refuse(problem, column, "is missing");
  problem.column = column;
  const Notation notation = times_[column].parse(text, time, problem.text);
  std::uint64_t& line =
      notation == Notation::whole && times_[column].in_ticks() ? in_ticks : in_seconds;
  if (line == 0) line = row.line;
  return notation != Notation::none;
}

void EdgeRows::clear() {
  cause_clock.clear(), effect_clock.clear(), cause_time.clear(), effect_time.clear();
  min_delay.clear(), kind.clear(), members.clear();
  clocks = {}, instances = {};
  clock_lines.clear(), clock_columns.clear();
  other_kinds = 0;
  other_kind.clear();
  in_ticks = in_seconds = 0;
}

EdgeKind EdgeRows::kind_of(std::string_view word, EdgeKind other) {
  if (word.empty()) return other;
  for (std::size_t k = 0; k < k_edge_kinds; ++k) {
    if (word == name_of(static_cast<EdgeKind>(k))) return static_cast<EdgeKind>(k);
  }
  if (other_kinds++ == 0) other_kind = word;
  return other;
}

bool EdgeRows::number(const Row& row, std::size_t column, std::uint32_t& clock, Problem& problem) {
  clock = clocks.number(row.cells[column]);
  if (clock < clock_lines.size()) return true;
  problem.column = column;
  if (!is_name(row.cells[column], problem.text)) return false;
  clock_lines.push_back(row.line);
  clock_columns.push_back(column);
  return true;
}

bool EdgeRows::take(const Row& row, Problem& problem) {
  if (!row.cells[k_instance].empty()) return take_member(row, problem);
  if (!row.cells[k_role].empty()) {
    return refuse(problem, k_instance, "is missing beside a role");
  }
  return take_edge(row, problem);
}

bool EdgeRows::take_edge(const Row& row, Problem& problem) {
  std::uint32_t cause = 0, effect = 0;
  std::uint64_t from = 0, to = 0;
  std::int64_t delay = 0;
  if (!number(row, k_cause_clock, cause, problem) || !take_time(row, k_cause_time, from, problem) ||
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

bool EdgeRows::describe_member(const Row& row, MemberRow& member, Problem& problem) {
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

bool EdgeRows::take_member(const Row& row, Problem& problem) {
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

bool EdgeRows::add_member(MemberRow member, std::size_t clock, std::size_t time, const Row& row,
                          Problem& problem) {
  if (!number(row, clock, member.clock, problem)) return false;
  if (!take_time(row, time, member.time, problem)) return false;
  members.push_back(member);
  return true;
}

}  // namespace entrain::tables
