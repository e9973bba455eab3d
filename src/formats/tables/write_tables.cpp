// SPDX-License-Identifier: BSD-3-Clause
#include "formats/tables/write_tables.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/exact.hpp"
#include "base/file_mark.hpp"
#include "base/name_table.hpp"
#include "base/stray_times.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "formats/json/text_file.hpp"
#include "formats/tables/read_clocks.hpp"
#include "formats/tables/reader.hpp"
#include "formats/tables/times.hpp"
#include "trace/clock_maps.hpp"

namespace entrain::tables {
namespace {

constexpr std::size_t k_block = std::size_t{1} << 20;

/// Collects lines and hands them over in blocks.
class Lines {
 public:
  explicit Lines(const Sink& sink) : sink_(sink) {}
  std::string& text() { return text_; }
  Result<void> end_line() {
    text_ += '\n';
    return text_.size() < k_block ? Result<void>() : finish();
  }
  Result<void> finish() {
    TRY(sink_(text_));
    text_.clear();
    return {};
  }

 private:
  const Sink& sink_;
  std::string text_;
};

template <class... T>
void add(std::string& text, fmt::format_string<T...> format, T&&... values) {
  fmt::format_to(std::back_inserter(text), format, std::forward<T>(values)...);
}

class EdgeWriter {
 public:
  EdgeWriter(const Clocks& clocks, const Edges& edges, const Margins& margins, bool json,
             const Sink& sink)
      : edges_(edges), margins_(margins), json_(json), lines_(sink) {
    for (const Clock& clock : clocks.clocks) {
      std::string& name = names_.emplace_back();
      if (json) {
        tables::append_json(name, clock.name);
      } else {
        name = csv_field(clock.name);
      }
    }
  }

  Result<void> run() {
    if (!json_) {
      lines_.text() =
          "cause_clock,cause_time,effect_clock,effect_time,min_delay,kind,instance,role,"
          "rank,margin," +
          file_mark();
      TRY(lines_.end_line());
    }
    for (std::size_t i = 0; i < edges_.cause_clock.size(); ++i) {
      write_edge(i);
      TRY(lines_.end_line());
    }
    for (std::size_t i = 0; i < edges_.instances.size(); ++i) {
      const CollectiveInstance& one = edges_.instances[i];
      for (std::uint64_t m = 0; m < std::uint64_t{one.begins} + one.ends; ++m) {
        write_member(i, one.first + m, m >= one.begins);
        TRY(lines_.end_line());
      }
    }
    return lines_.finish();
  }

 private:
  void write_edge(std::size_t i) {
    const char* const kind = name_of(edges_.kind.empty() ? EdgeKind::p2p : edges_.kind[i]);
    const std::int64_t delay = edges_.min_delay.empty() ? 0 : edges_.min_delay[i];
    const std::string& from = names_[edges_.cause_clock[i]];
    const std::string& to = names_[edges_.effect_clock[i]];
    if (json_) {
      add(lines_.text(),
          R"({{{}"cause_clock":{},"cause_time":{},"effect_clock":{},"effect_time":{},"kind":"{}")",
          take_mark(), from, edges_.cause_time[i], to, edges_.effect_time[i], kind);
      if (delay != 0) add(lines_.text(), ",\"min_delay\":{}", delay);
      add(lines_.text(), ",\"margin\":{}}}", margins_.edges[i]);
      return;
    }
    add(lines_.text(), "{},{},{},{},", from, edges_.cause_time[i], to, edges_.effect_time[i]);
    if (delay != 0) add(lines_.text(), "{}", delay);
    add(lines_.text(), ",{},,,,{},", kind, margins_.edges[i]);
  }

  void write_member(std::size_t instance, std::size_t m, bool is_end) {
    const InstanceMember& member = edges_.members[m];
    const EdgeKind kind = edges_.instances[instance].kind;
    const std::string& clock = names_[member.clock];
    const bool ranked = kind == EdgeKind::scan;
    const std::int64_t margin = margins_.members[m];
    std::string& text = lines_.text();
    if (json_) {
      const char* const side = is_end ? "effect" : "cause";
      add(text, R"({{{}"{}_clock":{},"{}_time":{},"kind":"{}","instance":{},"role":"{}")",
          take_mark(), side, clock, side, member.time, name_of(kind), instance,
          is_end ? "end" : "begin");
      if (ranked) add(text, ",\"rank\":{}", member.rank);
      if (margin != Margins::k_none) add(text, ",\"margin\":{}", margin);
      text += '}';
      return;
    }
    add(text, "{0}{2},{3}{1}", is_end ? ",," : "", is_end ? "" : ",,", clock, member.time);
    add(text, ",,{},{},{},", name_of(kind), instance, is_end ? "end" : "begin");
    if (ranked) add(text, "{}", member.rank);
    text += ',';
    if (margin != Margins::k_none) add(text, "{}", margin);
    text += ',';
  }

