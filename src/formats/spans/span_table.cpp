// SPDX-License-Identifier: BSD-3-Clause
#include "formats/spans/reader.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/ranges.h>

#include "base/fail.hpp"
#include "base/try.hpp"
#include "formats/tables/columns.hpp"
#include "formats/tables/reader.hpp"
#include "formats/tables/times.hpp"

namespace entrain::spans {
namespace {

using tables::Notation;
using tables::Times;
using tables::Unit;

constexpr std::array<std::string_view, 11> k_span_columns{"trace",   "span",     "parent", "start",
                                                          "end",     "duration", "host",   "pod",
                                                          "service", "kind",     "name"};
constexpr int k_most_decimals = 9;  ///< decimals of a second, in ns
constexpr std::size_t k_trace = 0, k_span = 1, k_parent = 2, k_start = 3, k_end = 4, k_duration = 5,
                      k_host = 6, k_pod = 7, k_service = 8, k_kind = 9, k_name = 10;

/// Names to look for, in small letters; case does not count.
constexpr std::array<std::string_view, 11> k_other_span_columns{
    "trace traceid trace_id trace.id trace-id",
    "span spanid span_id span.id span-id id",
    "parent parentid parent_id parentspanid parent_span_id parentspan parent_span parent.id psid",
    "start starttimeunixnano start_time_unix_nano starttime start_time start_timestamp begin "
    "begin_time "
    "timestamp startedat started_at time",
    "end endtimeunixnano end_time_unix_nano endtime end_time end_timestamp finish finish_time "
    "endedat "
    "ended_at",
    "duration durationnano duration_nano elapsed elapsed_time latency rt dur",
    "host hostname host_name host.name node nodename node_name k8s.node.name machine",
    "pod podname pod_name k8s.pod.name cmdb_id instance instance_id container container_name",
    "service servicename service_name service.name app application microservice",
    "kind spankind span_kind span.kind",
    "name operationname operation_name operation spanname span_name rpc method"};

Result<tables::Reader> open_table(std::string_view text, const std::string& name,
                                  std::string_view columns) {
  constexpr std::array k_times{k_start, k_end, k_duration};
  TRY_ASSIGN(auto given, tables::columns_of(columns, k_span_columns, k_times));
  TRY_ASSIGN(tables::Reader reader,
             tables::Reader::open({name, text}, k_span_columns,
                                  {.given = std::move(given), .others = k_other_span_columns}));
  if (reader.is_json()) return input_error("{} is no table of CSV", name);
  for (const std::size_t column : {k_trace, k_span, k_start}) {
    if (!reader.has(column)) return reader.missing(column);
  }
  if (!reader.has(k_end) && !reader.has(k_duration)) return reader.missing(k_end);
  return reader;
}

/// True for a table of edges: one that names clocks and times of both of their ends.
bool is_edge_table(std::string_view beginning) {
  const auto reader = tables::Reader::open({"", beginning}, tables::k_edge_columns,
                                           {.others = tables::k_other_edge_columns});
  return reader && reader->has(tables::k_cause_clock) && reader->has(tables::k_cause_time) &&
         reader->has(tables::k_effect_clock) && reader->has(tables::k_effect_time);
}

/// A unit by ns.
struct NamedUnit {
  std::uint32_t ns = 1;
  Unit unit = Unit::ns;
  const char* name = "ns";
};
constexpr std::array<NamedUnit, 4> k_named_units{{{1, Unit::ns, "ns"},
                                                  {1000, Unit::us, "us"},
                                                  {1'000'000, Unit::ms, "ms"},
                                                  {1'000'000'000, Unit::s, "s"}}};
const NamedUnit& unit_of_ns(std::uint32_t ns) {
  return *std::ranges::find(k_named_units, ns, &NamedUnit::ns);
}

/// ns per unit of whole numbers; 1 for a unit that nobody named.
std::uint32_t ns_per(Unit unit) {
  const auto* const known = std::ranges::find(k_named_units, unit, &NamedUnit::unit);
  return known == k_named_units.end() ? 1 : known->ns;
}

Times times_in(std::uint32_t unit) { return {ns_per(Unit::s), unit_of_ns(unit).unit}; }

/// A time of a cell, ns; empty if it is none. Sets the notation of one that is no whole number.
std::optional<std::uint64_t> time_in(std::string_view cell, std::uint32_t unit,
                                     Notation* notation = nullptr) {
  if (const auto whole = tables::whole_number(cell);
      whole && *whole <= tables::k_most_stamp / unit) {
    return *whole * unit;  // most cells, and much faster
  }
  std::uint64_t ns = 0;
  std::string why;
  const Notation found = times_in(unit).parse(cell, ns, why);
  if (notation != nullptr) *notation = found;
  return found == Notation::none ? std::nullopt : std::optional(ns);
}

constexpr std::uint8_t bit_of(Notation notation) {
  return static_cast<std::uint8_t>(1U << static_cast<unsigned>(notation));
}

bool is_date(std::string_view cell) { return cell.find(':') != std::string_view::npos; }

std::uint8_t decimals_of(std::string_view cell) {
  if (cell.find_first_of(".,") == std::string_view::npos) return 0;
  return static_cast<std::uint8_t>(std::min(tables::decimals_of(cell), k_most_decimals));
}

/// ns between two times of a unit that can be written with so many decimals.
std::uint32_t step_of(std::string_view cell, std::uint32_t unit, std::uint8_t decimals) {
  std::uint32_t step = is_date(cell) ? ns_per(Unit::s) : unit;
  for (; decimals > 0; --decimals) step = std::max<std::uint32_t>(step / 10, 1);
  return step;
}

std::int64_t nearest(std::int64_t time, std::uint32_t step) {
  return (time + step / 2) / step * step;
}

/// Words that stand in the place of a parent.
bool is_no_parent(std::string_view parent) {
  std::string lower(parent);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  constexpr std::array<std::string_view, 8> k_none_words{"root", "null", "none", "nan",
                                                         "nil",  "-1",   "-",    "\\n"};
  return std::ranges::find(k_none_words, lower) != k_none_words.end();
}

/// Cells of the first rows.
struct Sample {
  std::string start, end, duration;
  std::array<std::string, 2> id, parent;  ///< ids of a trace
  std::array<std::string, 3> place;
  std::uint64_t line = 0;
};

/// The unit in which most numbers are times from 2000 to 2100; 0 if there is none.
std::uint32_t unit_of_times(std::span<const Sample> rows, std::string Sample::*column) {
  constexpr std::uint64_t k_from = 946'684'800'000'000'000, k_until = 4'102'444'800'000'000'000;
  const auto count_of = [&](std::uint32_t unit, std::uint64_t from) {
    return std::ranges::count_if(rows, [&](const Sample& row) {
      const std::uint64_t time = time_in(row.*column, unit).value_or(0);
      return time > 0 && (is_date(row.*column) || (time >= from && time < k_until));
    });
  };
  const auto numbers = count_of(k_ns, 1);
  const auto* const unit = std::ranges::find_if(
      k_named_units, [&](const NamedUnit& one) { return 2 * count_of(one.ns, k_from) > numbers; });
  return unit == k_named_units.end() ? 0 : unit->ns;
}

/// The unit of the copies of lengths beside begins and ends, which may be known; 0 if they are
/// none.
std::uint32_t unit_of_copies(std::span<const Sample> rows, const TableUnits& units) {
  std::uint32_t best = 0;
  std::size_t most = rows.size() / 2;
  for (const auto& [unit, kind, name] : k_named_units) {
    if (units.duration != 0 && units.duration != unit) continue;
    std::size_t count = 0;
    for (const Sample& row : rows) {
      const auto begin = time_in(row.start, units.start), end = time_in(row.end, units.end);
      const auto length = time_in(row.duration, unit);
      if (!begin || !end || !length || *end < *begin) continue;
      const std::uint64_t exact = *end - *begin;
      const std::uint64_t apart = std::max(*length, exact) - std::min(*length, exact);
      count += apart < step_of(row.duration, unit, decimals_of(row.duration)) ? 1 : 0;
    }
    if (count > most) best = unit, most = count;
  }
  return best;
}

/// True if most children lie inside their parents of the same place by lengths of a unit; false if
/// there are none.
bool nest(std::span<const Sample> rows, std::uint32_t start, std::uint32_t unit) {
  std::map<std::array<std::string, 2>, const Sample*> of_id;
  for (const Sample& row : rows) of_id.emplace(row.id, &row);
  std::size_t inside = 0, pairs = 0;
  for (const Sample& row : rows) {
    const auto known = of_id.find(row.parent);
    if (known == of_id.end() || known->second->place != row.place) continue;
    const Sample& parent = *known->second;
    const auto begin = time_in(row.start, start), since = time_in(parent.start, start);
    const auto length = time_in(row.duration, unit), whole = time_in(parent.duration, unit);
    if (!begin || !since || !length || !whole) continue;
    ++pairs;
    const std::uint64_t step = step_of(row.start, start, decimals_of(row.start));
    inside += *begin + *length < *since + *whole + step ? 1 : 0;
  }
  return inside * 2 > pairs;
}

Result<TableUnits> units_of(const tables::Reader& reader, std::span<const Sample> rows) {
  const auto named = [&](std::size_t column) -> std::uint32_t {
    return reader.has(column) && reader.unit_of(column) > Unit::ticks
               ? ns_per(reader.unit_of(column))
               : 0;
  };
  TableUnits units{named(k_start), named(k_end), named(k_duration)};
  const auto unknown = [&](std::size_t column) {
    for (const Sample& row : rows) {  // a time that cannot be read says more
      const auto& cell = column == k_start ? row.start : column == k_end ? row.end : row.duration;
      std::uint64_t ns = 0;
      std::string why;
      if (cell.empty() || times_in(k_ns).parse(cell, ns, why) != Notation::none) continue;
      return reader.problem(row.line, {column, why});
    }
    return reader.problem(
        1, {column, fmt::format("the unit of its numbers is unknown; --columns names it, as "
                                "{}=NAME[us]",
                                k_span_columns[column])});
  };
  if (units.start == 0) units.start = unit_of_times(rows, &Sample::start);
  if (units.start == 0) return unknown(k_start);
  if (reader.has(k_end)) {
    if (units.end == 0) units.end = unit_of_times(rows, &Sample::end);
    if (units.end == 0) return unknown(k_end);
    if (reader.has(k_duration)) units.duration = unit_of_copies(rows, units);
  } else if (units.duration == 0) {
    // The unit of begins, if lengths 1000 times smaller would be too small.
    const bool is_proven = !rows.empty() && !is_date(rows.front().start) &&
                           nest(rows, units.start, units.start) &&
                           (units.start == k_ns || !nest(rows, units.start, units.start / 1000));
    if (!is_proven) return unknown(k_duration);
    units.duration = units.start;
  }
  return units;
}

/// Says which columns and units nobody named; empty if there are none.
std::string guesses_of(const tables::Reader& reader, const TableUnits& units,
                       std::span<const Sample> rows) {
  std::vector<std::string> parts;
  const auto add = [&](std::size_t column, std::uint32_t unit, std::string_view cell) {
    if (unit == 0 || reader.unit_of(column) > Unit::ticks || is_date(cell)) return;
    parts.push_back(fmt::format("{} in {}", reader.name_of(column), unit_of_ns(unit).name));
  };
  const Sample first = rows.empty() ? Sample() : rows.front();
  add(k_start, units.start, first.start);
  add(k_end, units.end, first.end);
  add(k_duration, units.duration, first.duration);
  const std::vector<std::string>& names = reader.guesses();
  if (names.empty() && parts.empty()) return "";
  return fmt::format("columns: {}{}{}; --columns names others", fmt::join(names, ", "),
                     names.empty() || parts.empty() ? "" : "; ", fmt::join(parts, ", "));
}

}  // namespace

Result<void> check_span_table(std::string_view beginning, const std::string& name,
                              std::string_view columns) {
  TRY(open_table(beginning, name, columns));
  return {};
}

bool is_span_table(std::string_view beginning, std::string_view columns) {
  constexpr std::string_view k_opens = "{[";
  const std::size_t first = beginning.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || k_opens.find(beginning[first]) != std::string_view::npos) {
    return false;
  }
  return check_span_table(beginning, "", columns) &&
         (!columns.empty() || !is_edge_table(beginning));
}

std::string cell_text(const Stamp& stamp, std::string_view text, std::int64_t time,
                      std::int64_t since) {
  const Times times = times_in(stamp.unit);
  if (stamp.since == k_no_length) return times.written(time, text, stamp.decimals);
  std::int64_t length = time - nearest(since, stamp.since_step);
  if (length == static_cast<std::int64_t>(stamp.time - stamp.since)) return std::string(text);
  if (stamp.truncated) length -= step_of(text, stamp.unit, stamp.decimals) / 2;
  return times.written(std::max<std::int64_t>(length, 0), text, stamp.decimals);
}

Number Reader::cell_number(std::string_view cell, std::uint32_t unit, std::size_t at,
                           std::uint8_t& notations) const {
  Number number;
  Notation notation = Notation::none;
  if (const auto time = time_in(cell, unit, &notation)) {
    notations |= bit_of(notation);
    number.value = *time;
    number.digits = text_.substr(at, cell.size());
  } else {
    number.invalid = cell;
  }
  return number;
}

void Reader::table_row(std::span<const std::string_view> cells, std::string_view piece,
                       std::size_t at, const TableUnits& units) {
  const auto number = [&](std::size_t column, std::uint32_t unit) {
    return cell_number(cells[column], unit,
                       at + static_cast<std::size_t>(cells[column].data() - piece.data()),
                       notations_[column]);
  };
  Draft& draft = draft_;
  draft.trace = id_in(cells[k_trace], k_trace_digits);
  draft.id = id_in(cells[k_span], k_span_digits);
  draft.parent = is_no_parent(cells[k_parent]) ? Id() : id_in(cells[k_parent], k_span_digits);
  draft.name = cells[k_name];
  draft.role = role_of(cells[k_kind]);
  names_roles_ |= !cells[k_kind].empty();
  for (const auto& [column, sign] :
       {std::pair(k_host, Sign::host), {k_pod, Sign::pod}, {k_service, Sign::service}}) {
    draft.place.signs[static_cast<std::size_t>(sign)] = cells[column];
  }
  const bool has_end = units.end != 0;
  draft.begin = number(k_start, units.start);
  const Number length = units.duration == 0 ? Number() : number(k_duration, units.duration);
  draft.end = has_end ? number(k_end, units.end) : length;
  const std::uint32_t clock = owner_of(draft);
  // Until all rows are known, a stamp has its column in place of the decimals there.
  const auto set_unit = [&](std::size_t count, std::uint32_t unit, std::size_t column) {
    if (stamps_->size() == count) return false;
    stamps_->back().unit = unit;
    stamps_->back().decimals = static_cast<std::uint8_t>(column);
    most_decimals_[column] = std::max(most_decimals_[column], decimals_of(cells[column]));
    return true;
  };
  std::size_t count = stamps_->size();
  stamp(draft.begin, k_ns, clock);
  set_unit(count, units.start, k_start);
  if (has_end) {
    count = stamps_->size();
    stamp(draft.end, k_ns, clock);
    set_unit(count, units.end, k_end);
  }
  const std::uint64_t exact =
      has_end ? draft.end.value - std::min(draft.begin.value, draft.end.value) : length.value;
  const std::uint32_t step = step_of(length.digits, units.duration, decimals_of(length.digits));
  const bool is_copy = !length.digits.empty() && step > 0;  // else lengths have no unit
  const bool truncated = is_copy && has_end && length.value == exact / step * step;
  if (is_copy && (truncated || length.value == static_cast<std::uint64_t>(nearest(
                                                   static_cast<std::int64_t>(exact), step)))) {
    count = stamps_->size();
    Number whole = length;
    whole.value = exact;
    stamp_length(whole, draft.begin, k_ns, clock);
    if (set_unit(count, units.duration, k_duration)) {
      stamps_->back().since_step = step_of(draft.begin.digits, units.start, 0);
      stamps_->back().truncated = truncated;
    }
  }
  take(draft, k_ns, !has_end, clock);
}

Result<void> Reader::table(std::string_view columns) {
  constexpr std::size_t k_most_rows = 1000;
  form_ = Stamp::Form::cell;
  draft_.marked = true;  // rows have no attributes
  draft_.has_place = true;
  std::vector<Stamp> own;
  if (stamps_ == nullptr) stamps_ = &own;
  // A last row whose line does not end may lack digits.
  const std::size_t whole = text_.rfind('\n') + 1;
  const bool is_cut = whole > 0 && whole < text_.size();
  spans_.cut_files += is_cut ? 1 : 0;
  TRY_ASSIGN(tables::Reader reader,
             open_table(is_cut ? text_.substr(0, whole) : text_, name_, columns));
  const State before = state();
  TableUnits units;
  for (std::size_t at = reader.header().size();; at += reader.text(0).size()) {
    TRY_ASSIGN(const std::size_t pieces, reader.next(1));
    if (pieces == 0) break;
    if (units.start == 0) {
      std::vector<Sample> rows;
      TRY(reader.rows(0, [&](const tables::Row& row, tables::Problem&) {
        if (rows.size() < k_most_rows) {
          const auto cell = [&](std::size_t column) { return std::string(row.cells[column]); };
          rows.push_back({.start = cell(k_start),
                          .end = cell(k_end),
                          .duration = cell(k_duration),
                          .id = {cell(k_trace), cell(k_span)},
                          .parent = {cell(k_trace), cell(k_parent)},
                          .place = {cell(k_host), cell(k_pod), cell(k_service)},
                          .line = row.line});
        }
        return true;
      }));
      TRY_ASSIGN(units, units_of(reader, rows));
      const std::string guesses = guesses_of(reader, units, rows);
      const bool is_known = std::ranges::find(spans_.guesses, guesses) != spans_.guesses.end();
      if (!guesses.empty() && !is_known) spans_.guesses.push_back(guesses);
      spans_.unit =
          std::max<std::uint64_t>(spans_.unit, std::min<std::uint64_t>(units.start, k_ms));
    }
    const Result<void> done = reader.rows(0, [&](const tables::Row& row, tables::Problem& problem) {
      table_row(row.cells, reader.text(0), at, units);
      constexpr auto k_both = bit_of(Notation::local_date) | bit_of(Notation::date);
      const unsigned times = notations_[k_start] | notations_[k_end];
      if ((times & k_both) != k_both) return has_memory();
      return tables::refuse(problem, (notations_[k_start] & k_both) == k_both ? k_start : k_end,
                            std::string(tables::k_mixed_zones));
    });
    TRY(memory_);
    TRY(done);
  }
  settle(before, [](const std::string&) { return Place(); });
  if (!names_roles_) {
    for (Span& span : std::span(spans_.all).subspan(before.spans)) span.role = Role::unnamed;
  }
  spans_.units = {.has_lengths = units.end == 0};
  for (Stamp& stamp : std::span(*stamps_).subspan(before.stamps)) {
    const std::size_t column = stamp.decimals;
    stamp.decimals = most_decimals_[column];
    if (column != k_duration || spans_.units.has_lengths) {
      std::uint32_t& unit = column == k_start ? spans_.units.begin : spans_.units.end;
      unit =
          std::max(unit, step_of(text_.substr(stamp.at, stamp.size), stamp.unit, stamp.decimals));
    }
    for (std::uint8_t i = 0; i < most_decimals_[k_start]; ++i) {
      stamp.since_step = std::max<std::uint32_t>(stamp.since_step / 10, 1);
    }
  }
  return {};
}

}  // namespace entrain::spans
