// SPDX-License-Identifier: BSD-3-Clause
#include "formats/tables/read_clocks.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "base/name_table.hpp"
#include "base/try.hpp"
#include "base/utf8.hpp"
#include "formats/tables/columns.hpp"
#include "formats/tables/counters.hpp"

namespace entrain::tables {
namespace {

class ClockTables {
 public:
  ClockTables(std::uint64_t resolution_hz, Unit unit, bool may_differ)
      : unit_(unit), may_differ_(may_differ && resolution_hz == 0) {
    clocks_.resolution_hz = resolution_hz;
  }

  Result<void> read(const Source& source) {
    TRY_ASSIGN(Reader reader, Reader::open(source, k_clock_columns));
    if (!reader.has(k_clock)) return reader.problem(1, {k_clock, "the column is missing"});
    for (;;) {
      TRY_ASSIGN(const std::size_t pieces, reader.next(1));
      if (pieces == 0) return {};
      TRY(reader.rows(0, [&](const Row& row, Problem& problem) { return take(row, problem); }));
    }
  }

  Result<Clocks> finish(std::vector<std::uint64_t>* clock_hz) {
    fix_resolution();
    TRY(count_in_one_unit());
    if (clock_hz != nullptr && std::ranges::any_of(hz_, [](auto hz) { return hz > 0; })) {
      *clock_hz = hz_;
    }
    for (Clock& clock : clocks_.clocks) {
      std::ranges::stable_sort(clock.sessions, {}, &ClockSession::time);
    }
    return std::move(clocks_);
  }

 private:
  bool take(const Row& row, Problem& problem) {
    const auto& cells = row.cells;
    if (!is_name(cells[k_clock], problem.text)) {
      problem.column = k_clock;
      return false;
    }
    const std::uint32_t number = names_.number(cells[k_clock]);
    if (number == clocks_.clocks.size()) {
      clocks_.clocks.push_back({.name = std::string(cells[k_clock])});
      described_.push_back(0);
      hz_.push_back(0);
    }
    Clock& clock = clocks_.clocks[number];
    const bool session = !cells[k_session_time].empty(), flush = !cells[k_flush_begin].empty();
    for (const std::size_t column : {k_offset, k_half_width, k_round_trip}) {
      if (!session && !cells[column].empty()) {
        return refuse(problem, column, "a session needs a time, too");
      }
    }
    if (!flush && !cells[k_flush_end].empty()) {
      return refuse(problem, k_flush_end, "a flush needs a begin, too");
    }
    if (!session && !flush && std::exchange(described_[number], 1) != 0) {
      return refuse(problem, k_clock, fmt::format("clock {} is described twice", clock.name));
    }
    if (!describe(row, clock, problem)) return false;
    if (flush && !add_flush(row, clock, problem)) return false;
    if (!session) return true;
    return cells[k_round_trip].empty() ? add_session(row, clock, problem)
                                       : add_exchange(row, clock, problem);
  }

  bool describe(const Row& row, Clock& clock, Problem& problem) {
    const auto& cells = row.cells;
    if (!take_kind(cells[k_clock_kind], clock.kind, problem)) return false;
    for (const auto& [column, text] : {std::pair(k_domain, &clock.domain),
                                       {k_process, &clock.process},
                                       {k_machine, &clock.machine}}) {
      if (cells[column].empty()) continue;
      if (!text->empty() && *text != cells[column]) {
        return refuse(problem, column, "another row of this clock says something else");
      }
      *text = cells[column];
    }
    return take_resolution(cells[k_resolution], hz_[names_.number(clock.name)], problem) &&
           take_events(row, clock, problem) && take_ticks(row, k_granule, clock.granule, problem) &&
           take_wrap(cells[k_wrap_bits], clock.wrap_bits, problem) &&
           take_flag(row, k_corrected, clocks_.corrected, problem);
  }

