// SPDX-License-Identifier: BSD-3-Clause
#include "formats/tables/read_edges.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/cancel.hpp"
#include "base/executor.hpp"
#include "base/free_memory.hpp"
#include "base/name_table.hpp"
#include "base/stray_times.hpp"
#include "base/try.hpp"
#include "formats/tables/columns.hpp"
#include "formats/tables/edge_rows.hpp"

namespace entrain::tables {
namespace {

/// Orders names: numbers by value, then words.
bool in_order(const std::string& a, const std::string& b) {
  const auto key = [](const std::string& name) {
    const auto number = whole_number(name);
    return std::tuple<bool, std::uint64_t, const std::string&>(!number, number.value_or(0), name);
  };
  return key(a) < key(b);
}

class EdgeTableReader {
 public:
  EdgeTableReader(Clocks& clocks, unsigned threads, Progress* progress, const Layout& layout)
      : clocks_(clocks),
        layout_(layout),
        threads_(worker_count(threads)),
        progress_(progress),
        cancel_(progress),
        known_(!clocks.clocks.empty()) {
    for (const Clock& clock : clocks.clocks) names_.number(clock.name);
  }

  Result<EdgeTable> read(const Source& source) {
    clocks_.name = source.name.string();
    TRY_ASSIGN(Reader reader, Reader::open(source, k_edge_columns,
                                           {.given = layout_.columns,
                                            .others = k_other_edge_columns,
                                            .max_unpacked = layout_.max_unpacked}));
    TRY(check_columns(reader));
    if (progress_ != nullptr) progress_->begin("scan", reader.bytes(), "B");
    const std::size_t most = threads_ == 1 ? 1 : 4 * std::size_t{threads_};  // pieces at once
    const std::vector<Times> times = times_of(reader);
    std::vector<EdgeRows> parts(most, {reader.is_json() || reader.has(k_min_delay), times});
    for (;;) {
      TRY_ASSIGN(const std::size_t pieces, reader.next(most));
      if (pieces == 0) break;
      TRY(read_pieces(reader, {parts.data(), pieces}));
      if (progress_ != nullptr) progress_->advance(reader.bytes_read());
      TRY(cancel_.check());
    }
    if (!known_) sort_clocks();
    TRY(make_instances(reader));
    if (std::ranges::all_of(list().min_delay, [](std::int64_t delay) { return delay == 0; })) {
      free_memory(list().min_delay);
    }
    note_kinds();
    note_twice();
    if (!reader.guesses().empty()) {
      result_.notes.push_back(
          fmt::format("columns: {}; --columns names others", fmt::join(reader.guesses(), ", ")));
    }
    if (reader.is_own()) {
      result_.wraps.resize(clocks_.clocks.size());
    } else {
      const StrayRanges none =
          take_stray_times(list(), clocks_, layout_.clock_hz, result_.set_aside);
      const Times& written = times[k_cause_time];
      const auto unit = static_cast<std::uint64_t>(written.ticks_per_unit());
      if (has_other_units()) {
        result_.wraps.resize(clocks_.clocks.size());
        count_in_one_unit(list(), clocks_, layout_.clock_hz, result_.wraps);
      } else {
        result_.wraps = count_on(list(), clocks_, std::max<std::uint64_t>(unit, 1), result_.notes,
                                 result_.set_aside);
      }
      const std::uint64_t per_decimal = written.in_ticks() ? clocks_.resolution_hz : unit;
      move_to_ends_of_steps(list(), clocks_, line_of(Notation::decimal) == 0 ? 0 : per_decimal,
                            result_.notes);
      for (std::size_t c = 0; c < none.size(); ++c) result_.wraps[c].none = none[c];
    }
    return std::move(result_);
  }

 private:
  EdgeList& list() { return result_.list; }
  [[nodiscard]] std::uint64_t line_of(Notation notation) const {
    return lines_[static_cast<std::size_t>(notation)];
  }

  /// Times with a unit or decimals are of one unit, whatever their clocks count.
  [[nodiscard]] bool has_other_units() const {
    return line_of(Notation::whole) != 0 &&
           std::ranges::any_of(layout_.clock_hz, [](auto hz) { return hz > 0; });
  }

  [[nodiscard]] std::vector<Times> times_of(const Reader& reader) const {
    std::vector<Times> times;
    for (std::size_t column = 0; column < k_edge_columns.size(); ++column) {
      times.emplace_back(clocks_.resolution_hz, reader.unit_of(column, layout_.unit));
    }
    return times;
  }

  static Result<void> check_columns(const Reader& reader) {
    if (reader.is_json()) return {};
    const bool members = reader.has(k_member_clock) && reader.has(k_instance) &&
                         (reader.has(k_begin) || reader.has(k_end));
    const bool any = reader.has(k_cause_clock) || reader.has(k_cause_time) ||
                     reader.has(k_effect_clock) || reader.has(k_effect_time);
    if (members && !any) return {};
    for (std::size_t column = k_cause_clock; column <= k_effect_time; ++column) {
      if (!reader.has(column)) return reader.missing(column);
    }
    return {};
  }

