// SPDX-License-Identifier: BSD-3-Clause
#include "report/report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <span>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/names.hpp"
#include "report/parts.hpp"
#include "report/units.hpp"

namespace entrain::report {
namespace {

/// Clocks that a sentence names.
constexpr std::size_t k_named = 3;

std::string convention(const ClockTable& table) {
  const std::string against =
      table.reference.empty() ? "" : " against " + short_name(table.reference);
  return fmt::format("Offset and drift are what the clock lacks{}: + it is slow, - it is fast.",
                     against);
}

bool is_wrong(const ClockRow& row) {
  return row.state != ClockState::right && row.state != ClockState::untied;
}

std::size_t count_wrong(const ClockTable& table) {
  return static_cast<std::size_t>(std::ranges::count_if(table.rows, is_wrong));
}

std::size_t count_state(const ClockTable& table, ClockState state) {
  return static_cast<std::size_t>(std::ranges::count(table.rows, state, &ClockRow::state));
}

std::string signed_ticks(std::int64_t ticks, std::uint64_t hz) {
  return (ticks > 0 ? "+" : "") + (ticks == 0 ? "0" : format_ticks(ticks, hz));
}

std::string drift_text(const ClockRow& row) {
  if (!row.drift_ppm) return "-";
  constexpr double k_shown_ppm = 1e-3;
  const double size = std::abs(*row.drift_ppm);
  if (size < k_shown_ppm) return "0";
  return size < 10 ? fmt::format("{:+.2g} ppm", *row.drift_ppm)
                   : fmt::format("{:+.0f} ppm", *row.drift_ppm);
}

std::string bound_text(const std::optional<std::int64_t>& ticks, std::uint64_t hz) {
  if (!ticks) return "-";
  return *ticks == 0 ? "0" : "±" + format_ticks(*ticks, hz);
}

/// A time of day where times count from 1970, else the time since the trace began.
std::string since_text(const ClockRow& row, const ClockTable& table) {
  if (!row.since_ticks) return row.state == ClockState::untied ? "-" : "start";
  constexpr double k_year_2001 = 1e9, k_year_2096 = 4e9;
  const double since = seconds_of(*row.since_ticks, table.resolution_hz);
  if (since < k_year_2001 || since > k_year_2096) {
    return "+" + format_ticks(*row.since_ticks - table.begin_ticks, table.resolution_hz);
  }
  constexpr double k_day_s = 86'400;
  const double length = since - seconds_of(table.begin_ticks, table.resolution_hz);
  const std::tm utc = fmt::gmtime(static_cast<std::time_t>(since));
  return length < k_day_s ? fmt::format("{:%T}Z", utc) : fmt::format("{:%F %T}Z", utc);
}

template <class Has>
bool any_row(const ClockTable& table, Has has) {
  return std::ranges::any_of(table.rows, has);
}

/// The columns that say something of this table, and the cells of a row. Where a line is too short
/// for all of them, those go first that say least, and names stay whole.
class ClockColumns {
 public:
  /// `right`: the word for clocks that nothing speaks against.
  explicit ClockColumns(const ClockTable& table, const char* right = name_of(ClockState::right))
      : table_(table),
        right_(right),
        bounded_(any_row(table, [](const ClockRow& r) { return r.bound_ticks.has_value(); })),
        stepped_(any_row(table, [](const ClockRow& r) { return r.since_ticks.has_value(); })),
        counted_(any_row(table, [](const ClockRow& r) { return r.edges > 0; })),
        violated_(any_row(table, [](const ClockRow& r) { return r.violations > 0; })),
        largest_(bounded_),
        worst_(violated_),
        with_(violated_) {}

  [[nodiscard]] std::string text(std::span<const ClockRow> rows, const Style& style) {
    for (bool* const column : {&with_, &worst_, &largest_, &counted_}) {
      if (table(rows).width() <= style.columns) break;
      *column = false;
    }
    return table(rows).text(style);
  }

 private:
  [[nodiscard]] Table table(std::span<const ClockRow> rows) const {
    Table text;
    text.column("clock", Align::left).column("state", Align::left).column("offset").column("drift");
    if (bounded_) text.column("bound");
    if (largest_) text.column("largest");
    if (stepped_) text.column("since");
    if (violated_) text.column("violated");
    if (counted_) text.column("edges");
    if (worst_) text.column("worst");
    if (with_) text.column("with", Align::left);
    for (const ClockRow& row : rows) text.row(cells(row));
    return text;
  }
  [[nodiscard]] std::vector<Cell> cells(const ClockRow& row) const {
    const std::uint64_t hz = table_.resolution_hz;
    const bool known = row.state != ClockState::untied;
    std::vector<Cell> cells{short_name(row.name),
                            Cell(row.state == ClockState::right ? right_ : name_of(row.state),
                                 is_wrong(row) ? Tone::bad : Tone::plain),
                            known ? signed_ticks(row.offset_ticks, hz) : "-", drift_text(row)};
    if (bounded_) cells.emplace_back(bound_text(row.bound_ticks, hz));
    if (largest_) cells.emplace_back(bound_text(row.worst_bound_ticks, hz));
    if (stepped_) cells.emplace_back(since_text(row, table_));
    if (violated_) cells.emplace_back(format_count(row.violations));
    if (counted_) cells.emplace_back(format_count(row.edges));
    if (row.violations == 0) return cells;
    if (worst_) cells.emplace_back(format_ticks(*row.worst_ticks, hz));
    if (with_) cells.emplace_back(short_name(row.worst_with));
    return cells;
  }

