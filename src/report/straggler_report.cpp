// SPDX-License-Identifier: BSD-3-Clause
#include "report/report.hpp"

#include <algorithm>
#include <functional>
#include <span>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/parts.hpp"
#include "report/units.hpp"

namespace entrain::report {
namespace {

constexpr std::size_t k_named_ranks = 3;  ///< names in a sentence
constexpr std::size_t k_rows = 12;        ///< rows of ranks that fit on a screen
constexpr std::size_t k_longest = 10;     ///< collectives in JSON
constexpr std::size_t k_most_shown = 3;   ///< groups, steps and collectives as text

std::uint64_t whole_collectives(const StragglerReport& report) {
  return report.proven + report.ties + report.nobody + report.unproven;
}

/// "rank 3", "rank 3, rank 5 and rank 6", "8 of 64 ranks (rank 8, rank 9 and more)".
std::string names_of_first(const StragglerReport& report, std::size_t count) {
  std::string text;
  for (std::size_t r = 0; r < std::min(count, k_named_ranks); ++r) {
    const bool is_last = r > 0 && r + 1 == count;
    text += (r == 0    ? ""
             : is_last ? " and "
                       : ", ") +
            short_name(report.processes[report.rows[r].process]);
  }
  if (count <= k_named_ranks) return text;
  return fmt::format("{} of {} processes ({} and more)", count, report.rows.size(), text);
}

std::string rest_of(const StragglerReport& report) {
  std::string text;
  const auto add = [&](std::uint64_t n, const char* what) {
    if (n > 0) text += fmt::format("; {}: {}", what, format_count(n));
  };
  add(report.ties, "ties");
  add(report.unproven, "unproven");
  add(report.incomplete, "not known of all members");
  return text;
}

/// Last, as far as only corrected times tell.
std::string likely_text(const StragglerReport& report) {
  const auto most = std::ranges::max_element(report.rows, {}, &StragglerRow::likely);
  const std::uint64_t open = report.ties + report.unproven;
  if (open <= report.proven || most == report.rows.end() || most->likely == 0) return "";
  return fmt::format(
      " By their times alone {} would be last most often, in {} of these {}, and the others would "
      "wait {} for it.",
      short_name(report.processes[most->process]), format_count(most->likely), format_count(open),
      format_ticks(most->likely_ticks, report.resolution_hz));
}

std::string wait_text(const StragglerReport& report, std::int64_t ticks) {
  std::string text = format_ticks(ticks, report.resolution_hz);
  if (report.by_step.empty()) return text;
  const auto steps = static_cast<double>(report.by_step.size());
  return text + fmt::format(" ({} per step)",
                            format_duration(seconds_of(ticks, report.resolution_hz) / steps));
}

const std::string& name_at(const std::vector<std::string>& names, std::uint64_t at) {
  return names[static_cast<std::size_t>(at)];
}

/// The first ones by size.
template <class Row, class Size>
std::vector<Row> largest(std::vector<Row> rows, std::size_t most, Size size) {
  std::ranges::stable_sort(rows, std::greater(), size);
  if (rows.size() > most) rows.resize(most);
  return rows;
}

std::vector<CollectiveWait> longest_waits(const StragglerReport& report, std::size_t most) {
  std::vector<CollectiveWait> proven;
  for (const CollectiveWait& one : report.collectives) {
    if (one.known == LastArrival::proven) proven.push_back(one);
  }
  return largest(std::move(proven), most, &CollectiveWait::wait_ticks);
}

std::string ranks_text(const StragglerReport& report, const Style& style) {
  const std::uint64_t hz = report.resolution_hz;
  const bool any_likely =
      std::ranges::any_of(report.rows, [](const StragglerRow& row) { return row.likely > 0; });
  const bool any_proven = report.proven > 0;
  Table table{{"", Align::left}, {any_proven ? "last" : "collectives"}};
  if (any_proven) table.column("of").column("others wait").column("alone").column("longest");
  if (report.ties > 0) table.column("ties");
  if (any_likely) table.column("perhaps last");
  if (any_likely && !any_proven) table.column("others would wait");
  const std::size_t shown = style.verbose ? report.rows.size() : k_rows;
  for (std::size_t r = 0; r < std::min(shown, report.rows.size()); ++r) {
    const StragglerRow& row = report.rows[r];
    std::vector<Cell> cells{Cell(short_name(report.processes[row.process]),
                                 r < report.outstanding ? Tone::bad : Tone::plain)};
    if (any_proven) cells.emplace_back(format_count(row.last));
    cells.emplace_back(format_count(row.collectives));
    for (const std::int64_t ticks : {row.wait_ticks, row.alone_ticks, row.longest_ticks}) {
      if (any_proven) cells.emplace_back(format_ticks(ticks, hz));
    }
    if (report.ties > 0) cells.emplace_back(format_count(row.ties));
    if (any_likely) cells.emplace_back(format_count(row.likely));
    if (any_likely && !any_proven) cells.emplace_back(format_ticks(row.likely_ticks, hz));
    table.row(std::move(cells));
  }
  std::string text = table.text(style);
  if (report.rows.size() > shown) {
    text += fmt::format("and {} more (-v lists all)\n", format_count(report.rows.size() - shown));
  }
  return text;
}

/// Groups or steps in which the others wait longest; "" without waits.
std::string sums_text(const StragglerReport& report, const std::vector<WaitSum>& sums, bool groups,
                      const Style& style) {
  Table table{{groups ? "group" : "step", Align::left},
              {"collectives"},
              {"proven"},
              {"ties"},
              {"others wait"},
              {"most for", Align::left}};
  for (const WaitSum& sum : largest(sums, k_most_shown, &WaitSum::wait_ticks)) {
    if (!sum.worst) continue;
    const std::string name =
        groups ? short_name(name_at(report.groups, sum.number)) : format_count(sum.number);
    table.row({name, format_count(sum.collectives), format_count(sum.proven),
               format_count(sum.ties), format_ticks(sum.wait_ticks, report.resolution_hz),
               short_name(report.processes[*sum.worst])});
  }
  return table.empty() ? "" : "\n" + table.text(style);
}

std::string longest_text(const StragglerReport& report, const Style& style) {
  Table table{{"longest waits", Align::left}, {"group", Align::left}, {"at"},
              {"last", Align::left},          {"others wait"},        {"certain lead"}};
  for (const CollectiveWait& one : longest_waits(report, k_most_shown)) {
    table.row({short_name(name_at(report.operations, one.operation)),
               short_name(name_at(report.groups, one.group)),
               format_time(one.time_ticks, report.resolution_hz),
               short_name(report.processes[one.last]),
               format_ticks(one.wait_ticks, report.resolution_hz),
               format_ticks(one.certain_ticks.value_or(0), report.resolution_hz)});
  }
  return table.empty() ? "" : "\n" + table.text(style);
}

const char* verdict_of(const StragglerReport& report) {
  if (report.proven == 0) return "unproven";
  return report.outstanding > 0 ? "stragglers" : "none";
}

Json row_json(const StragglerReport& report, const StragglerRow& row) {
  const std::uint64_t hz = report.resolution_hz;
  return {{"rank", name_at(report.processes, row.process)},
          {"collectives", row.collectives},
          {"last", row.last},
          {"wait_s", seconds(row.wait_ticks, hz)},
          {"alone_s", seconds(row.alone_ticks, hz)},
          {"longest_s", seconds(row.longest_ticks, hz)},
          {"ties", row.ties},
          {"likely", row.likely},
          {"likely_wait_s", seconds(row.likely_ticks, hz)}};
}

Json sums_json(const StragglerReport& report, const std::vector<WaitSum>& sums, bool groups) {
  return array_of(sums, [&](const WaitSum& sum) -> Json {
    return {{groups ? "group" : "step",
             groups ? Json(name_at(report.groups, sum.number)) : Json(sum.number)},
            {"collectives", sum.collectives},
            {"proven", sum.proven},
            {"ties", sum.ties},
            {"wait_s", seconds(sum.wait_ticks, report.resolution_hz)},
            {"worst", sum.worst ? Json(report.processes[*sum.worst]) : Json(nullptr)},
            {"worst_wait_s", seconds(sum.worst_ticks, report.resolution_hz)}};
  });
}

Json collective_json(const StragglerReport& report, const CollectiveWait& one) {
  const std::uint64_t hz = report.resolution_hz;
  return {{"time_ticks", one.time_ticks},
          {"time_s", seconds(one.time_ticks, hz)},
          {"operation", name_at(report.operations, one.operation)},
          {"group", name_at(report.groups, one.group)},
          {"step", one.step ? Json(*one.step) : Json(nullptr)},
          {"members", one.members},
          {"known", name_of(one.known)},
          {"last", name_at(report.processes, one.last)},
          {"alone_s", seconds(one.alone_ticks, hz)},
          {"wait_s", seconds(one.wait_ticks, hz)},
          {"longest_s", seconds(one.longest_ticks, hz)},
          {"certain_s", seconds(one.certain_ticks, hz)}};
}

}  // namespace

std::string stragglers_sentence(const StragglerReport& report) {
  const std::uint64_t whole = whole_collectives(report);
  if (report.collectives.empty()) return "There is no collective in which members wait for others.";
  if (whole == 0) {
    return fmt::format("There is no collective of which all members are known{}.", rest_of(report));
  }
  if (report.proven == 0) {
    const std::string why = !report.reason.empty() ? ", as " + report.reason
                            : report.ties > 0
                                ? ": the bounds of the clocks do not tell one from others"
                                : "";
    return fmt::format("Of {}, no last arrival is proved{}{}.{}",
                       format_number_of(whole, "collective"), why, rest_of(report),
                       likely_text(report));
  }
  const bool any = report.outstanding > 0;
  const std::size_t named = std::max<std::size_t>(report.outstanding, 1);
  std::uint64_t last = 0;
  std::int64_t wait = 0;
  for (const StragglerRow& row : std::span(report.rows).first(named)) {
    last += row.last;
    wait += row.wait_ticks;
  }
  return fmt::format("{}{} {} last in {} of {}: the others wait {} for {}{}.{}",
                     any                                             ? ""
                     : report.ties + report.unproven > report.proven ? "Nobody is proved to stand "
                                                                       "out: "
                                                                     : "No process stands out: ",
                     names_of_first(report, named), named > 1 ? "are" : "is", format_count(last),
                     format_number_of(whole, "collective"), wait_text(report, wait),
                     named > 1 ? "them" : "it", rest_of(report), likely_text(report));
}

std::string to_text(const StragglerReport& report, const Style& style) {
  const Tone tone = report.proven == 0       ? Tone::plain
                    : report.outstanding > 0 ? Tone::bad
                                             : Tone::good;
  std::string text = paragraph(stragglers_sentence(report), style, tone);
  if (style.brief) return text;
  if (report.contradicting > 0) {
    text += paragraph(
        fmt::format("In {} a member leaves before the last one comes, by the corrected times: "
                    "their calls do not belong together, or a clock is still wrong.",
                    format_number_of(report.contradicting, "unproven collective")),
        style, Tone::faint);
  }
  for (const std::string& note : report.notes) text += paragraph(note, style, Tone::faint);
  if (!report.rows.empty()) text += "\n" + ranks_text(report, style);
  if (report.by_group.size() > 1) text += sums_text(report, report.by_group, true, style);
  text += sums_text(report, report.by_step, false, style) + longest_text(report, style);
  if (!report.left_out.empty()) {
    text += "\n" + paragraph("Left out: " + counters_text(report.left_out, style), style);
  }
  text += "\n";
  if (report.proven > 0) {
    text += paragraph(
        "Others wait: sum over all who wait. Alone: only this one was missing. Ties: the clocks do "
        "not tell who was last.",
        style, Tone::faint);
  }
  return text + paragraph(
                    "Go on: entrain correct writes these times for your viewer; of a training run, "
                    "entrain "
                    "report shows this as a page.",
                    style);
}

Json to_json(const StragglerReport& report) {
  const auto row = [&](const StragglerRow& one) { return row_json(report, one); };
  const auto name = [&](const StragglerRow& one) { return report.processes[one.process]; };
  const auto wait = [&](const CollectiveWait& one) { return collective_json(report, one); };
  return {{"schema", "entrain.stragglers/1"},
          {"archive", report.archive},
          {"resolution_hz", report.resolution_hz},
          {"verdict", verdict_of(report)},
          {"stragglers", array_of(std::span(report.rows).first(report.outstanding), name)},
          {"reason", text_or_null(report.reason)},
          {"collectives", report.collectives.size()},
          {"proven", report.proven},
          {"ties", report.ties},
          {"nobody", report.nobody},
          {"unproven", report.unproven},
          {"incomplete", report.incomplete},
          {"contradicting", report.contradicting},
          {"wait_s", seconds(report.wait_ticks, report.resolution_hz)},
          {"ranks", array_of(report.rows, row)},
          {"groups", sums_json(report, report.by_group, true)},
          {"steps", sums_json(report, report.by_step, false)},
          {"longest", array_of(longest_waits(report, k_longest), wait)},
          {"left_out", counters(report.left_out)},
          {"notes", report.notes}};
}

std::string stragglers_csv(const StragglerReport& report) {
  StragglerReport named;  // one collective, for the names of the columns
  named.processes = named.operations = named.groups = {""};
  std::string text = csv_heading(collective_json(named, {}));
  for (const CollectiveWait& one : report.collectives) {
    text += csv_line(collective_json(report, one));
  }
  return text;
}

}  // namespace entrain::report