  /// The mark of the table as a key of the first JSON line; "" afterwards.
  std::string take_mark() {
    if (std::exchange(marked_, true)) return {};
    return fmt::format(R"("written_by":"{}",)", file_mark());
  }

  const Edges& edges_;
  const Margins& margins_;
  bool json_;
  bool marked_ = false;             ///< true: the first JSON line is written
  std::vector<std::string> names_;  ///< escaped names of clocks
  Lines lines_;
};

/// The rows of maps.
class KnotRows {
 public:
  explicit KnotRows(Verdict verdict) {
    if (verdict == Verdict::unproven) end_ = fmt::format(",{}", name_of(verdict));
    text_ = end_.empty() ? "clock,tick,offset\n" : "clock,tick,offset,verdict\n";
  }
  void add(std::string_view clock, std::uint64_t tick, std::int64_t offset) {
    tables::add(text_, "{},{},{}{}\n", clock, tick, offset, end_);
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_, end_;
};

/// The knots of a map of counted stamps at the stamps that the clock shows: first those behind the
/// wrap, then those before it.
void add_wrapped(KnotRows& rows, const std::string& name, const ClockMap& map, const Wrap& wrap) {
  const auto add_part = [&](std::uint64_t first, std::uint64_t last, std::uint64_t shown_less) {
    const auto row = [&](std::uint64_t tick) {
      rows.add(name, tick - shown_less, map(tick) - static_cast<std::int64_t>(tick - shown_less));
    };
    for (const std::uint64_t tick : trace::straight_stamps(first, last, {&map})) row(tick);
  };
  add_part(wrap.period, wrap.period + wrap.first - 1, wrap.period);
  add_part(wrap.first, wrap.period - 1, 0);
}

/// The knots of a map of ticks of the run at the stamps of a clock that counts other ones.
void add_in_own_unit(KnotRows& rows, const std::string& name, const ClockMap& map, const Wrap& wrap,
                     const StampRange& range) {
  const auto row = [&](std::uint64_t tick) {
    const std::uint64_t own = wrap.stored(tick);
    rows.add(name, own, map(wrap.counted(own)) - static_cast<std::int64_t>(own));
  };
  if (map.knots().size() < 2) {
    row(range.first);
    row(std::max(range.last, range.first + wrap.run_hz));
  }
  for (const ClockKnot& knot : map.knots()) row(knot.local);
}

/// Days beyond which a time to map is none of the run: of a wrong unit, or of no unit.
constexpr std::uint64_t k_far_days = 100;

bool is_far(std::uint64_t time, const StampRange& events, std::uint64_t ticks_per_second) {
  constexpr Int128 k_seconds = k_far_days * 86'400;
  const Int128 most = k_seconds * ticks_per_second;
  return Int128{events.first} - time > most || Int128{time} - events.last > most;
}

}  // namespace

Result<void> write_edges(const Clocks& clocks, const Edges& edges, const Margins& margins,
                         bool json, const Sink& sink) {
  TRY(check_names(clocks));
  return EdgeWriter(clocks, edges, margins, json, sink).run();
}

std::string clocks_csv(const Clocks& clocks) {
  std::string text =
      "clock,kind,domain,process,machine,resolution_hz,first,last,granule,corrected,time,offset,"
      "half_width,round_trip,kept,flush_begin,flush_end," +
      file_mark() + '\n';
  for (const Clock& clock : clocks.clocks) {
    const std::string name = csv_field(clock.name);
    text += name;
    const std::string kind = clock.kind == ClockKind::automatic ? "" : name_of(clock.kind);
    for (const std::string& field : {kind, clock.domain, clock.process, clock.machine}) {
      text += ',' + csv_field(field);
    }
    add(text, ",{},", clocks.resolution_hz);
    if (clock.events) add(text, "{},{}", clock.events->first, clock.events->last);
    if (!clock.events) text += ',';
    text += ',';
    if (clock.granule > 0) add(text, "{}", clock.granule);
    text += clocks.corrected ? ",true,,,,,,,,\n" : ",,,,,,,,,\n";
    for (const ClockSession& session : clock.sessions) {
      add(text, "{},,,,,,,,,,{},{},{},,,,,\n", name, session.time, session.offset,
          session.half_width);
      for (const ClockExchange& one : session.exchanges) {
        add(text, "{},,,,,,,,,,{},{},,{},{},,,\n", name, one.time, one.offset, one.round_trip,
            one.kept);
      }
    }
    for (const StampRange& flush : clock.flushes) {
      add(text, "{},,,,,,,,,,,,,,,{},{},\n", name, flush.first, flush.last);
    }
  }
  return text;
}

std::string maps_csv(const Clocks& clocks, std::span<const ClockMap> maps,
                     std::span<const Wrap> wraps, Verdict verdict) {
  KnotRows rows(verdict);
  for (std::size_t i = 0; i < maps.size(); ++i) {
    const std::string name = csv_field(clocks.clocks[i].name);
    const std::optional<StampRange>& events = clocks.clocks[i].events;
    if (wraps[i].own_hz != wraps[i].run_hz) {
      add_in_own_unit(rows, name, maps[i], wraps[i], events.value_or(StampRange{}));
      continue;
    }
    if (maps[i].knots().size() < 2) {
      rows.add(name, events ? events->first : 0, 0);
      continue;
    }
    if (wraps[i].period > 0 && !wraps[i].repeats) {
      add_wrapped(rows, name, maps[i], wraps[i]);
      continue;
    }
    for (const ClockKnot& knot : maps[i].knots()) rows.add(name, knot.local, knot.offset);
  }
  return rows.take();
}

Result<void> map_table(const AlignFiles& files, const Clocks& clocks,
                       std::span<const ClockMap> maps, std::span<const Wrap> wraps,
                       const Sink& sink) {
  constexpr std::array<std::string_view, 2> k_columns{"time", "clock"};
  TRY_ASSIGN(Reader reader,
             Reader::open(files.apply, k_columns,
                          {.given = {{0, files.time_column}, {1, files.clock_column}}}));
  if (reader.is_json()) return reader.problem(1, {Problem::k_whole_row, "this is no CSV"});
  const Times times(clocks.resolution_hz,
                    unit_named(files.unit).value_or(unit_of_column(reader.name_of(0))));
  NameTable names;
  for (const Clock& clock : clocks.clocks) names.number(clock.name);
  TRY(sink(reader.header()));
  std::string mapped;
  for (;;) {
    TRY_ASSIGN(const std::size_t pieces, reader.next(1));
    if (pieces == 0) return {};
    std::string_view rest = reader.text(0);
    TRY(reader.rows(0, [&](const Row& row, Problem& problem) {
      problem.column = 0;
      const std::string_view cell = row.cells[0];
      std::uint64_t time = 0;
      if (is_negative_without_sign(cell)) return true;
      if (times.parse(cell, time, problem.text) == Notation::none) return false;
      const std::uint32_t clock = names.find(row.cells[1]);
      if (clock == k_none) {
        problem = {1, fmt::format("there is no clock \"{}\"", row.cells[1])};
        return false;
      }
      if (is_in(wraps[clock].none, time)) return true;
      const std::optional<StampRange>& events = clocks.clocks[clock].events;
      if (events && wraps[clock].period == 0 && is_far(time, *events, clocks.resolution_hz)) {
        problem.text = fmt::format(
            "it lies more than {} days from all times of clock {} among the "
            "edges; is it in another unit (--unit)?",
            k_far_days, row.cells[1]);
        return false;
      }
      if (wraps[clock].repeats) {
        problem.text = fmt::format("clock {} shows its stamps more than once", row.cells[1]);
        return false;
      }
      const std::int64_t moved = maps[clock](wraps[clock].counted(time));
      if (moved == static_cast<std::int64_t>(time)) return true;
      mapped += rest.substr(0, static_cast<std::size_t>(cell.data() - rest.data()));
      mapped += times.written(moved, cell);
      rest.remove_prefix(static_cast<std::size_t>(cell.data() + cell.size() - rest.data()));
      return true;
    }));
    mapped += rest;
    TRY(sink(mapped));
    mapped.clear();
  }
}

Result<void> map_table(const AlignFiles& files, const Clocks& clocks,
                       std::span<const ClockMap> maps, std::span<const Wrap> wraps,
                       const std::filesystem::path& to) {
  TRY_ASSIGN(const json::Packing packing, json::packing_of(files.apply));
  TRY_ASSIGN(json::TextWriter mapped, json::TextWriter::create(to, packing));
  TRY(map_table(files, clocks, maps, wraps,
                [&](std::string_view text) { return mapped.write(text); }));
  return mapped.close();
}

Result<std::string> named_as_packed(const std::string& name, const std::filesystem::path& table) {
  json::Packing packing = json::Packing::none;
  if (!table.empty()) {
    TRY_ASSIGN(packing, json::packing_of(table));
  }
  return json::packed_name(name, packing);
}

}  // namespace entrain::tables