  bool take_kind(std::string_view text, ClockKind& kind, Problem& problem) {
    if (text.empty()) return true;
    if (kind != ClockKind::automatic && text != name_of(kind)) {
      return refuse(problem, k_clock_kind, "another row of this clock says something else");
    }
    for (const ClockKind one : {ClockKind::timer, ClockKind::wall}) {
      if (text == name_of(one)) kind = one;
    }
    return kind != ClockKind::automatic ||
           refuse(problem, k_clock_kind, fmt::format("\"{}\" is neither timer nor wall", text));
  }

  static bool take_wrap(std::string_view text, unsigned& bits, Problem& problem) {
    constexpr std::uint64_t k_most = 60;
    problem.column = k_wrap_bits;
    std::uint64_t number = 0;
    if (text.empty()) return true;
    if (!parse_ticks(text, number, problem.text)) return false;
    bits = static_cast<unsigned>(number);
    return (number > 0 && number <= k_most) ||
           refuse(problem, k_wrap_bits, "a counter that wraps has 1 to 60 bits");
  }

  bool take_resolution(std::string_view text, std::uint64_t& own, Problem& problem) {
    problem.column = k_resolution;
    std::uint64_t hz = 0;
    if (text.empty()) return true;
    if (!tables::parse_ticks(text, hz, problem.text)) return false;
    if (hz == 0) return refuse(problem, k_resolution, "a clock has at least 1 tick per second");
    const std::uint64_t other = may_differ_ ? own : clocks_.resolution_hz;
    if (other != 0 && hz != other) {
      return refuse(problem, k_resolution,
                    fmt::format("{} and {}: {} one resolution; multiply stamps", hz, other,
                                may_differ_ ? "a clock has" : "clocks need"));
    }
    own = hz;
    clocks_.resolution_hz = std::max(clocks_.resolution_hz, hz);
    return true;
  }

  /// Later rows cannot name another resolution.
  void fix_resolution() {
    if (clocks_.resolution_hz == 0) clocks_.resolution_hz = Clocks().resolution_hz;
    may_differ_ = false;
  }

  /// Turns the times of clocks of other resolutions into ticks of the run. `hz_` keeps these only.
  Result<void> count_in_one_unit() {
    for (std::size_t c = 0; c < hz_.size(); ++c) {
      Clock& clock = clocks_.clocks[c];
      if (hz_[c] == clocks_.resolution_hz) hz_[c] = 0;
      if (hz_[c] == 0) continue;
      if (!clock.sessions.empty() || !clock.flushes.empty() || clock.wrap_bits > 0) {
        return input_error(
            "clock {} counts {} ticks per second, others {}: only clocks of one resolution may "
            "have sessions, flushes or counters that wrap; multiply its stamps",
            clock.name, hz_[c], clocks_.resolution_hz);
      }
      const Wrap own{.run_hz = clocks_.resolution_hz, .own_hz = hz_[c]};
      if (clock.events)
        clock.events = {own.counted(clock.events->first), own.counted(clock.events->last)};
      clock.granule = own.counted(clock.granule);
    }
    return {};
  }
  /// Reads times. Only whole ticks mean the same with every resolution.
  Times times(std::string_view text) {
    if (unit_ != Unit::unnamed || text.find_first_of(".:") != text.npos) fix_resolution();
    return {clocks_.resolution_hz, unit_};
  }

  bool take_ticks(const Row& row, std::size_t column, std::uint64_t& ticks, Problem& problem) {
    const std::string_view text = row.cells[column];
    problem.column = column;
    return text.empty() || times(text).parse(text, ticks, problem.text) != Notation::none;
  }
  static bool take_flag(const Row& row, std::size_t column, bool& flag, Problem& problem) {
    problem.column = column;
    return row.cells[column].empty() || tables::parse_bool(row.cells[column], flag, problem.text);
  }

  bool take_events(const Row& row, Clock& clock, Problem& problem) {
    if (row.cells[k_first].empty() && row.cells[k_last].empty()) return true;
    StampRange range;
    if (row.cells[k_first].empty()) return refuse(problem, k_first, "is missing beside last");
    if (row.cells[k_last].empty()) return refuse(problem, k_last, "is missing beside first");
    if (!take_ticks(row, k_first, range.first, problem)) return false;
    if (!take_ticks(row, k_last, range.last, problem)) return false;
    if (range.last < range.first) return refuse(problem, k_last, "is before first");
    clock.events = range;
    return true;
  }

