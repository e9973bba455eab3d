// SPDX-License-Identifier: BSD-3-Clause
#include "formats/spans/reader.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>

#include <fmt/ranges.h>

#include "base/text.hpp"
#include "base/try.hpp"
#include "formats/tables/columns.hpp"
#include "formats/tables/reader.hpp"

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
constexpr std::array k_times{k_start, k_end, k_duration};

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

/// Words that stand in the place of a parent.
bool is_no_parent(std::string_view parent) {
  constexpr std::array<std::string_view, 8> k_none_words{"root", "null", "none", "nan",
                                                         "nil",  "-1",   "-",    "\\n"};
  return std::ranges::find(k_none_words, in_small_letters(parent)) != k_none_words.end();
}

/// Per column up to the last of a time.
template <class T>
using PerColumn = std::array<T, k_duration + 1>;

/// Units of the times in the columns of a table, ns. They are given, or what the names of the
/// columns end in; else those in which the first rows are of this age, and lengths the distances of
/// begins and ends. 0: there is no such column; of durations also where they are no lengths of the
/// spans.
using TableUnits = PerColumn<std::uint32_t>;

/// Cells of one of the first rows.
struct Sample {
  std::array<std::string, k_span_columns.size()> cells;
  std::uint64_t line = 0;

  const std::string& operator[](std::size_t column) const { return cells[column]; }
};