  template <class T>
  static void append_to(BigVector<T>& all, const std::vector<T>& part) {
    all.insert(all.end(), part.begin(), part.end());
  }

  /// Reads pieces in parallel, then appends them in order.
  Result<void> read_pieces(const Reader& reader, std::span<EdgeRows> parts) {
    std::vector<Result<void>> read(parts.size());
    for_each_in_parallel(threads_, parts.size(), [&](std::size_t i) {
      parts[i].clear();
      read[i] = reader.rows(
          i, [&](const Row& row, Problem& problem) { return parts[i].take(row, problem); });
    });
    for (std::size_t i = 0; i < parts.size(); ++i) {
      TRY(std::move(read[i]));
      TRY(append(parts[i], reader, parts.size()));
    }
    return {};
  }

  Result<void> append(const EdgeRows& part, const Reader& reader, std::size_t pieces) {
    std::vector<std::uint32_t> number;
    for (std::size_t i = 0; i < part.clocks.all().size(); ++i) {
      const std::string& name = part.clocks.all()[i];
      if (known_ && names_.find(name) == k_none) {
        return reader.problem(
            part.clock_lines[i],
            {part.clock_columns[i], fmt::format("clock {} is not in the table of clocks", name)});
      }
      number.push_back(names_.number(name));
    }
    for (std::size_t n = 0; n < lines_.size(); ++n) {
      if (lines_[n] == 0) lines_[n] = part.lines[n];
    }
    const std::uint64_t ticks = line_of(Notation::whole), local = line_of(Notation::local_date);
    const std::uint64_t zoned = line_of(Notation::date);
    const std::uint64_t other = std::max({line_of(Notation::decimal), local, zoned});
    const auto mixed = [&](std::uint64_t line, std::string_view what) {
      return reader.problem(line, {Problem::k_whole_row, std::string(what)});
    };
    if (ticks != 0 && other != 0) {
      return mixed(std::max(ticks, other), "whole and other times are mixed; name their --unit");
    }
    if (local != 0 && zoned != 0) return mixed(std::max(local, zoned), k_mixed_zones);
    reserve(part.kind.size() * pieces, reader);
    for (const std::uint32_t clock : part.cause_clock) {
      list().cause_clock.push_back(number[clock]);
    }
    for (const std::uint32_t clock : part.effect_clock) {
      list().effect_clock.push_back(number[clock]);
    }
    append_to(list().cause_time, part.cause_time);
    append_to(list().effect_time, part.effect_time);
    append_to(list().min_delay, part.min_delay);
    append_to(list().kind, part.kind);
    for (MemberRow member : part.members) {
      member.instance = instances_.number(part.instances.all()[member.instance]);
      member.clock = number[member.clock];
      members_.push_back(member);
    }
    if (other_kinds_ == 0) other_kind_ = part.other_kind;
    other_kinds_ += part.other_kinds;
    return {};
  }

  /// Before the first rows are added, reserves memory for all, extrapolated from the `rows` of the
  /// first pieces. A growing vector would need twice the memory.
  void reserve(std::size_t rows, const Reader& reader) {
    if (!list().kind.empty() || rows == 0) return;
    const std::uint64_t bytes = std::max<std::uint64_t>(reader.bytes_read(), 1);
    const double all = static_cast<double>(reader.bytes()) / static_cast<double>(bytes);
    const auto expected = static_cast<std::size_t>(1.02 * static_cast<double>(rows) * all) + 1024;
    const std::size_t count = reader.bytes() <= bytes ? rows : expected;
    list().cause_clock.reserve(count), list().effect_clock.reserve(count);
    list().cause_time.reserve(count), list().effect_time.reserve(count);
    list().kind.reserve(count);
  }

  /// Sorts the clocks that the table names.
  void sort_clocks() {
    std::vector<std::uint32_t> order(names_.all().size()), place(order.size());
    std::iota(order.begin(), order.end(), std::uint32_t{0});
    std::ranges::sort(order, in_order,
                      [&](std::uint32_t i) -> const std::string& { return names_.all()[i]; });
    for (std::uint32_t i = 0; i < order.size(); ++i) {
      place[order[i]] = i;
      clocks_.clocks.push_back({.name = names_.all()[order[i]]});
    }
    for (std::uint32_t& clock : list().cause_clock) clock = place[clock];
    for (std::uint32_t& clock : list().effect_clock) clock = place[clock];
    for (MemberRow& member : members_) member.clock = place[member.clock];
  }