  bool add_flush(const Row& row, Clock& clock, Problem& problem) {
    StampRange range;
    if (row.cells[k_flush_end].empty()) return refuse(problem, k_flush_end, "is missing");
    if (!take_ticks(row, k_flush_begin, range.first, problem)) return false;
    if (!take_ticks(row, k_flush_end, range.last, problem)) return false;
    if (range.last < range.first) return refuse(problem, k_flush_end, "is before flush_begin");
    clock.flushes.push_back(range);
    return true;
  }

  bool take_offset(const Row& row, std::int64_t& offset, Problem& problem) {
    const std::string_view text = row.cells[k_offset];
    problem.column = k_offset;
    return times(text).parse_distance(text, offset, problem.text);
  }

  bool add_session(const Row& row, Clock& clock, Problem& problem) {
    ClockSession session;
    if (!take_ticks(row, k_session_time, session.time, problem)) return false;
    if (!take_offset(row, session.offset, problem)) return false;
    problem.column = k_half_width;
    if (!row.cells[k_half_width].empty() &&
        !tables::parse_width(row.cells[k_half_width], session.half_width, problem.text)) {
      return false;
    }
    session.half_width *= times("").ticks_per_unit();
    if (!sessions_.emplace(clock.name, session.time).second) {
      return refuse(problem, k_session_time, "the clock has two sessions at this time");
    }
    clock.sessions.push_back(std::move(session));
    return true;
  }

  bool add_exchange(const Row& row, Clock& clock, Problem& problem) {
    ClockExchange exchange;
    if (clock.sessions.empty()) {
      return refuse(problem, k_round_trip, "an exchange must follow the row of its session");
    }
    if (!take_ticks(row, k_session_time, exchange.time, problem)) return false;
    if (!take_offset(row, exchange.offset, problem)) return false;
    if (!take_ticks(row, k_round_trip, exchange.round_trip, problem)) return false;
    if (!take_flag(row, k_kept, exchange.kept, problem)) return false;
    clock.sessions.back().exchanges.push_back(exchange);
    return true;
  }

  Clocks clocks_;
  Unit unit_;
  bool may_differ_;                ///< the resolutions of clocks
  std::vector<std::uint64_t> hz_;  ///< ticks per second; 0: not named; index: clock
  NameTable names_;
  std::vector<char> described_;                               ///< 1: described; index: clock
  std::set<std::pair<std::string, std::uint64_t>> sessions_;  ///< name of clock, time
};

}  // namespace

bool is_name(std::string_view text, std::string& why) {
  // Two of them fit into a row of a table, escaped as JSON may be.
  constexpr std::size_t k_longest = std::size_t{1} << 16;
  if (text.empty()) {
    why = "is missing";
  } else if (text.size() > k_longest) {
    why = fmt::format("the name is longer than {} bytes", k_longest);
  } else if (!is_utf8(text)) {
    why = "the name is no UTF-8";
  } else {
    return true;
  }
  return false;
}

Result<void> check_names(const Clocks& clocks) {
  std::string why;
  for (std::size_t i = 0; i < clocks.clocks.size(); ++i) {
    if (is_name(clocks.clocks[i].name, why)) continue;
    return input_error("{}: clock {} of {} cannot stand in a table: {}; give it a shorter name",
                       clocks.name, i + 1, clocks.clocks.size(), why);
  }
  return {};
}

Result<Clocks> read_clocks(std::span<const Source> sources, std::uint64_t resolution_hz, Unit unit,
                           std::vector<std::uint64_t>* clock_hz) {
  ClockTables tables(resolution_hz, unit, clock_hz != nullptr);
  for (const Source& source : sources) TRY(tables.read(source));
  return tables.finish(clock_hz);
}

}  // namespace entrain::tables