  const ClockTable& table_;
  const char* right_;
  bool bounded_, stepped_, counted_, violated_, largest_, worst_, with_;
};

/// "host19 is slow by 8.450 ms", "rank 1 (or only rank 1 device 0) is fast by 5.000 ms".
std::string fault_text(const ClockRow& row, std::uint64_t hz) {
  const std::string size = format_ticks(std::abs(row.offset_ticks), hz);
  std::string name = short_name(row.name);
  if (!row.maybe_only.empty()) {
    name += fmt::format(" (or only {})", short_name(row.maybe_only));
  }
  const bool is_on_average_right = row.offset_ticks == 0;
  switch (row.state) {
    case ClockState::stepped:
      if (is_on_average_right) return name + " was set";
      return fmt::format("{} was set, and is {} by {} since", name,
                         row.offset_ticks >= 0 ? "slow" : "fast", size);
    case ClockState::bent:
      return fmt::format("{} wanders, by up to {}", name, format_ticks(row.most_ticks, hz));
    default:
      if (is_on_average_right) {
        return fmt::format("{} drifts, by up to {}", name, format_ticks(row.most_ticks, hz));
      }
      return fmt::format("{} is {} by {}", name, name_of(row.state), size);
  }
}

std::string wrong_sentence(const ClockTable& table, std::size_t wrong) {
  const std::size_t right = count_state(table, ClockState::right);
  std::string text;
  std::size_t named = 0;
  for (const ClockRow& row : table.rows) {
    if (!is_wrong(row)) continue;
    if (named == (wrong > k_named ? 1 : k_named)) break;
    text += (named++ == 0 ? "" : ", ") + fault_text(row, table.resolution_hz);
  }
  if (wrong > k_named) {
    text = fmt::format("{} of {} clocks are wrong; {}", format_count(wrong),
                       format_count(table.rows.size()), text);
  } else if (right == 1 && !table.reference.empty()) {
    text += fmt::format("; the reference is {}", short_name(table.reference));
  } else if (right > 0) {
    text += fmt::format("; {} {} right", format_number_of(right, "other clock"),
                        right == 1 ? "is" : "are");
  }
  return text + ".";
}

/// ", of which d moves by up to 3.000 ms to meet the edges among them"; "" if none moves.
std::string untied_moves(const ClockTable& table) {
  std::string names;
  std::size_t count = 0;
  std::int64_t most = 0;
  for (const ClockRow& row : table.rows) {
    if (row.state != ClockState::untied || row.most_ticks == 0) continue;
    most = std::max(most, row.most_ticks);
    if (++count <= k_named) names += (count == 1 ? "" : ", ") + short_name(row.name);
  }
  if (count == 0) return "";
  return fmt::format(", of which {} {} by up to {} to meet the edges among them",
                     count > k_named ? format_count(count) : names, count == 1 ? "moves" : "move",
                     format_ticks(most, table.resolution_hz));
}

Json row_json(const ClockRow& row, std::uint64_t hz) {
  const bool known = row.state != ClockState::untied;
  return {{"clock", row.name},
          {"machine", text_or_null(row.machine)},
          {"state", name_of(row.state)},
          {"offset_s", known ? seconds(row.offset_ticks, hz) : Json(nullptr)},
          {"most_s", known ? seconds(row.most_ticks, hz) : Json(nullptr)},
          {"drift_ppm", number(row.drift_ppm)},
          {"bound_s", seconds(row.bound_ticks, hz)},
          {"worst_bound_s", seconds(row.worst_bound_ticks, hz)},
          {"since_s", seconds(row.since_ticks, hz)},
          {"edges", row.edges},
          {"violations", row.violations},
          {"worst_s", seconds(row.worst_ticks, hz)},
          {"worst_with", text_or_null(row.worst_with)},
          {"maybe_only", text_or_null(row.maybe_only)}};
}

/// The figure by which an order sorts; empty ones are smallest.
double figure_of(const ClockRow& row, ClockOrder order) {
  switch (order) {
    case ClockOrder::offset:
      return static_cast<double>(row.most_ticks);
    case ClockOrder::drift:
      return std::abs(row.drift_ppm.value_or(0));
    case ClockOrder::bound:
      return static_cast<double>(row.bound_ticks.value_or(-1));
    case ClockOrder::edges:
      return static_cast<double>(row.edges);
    default:
      return 0;
  }
}

}  // namespace

void sort_clocks(ClockTable& table, ClockOrder order) {
  if (order == ClockOrder::off) return;
  std::ranges::stable_sort(table.rows, [&](const ClockRow& a, const ClockRow& b) {
    if (order == ClockOrder::state && a.state != b.state) return a.state > b.state;
    const double x = figure_of(a, order), y = figure_of(b, order);
    return x != y ? x > y : in_natural_order(a.name, b.name);
  });
}

std::string clocks_sentence(const ClockTable& table) {
  if (table.rows.empty()) return "";
  const std::size_t wrong = count_wrong(table), untied = count_state(table, ClockState::untied);
  std::string text;
  if (wrong > 0) {
    text = wrong_sentence(table, wrong);
    if (table.reference.empty()) {
      text +=
          " No clock kept its times to the tick: offset and drift are against the clock in the "
          "middle.";
    }
  } else if (untied < table.rows.size()) {
    const std::size_t right = table.rows.size() - untied;
    text =
        right == 1 ? "1 clock is right." : fmt::format("{} clocks are right.", format_count(right));
  }
  if (untied == 0) return text;
  if (untied == 1 && table.rows.size() == 1) return "There is one clock, and nothing to compare.";
  if (untied == table.rows.size()) {
    return fmt::format("Nothing ties the {} clocks to each other{}.", format_count(untied),
                       untied_moves(table));
  }
  return text + fmt::format("{}Nothing ties {} to the others{}.", text.empty() ? "" : " ",
                            format_number_of(untied, "clock"), untied_moves(table));
}

std::string wrong_clocks_text(const ClockTable& table, std::uint64_t left, std::size_t most,
                              const Style& style) {
  if (table.rows.empty()) return "";
  const std::size_t wrong = count_wrong(table);
  std::string text;
  if (left > 0) {
    text = paragraph(wrong > 0 ? "Edges are still violated: more is wrong than the clocks show."
                               : "Edges are still violated, and no clock was found that is wrong.",
                     style, Tone::bad);
  }
  if (left == 0 || wrong > 0) text += paragraph(clocks_sentence(table), style);
  if (wrong == 0) return text;
  text += paragraph(convention(table), style, Tone::faint);
  const std::span<const ClockRow> rows(table.rows);  // the wrong ones first
  text += ClockColumns(table).text(rows.first(std::min(wrong, most)), style);
  if (wrong > most) {
    text += fmt::format("and {} more (-v lists all)\n", format_count(wrong - most));
  }
  return text;
}

std::string to_text(ClockTable table, const Style& style, ClockOrder order) {
  if (table.rows.empty()) return "No clock has events.\n";
  const std::size_t wrong = count_wrong(table);
  std::string text = paragraph(clocks_sentence(table), style, wrong > 0 ? Tone::bad : Tone::good);
  if (style.brief) return text;
  sort_clocks(table, order);
  return text + paragraph(convention(table), style, Tone::faint) + "\n" +
         ClockColumns(table).text(table.rows, style);
}

std::string clocks_text(CheckReport check, const Style& style, ClockOrder order) {
  std::string guesses;
  for (const std::string& guess : check.guesses) {
    guesses += "\n" + paragraph("guessed " + guess, style, Tone::faint);
  }
  if (check.judgement.verdict != Verdict::unproven) {
    std::string text = to_text(check.clocks, style, order);
    if (style.brief) return text;
    text += guesses;
    if (count_wrong(check.clocks) == 0) return text;
    if (const std::string worst = worst_violation(check, style); !worst.empty()) {
      text += "\n" + worst;
    }
    return text + "\n" + paragraph("Go on: entrain correct repairs the times.", style);
  }
  const std::string verdict = verdict_text(check, style);
  if (style.brief) return verdict;
  if (check.clocks.rows.empty()) return verdict + guesses;
  sort_clocks(check.clocks, order);
  return verdict + "\n" + ClockColumns(check.clocks, "unproven").text(check.clocks.rows, style) +
         guesses;
}

Json clocks_json(const ClockTable& table) {
  if (table.rows.empty()) return nullptr;
  return array_of(table.rows,
                  [&](const ClockRow& row) { return row_json(row, table.resolution_hz); });
}

Json to_json(const ClockTable& table) {
  Json rows = clocks_json(table);
  return {{"schema", "entrain.clocks/1"},
          {"archive", table.archive},
          {"resolution_hz", table.resolution_hz},
          {"reference", text_or_null(table.reference)},
          {"clocks", rows.is_null() ? Json::array() : std::move(rows)}};
}

std::string clocks_json_text(const CheckReport& check) {
  Json json = to_json(check.clocks);
  add_verdict(json, check.judgement);
  return dump(json);
}

std::string clocks_csv(const ClockTable& table) {
  std::string text = csv_heading(row_json({}, 1));
  for (const ClockRow& row : table.rows) text += csv_line(row_json(row, table.resolution_hz));
  return text;
}

}  // namespace entrain::report