  Result<void> make_instances(const Reader& reader) {
    std::vector<std::size_t> first(instances_.all().size() + 1);
    for (const MemberRow& row : members_) ++first[row.instance + 1];
    std::partial_sum(first.begin(), first.end(), first.begin());
    BigVector<MemberRow> rows(members_.size());
    std::vector<std::size_t> next(first.begin(), first.end() - 1);
    for (const MemberRow& row : members_) rows[next[row.instance]++] = row;
    free_memory(members_);
    for (std::size_t i = 0; i + 1 < first.size(); ++i) {
      TRY(make_instance({rows.data() + first[i], first[i + 1] - first[i]}, reader));
    }
    return {};
  }

  Result<void> make_instance(std::span<MemberRow> rows, const Reader& reader) {
    CollectiveInstance instance{.first = list().members.size()};
    const auto named = std::ranges::find_if(rows, &MemberRow::has_kind);
    if (named != rows.end()) instance.kind = named->kind;
    for (const MemberRow& row : rows) {
      if (row.has_kind && row.kind != instance.kind) {
        return reader.problem(row.line, {k_kind, "another row of the instance has another kind"});
      }
      instance.ends_coincide |= row.sync;
      (row.is_end ? instance.ends : instance.begins) += 1;
    }
    TRY(check_twice(rows, reader));
    const auto rank = [](const MemberRow& row) { return row.has_rank ? row.rank : row.clock; };
    std::ranges::stable_sort(rows, {}, [&](const MemberRow& row) {
      return std::pair(row.is_end, instance.kind == EdgeKind::scan ? rank(row) : 0);
    });
    for (const MemberRow& row : rows) list().members.push_back({row.clock, rank(row), row.time});
    list().instances.push_back(instance);
    return {};
  }

  Result<void> check_twice(std::span<const MemberRow> rows, const Reader& reader) const {
    std::vector<std::tuple<bool, std::uint32_t, std::uint64_t>> seen;
    for (const MemberRow& row : rows) seen.emplace_back(row.is_end, row.clock, row.line);
    std::sort(seen.begin(), seen.end());
    for (std::size_t i = 1; i < seen.size(); ++i) {
      const auto& [is_end, clock, line] = seen[i];
      if (std::get<0>(seen[i - 1]) != is_end || std::get<1>(seen[i - 1]) != clock) continue;
      return reader.problem(
          line, {k_instance, fmt::format("clock {} has two {} in the instance",
                                         clocks_.clocks[clock].name, is_end ? "ends" : "begins")});
    }
    return {};
  }

  /// Notes edges that are there more than once, where an explanation weighs each of them.
  void note_twice() {
    constexpr std::size_t k_most = std::size_t{1} << 21;
    const std::size_t count = list().cause_clock.size();
    if (count > k_most) return;
    const auto ends_of = [&](std::uint32_t e) {
      return std::tuple(list().cause_clock[e], list().effect_clock[e], list().cause_time[e],
                        list().effect_time[e]);
    };
    std::vector<std::uint32_t> order(count);
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(order, {}, ends_of);
    std::uint64_t twice = 0;
    std::uint32_t first = k_none;
    for (std::size_t i = 1; i < count; ++i) {
      if (ends_of(order[i]) != ends_of(order[i - 1])) continue;
      ++twice;
      first = std::min(first, order[i]);
    }
    if (twice == 0) return;
    const auto& [cause, effect, from, to] = ends_of(first);
    result_.notes.push_back(
        fmt::format("{} {} there before, and {} again: the first is {} at {} before {} at {}",
                    twice, twice == 1 ? "edge was" : "edges were", twice == 1 ? "counts" : "count",
                    clocks_.clocks[cause].name, from, clocks_.clocks[effect].name, to));
  }

  void note_kinds() {
    if (other_kinds_ == 0) return;
    result_.notes.push_back(
        fmt::format("{} rows have kinds of their own, the first is \"{}\": single edges count as "
                    "p2p, instances as n_to_n",
                    other_kinds_, other_kind_));
  }

  Clocks& clocks_;
  const Layout& layout_;
  unsigned threads_;
  Progress* progress_;
  Cancel cancel_;
  bool known_;  ///< true: the caller gave the clocks
  NameTable names_, instances_;
  BigVector<MemberRow> members_;
  std::uint64_t other_kinds_ = 0;
  std::string other_kind_;
  std::array<std::uint64_t, k_notations> lines_{};  ///< see EdgeRows
  EdgeTable result_;
};

}  // namespace

Result<Layout> layout_of(std::string_view unit, std::string_view columns) {
  Layout layout;
  if (!unit.empty()) {
    const auto known = unit_named(unit);
    if (!known) {
      return usage_error("\"{}\" is no unit of times; give ticks, s, ms, us or ns", unit);
    }
    layout.unit = *known;
  }
  constexpr std::array k_times{k_cause_time, k_effect_time, k_begin, k_end};
  TRY_ASSIGN(layout.columns, columns_of(columns, k_edge_columns, k_times));
  return layout;
}

Result<EdgeTable> read_edges(const Source& source, Clocks& clocks, unsigned threads,
                             Progress* progress, const Layout& layout) {
  return EdgeTableReader(clocks, threads, progress, layout).read(source);
}

}  // namespace entrain::tables