/// The unit in which most numbers are times from 2000 to 2100; 0 if there is none.
std::uint32_t unit_of_times(std::span<const Sample> rows, std::size_t column) {
  constexpr std::uint64_t k_from = 946'684'800'000'000'000, k_until = 4'102'444'800'000'000'000;
  const auto count_of = [&](std::uint32_t unit, std::uint64_t from) {
    return std::ranges::count_if(rows, [&](const Sample& row) {
      const std::uint64_t time = time_in(row[column], unit).value_or(0);
      return time > 0 && (is_date(row[column]) || (time >= from && time < k_until));
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
    if (units[k_duration] != 0 && units[k_duration] != unit) continue;
    std::size_t count = 0;
    for (const Sample& row : rows) {
      const auto begin = time_in(row[k_start], units[k_start]);
      const auto end = time_in(row[k_end], units[k_end]), length = time_in(row[k_duration], unit);
      if (!begin || !end || !length || *end < *begin) continue;
      const std::uint64_t exact = *end - *begin;
      const std::uint64_t apart = std::max(*length, exact) - std::min(*length, exact);
      count += apart < step_of(row[k_duration], unit, decimals_of(row[k_duration])) ? 1 : 0;
    }
    if (count > most) best = unit, most = count;
  }
  return best;
}

/// True if most children lie inside their parents of the same place by lengths of a unit; false if
/// there are none.
bool nest(std::span<const Sample> rows, std::uint32_t start, std::uint32_t unit) {
  std::map<std::pair<std::string, std::string>, const Sample*> of_id;
  for (const Sample& row : rows) of_id.emplace(std::pair(row[k_trace], row[k_span]), &row);
  std::size_t inside = 0, pairs = 0;
  for (const Sample& row : rows) {
    const auto known = of_id.find({row[k_trace], row[k_parent]});
    if (known == of_id.end()) continue;
    const Sample& parent = *known->second;
    const auto is_same = [&](std::size_t column) { return parent[column] == row[column]; };
    if (!is_same(k_host) || !is_same(k_pod) || !is_same(k_service)) continue;
    const auto begin = time_in(row[k_start], start), since = time_in(parent[k_start], start);
    const auto length = time_in(row[k_duration], unit), whole = time_in(parent[k_duration], unit);
    if (!begin || !since || !length || !whole) continue;
    ++pairs;
    const std::uint64_t step = step_of(row[k_start], start, decimals_of(row[k_start]));
    inside += *begin + *length < *since + *whole + step ? 1 : 0;
  }
  return inside * 2 > pairs;
}

Result<TableUnits> units_of(const tables::Reader& reader, std::span<const Sample> rows) {
  TableUnits units{};
  for (const std::size_t column : k_times) {
    const bool is_named = reader.has(column) && reader.unit_of(column) > Unit::ticks;
    units[column] = is_named ? ns_per(reader.unit_of(column)) : 0;
  }
  const auto unknown = [&](std::size_t column) {
    for (const Sample& row : rows) {  // a time that cannot be read says more
      std::uint64_t ns = 0;
      std::string why;
      if (row[column].empty() || times_in(k_ns).parse(row[column], ns, why) != Notation::none) {
        continue;
      }
      return reader.problem(row.line, {column, why});
    }
    return reader.problem(
        1, {column, fmt::format("the unit of its numbers is unknown; --columns names it, as "
                                "{}=NAME[us]",
                                k_span_columns[column])});
  };
  for (const std::size_t column : {k_start, k_end}) {
    if (!reader.has(column)) continue;
    if (units[column] == 0) units[column] = unit_of_times(rows, column);
    if (units[column] == 0) return unknown(column);
  }
  std::uint32_t &start = units[k_start], &duration = units[k_duration];
  if (reader.has(k_end)) {
    if (reader.has(k_duration)) duration = unit_of_copies(rows, units);
  } else if (duration == 0) {
    // The unit of begins, if lengths 1000 times smaller would be too small.
    const bool is_proven = !rows.empty() && !is_date(rows.front()[k_start]) &&
                           nest(rows, start, start) &&
                           (start == k_ns || !nest(rows, start, start / 1000));
    if (!is_proven) return unknown(k_duration);
    duration = start;
  }
  return units;
}

/// Says which columns and units nobody named; empty if there are none.
std::string guesses_of(const tables::Reader& reader, const TableUnits& units,
                       std::span<const Sample> rows) {
  std::vector<std::string> parts;
  for (const std::size_t column : k_times) {
    const bool is_known = units[column] == 0 || reader.unit_of(column) > Unit::ticks ||
                          (!rows.empty() && is_date(rows.front()[column]));
    if (is_known) continue;
    parts.push_back(
        fmt::format("{} in {}", reader.name_of(column), unit_of_ns(units[column]).name));
  }
  const std::vector<std::string>& names = reader.guesses();
  if (names.empty() && parts.empty()) return "";
  return fmt::format("columns: {}{}{}; --columns names others", fmt::join(names, ", "),
                     names.empty() || parts.empty() ? "" : "; ", fmt::join(parts, ", "));
}

/// The first rows of the piece of a table.
Result<std::vector<Sample>> samples_of(const tables::Reader& reader) {
  constexpr std::size_t k_most_rows = 1000;
  std::vector<Sample> rows;
  TRY(reader.rows(0, [&](const tables::Row& row, tables::Problem&) {
    if (rows.size() == k_most_rows) return true;
    Sample& one = rows.emplace_back(Sample{.cells = {}, .line = row.line});
    std::ranges::copy(row.cells, one.cells.begin());
    return true;
  }));
  return rows;
}

/// Adds the spans of rows.
struct RowReader {
  Reader& reader;
  std::vector<Stamp>& stamps;
  TableUnits units{};  ///< all 0 before the first row
  PerColumn<std::uint8_t> most_decimals{};
  PerColumn<std::uint8_t> notations{};  ///< bits of tables::Notation
  bool names_roles = false;             ///< a row names its kind

  /// The time of a cell, ns. `at`: position of the cell in the text.
  Number number(std::string_view cell, std::size_t column, std::size_t at) {
    Number number;
    Notation notation = Notation::none;
    if (const auto time = time_in(cell, units[column], &notation)) {
      notations[column] |= bit_of(notation);
      number.value = *time;
      number.digits = reader.text.substr(at, cell.size());
    } else {
      number.invalid = cell;
    }
    return number;
  }

  /// `at`: position of the piece with the row in the text.
  void add(std::span<const std::string_view> cells, const char* piece, std::size_t at) {
    const auto time_at = [&](std::size_t column) {
      if (units[column] == 0) return Number();
      return number(cells[column], column,
                    at + static_cast<std::size_t>(cells[column].data() - piece));
    };
    Draft& draft = reader.draft;
    draft.trace = id_in(cells[k_trace], k_trace_digits);
    draft.id = id_in(cells[k_span], k_span_digits);
    draft.parent = is_no_parent(cells[k_parent]) ? Id() : id_in(cells[k_parent], k_span_digits);
    draft.name = cells[k_name];
    draft.role = role_of(cells[k_kind]);
    names_roles |= !cells[k_kind].empty();
    for (const auto& [column, sign] :
         {std::pair(k_host, Sign::host), {k_pod, Sign::pod}, {k_service, Sign::service}}) {
      draft.place.signs[static_cast<std::size_t>(sign)] = cells[column];
    }
    const bool has_end = units[k_end] != 0;
    draft.begin = time_at(k_start);
    const Number length = time_at(k_duration);
    draft.end = has_end ? time_at(k_end) : length;
    const std::uint32_t clock = reader.owner_of_draft();
    // Until all rows are known, a stamp has its column in place of the decimals there.
    const auto set_unit = [&](std::size_t count, std::size_t column) {
      if (stamps.size() == count) return false;
      stamps.back().unit = units[column];
      stamps.back().decimals = static_cast<std::uint8_t>(column);
      most_decimals[column] = std::max(most_decimals[column], decimals_of(cells[column]));
      return true;
    };
    std::size_t count = stamps.size();
    reader.stamp(draft.begin, k_ns, clock);
    set_unit(count, k_start);
    if (has_end) {
      count = stamps.size();
      reader.stamp(draft.end, k_ns, clock);
      set_unit(count, k_end);
    }
    const std::uint64_t exact =
        has_end ? draft.end.value - std::min(draft.begin.value, draft.end.value) : length.value;
    const std::uint32_t step =
        step_of(length.digits, units[k_duration], decimals_of(length.digits));
    const bool is_copy = !length.digits.empty() && step > 0;  // else lengths have no unit
    const bool truncated = is_copy && has_end && length.value == exact / step * step;
    if (is_copy && (truncated || length.value == static_cast<std::uint64_t>(nearest(
                                                     static_cast<std::int64_t>(exact), step)))) {
      count = stamps.size();
      Number whole = length;
      whole.value = exact;
      reader.stamp_length(whole, draft.begin, k_ns, clock);
      if (set_unit(count, k_duration)) {
        stamps.back().since_step = step_of(draft.begin.digits, units[k_start], 0);
        stamps.back().truncated = truncated;
      }
    }
    reader.take(k_ns, !has_end, clock);
  }

  /// Completes the stamps from `first` on, when all rows are known.
  void finish(std::size_t first) {
    StoredUnits& stored = reader.spans.units;
    stored = {.has_lengths = units[k_end] == 0};
    for (Stamp& stamp : std::span(stamps).subspan(first)) {
      const std::size_t column = stamp.decimals;
      stamp.decimals = most_decimals[column];
      if (column != k_duration || stored.has_lengths) {
        std::uint32_t& unit = column == k_start ? stored.begin : stored.end;
        unit = std::max(
            unit, step_of(reader.text.substr(stamp.at, stamp.size), stamp.unit, stamp.decimals));
      }
      for (std::uint8_t i = 0; i < most_decimals[k_start]; ++i) {
        stamp.since_step = std::max<std::uint32_t>(stamp.since_step / 10, 1);
      }
    }
  }
};

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

Result<void> read_table(Reader& reader, std::string_view columns) {
  reader.form = Stamp::Form::cell;
  reader.draft.marked = true;  // rows have no attributes
  reader.draft.has_place = true;
  std::vector<Stamp> own;
  if (reader.stamps == nullptr) reader.stamps = &own;
  RowReader rows{reader, *reader.stamps};
  Spans& spans = reader.spans;
  // A last row whose line does not end may lack digits.
  const std::size_t whole = reader.text.rfind('\n') + 1;
  const bool is_cut = whole > 0 && whole < reader.text.size();
  spans.cut_files += is_cut ? 1 : 0;
  TRY_ASSIGN(tables::Reader table,
             open_table(is_cut ? reader.text.substr(0, whole) : reader.text, reader.name, columns));
  const Reader::State before = reader.state();
  for (std::size_t at = table.header().size();; at += table.text(0).size()) {
    TRY_ASSIGN(const std::size_t pieces, table.next(1));
    if (pieces == 0) break;
    if (rows.units[k_start] == 0) {
      TRY_ASSIGN(const std::vector<Sample> samples, samples_of(table));
      TRY_ASSIGN(rows.units, units_of(table, samples));
      spans.add_guess(guesses_of(table, rows.units, samples));
      spans.unit =
          std::max<std::uint64_t>(spans.unit, std::min<std::uint64_t>(rows.units[k_start], k_ms));
    }
    const Result<void> done = table.rows(0, [&](const tables::Row& row, tables::Problem& problem) {
      rows.add(row.cells, table.text(0).data(), at);
      constexpr auto k_both = bit_of(Notation::local_date) | bit_of(Notation::date);
      const unsigned begins = rows.notations[k_start], ends = rows.notations[k_end];
      if (((begins | ends) & k_both) != k_both) return reader.has_memory();
      return tables::refuse(problem, (begins & k_both) == k_both ? k_start : k_end,
                            std::string(tables::k_mixed_zones));
    });
    TRY(reader.memory());
    TRY(done);
  }
  reader.settle(before, [](const std::string&) { return Place(); });
  if (!rows.names_roles) {
    for (Span& span : std::span(spans.all).subspan(before.spans)) span.role = Role::unnamed;
  }
  rows.finish(before.stamps);
  return {};
}

}  // namespace entrain::spans
