// SPDX-License-Identifier: BSD-3-Clause
#include "net/paper/tables_report.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/printable.hpp"
#include "report/json.hpp"
#include "report/table.hpp"

namespace entrain::net {
namespace {

using report::Align;
using report::Cell;
using report::Style;
using report::Table;
using report::Tone;
using Json = nlohmann::ordered_json;

/// The name of a series, shortened for a table.
std::string heading_of(const FigureSeries& series) {
  std::string heading = series.name;
  for (const std::string_view rest : {" reading", "named "}) {
    if (const auto at = heading.find(rest); at != std::string::npos) heading.erase(at, rest.size());
  }
  return heading;
}

}  // namespace

std::size_t TablesReport::differing() const {
  return static_cast<std::size_t>(
      std::count_if(cells.begin(), cells.end(),
                    [](const PublishedCell& cell) { return cell.verdict == Verdict::differs; }));
}

std::string to_text(const TablesReport& report, const Style& style) {
  std::map<std::string, std::size_t> matching, all;
  Table table;
  table.column("where", Align::left).column("value", Align::left).column("", Align::left);
  table.column("paper").column("computed").column("as printed").column("verdict", Align::left);
  for (const PublishedCell& cell : report.cells) {
    ++all[cell.table];
    const bool matches = cell.verdict == Verdict::matches;
    if (matches) ++matching[cell.table];
    const bool entry = cell.table == "table 1" || cell.table == "table 2";
    if (entry && matches && !style.verbose) continue;
    const Tone tone = matches                             ? Tone::good
                      : cell.verdict == Verdict::misprint ? Tone::faint
                                                          : Tone::bad;
    table.row({cell.table,
               cell.row,
               cell.column,
               cell.published,
               cell.computed,
               cell.printed_reading,
               {name_of(cell.verdict), tone}});
  }
  std::string text = table.text(style) + "\n";
  for (const PublishedCell& cell : report.cells) {
    if (cell.note.empty()) continue;
    const std::string note =
        fmt::format("{}, {}, {}: {}.", cell.table, cell.row, cell.column, cell.note);
    for (const std::string& line : report::wrapped(note, style.columns)) text += line + "\n";
  }
  std::size_t matched = 0;
  for (const auto& [name, count] : matching) matched += count;
  text += fmt::format("\n{} of {} published values match; {} differ.\n", matched,
                      report.cells.size(), report.differing());
  for (const Figure& figure : report.figures) {
    Table data;
    data.column(figure.x_label);
    for (const FigureSeries& series : figure.series) data.column(heading_of(series));
    std::map<double, std::vector<Cell>> rows;
    for (std::size_t i = 0; i < figure.series.size(); ++i) {
      for (const auto& [x, y] : figure.series[i].points) {
        auto& cells = rows.try_emplace(x, figure.series.size(), Cell("")).first->second;
        cells[i].text += (cells[i].text.empty() ? "" : ", ") + fmt::format("{:.6g}", y);
      }
    }
    for (auto& [x, cells] : rows) {
      cells.insert(cells.begin(), Cell(fmt::format("{:.6g}", x)));
      data.row(std::move(cells));
    }
    text += fmt::format("\n{}: {} ({})\n", figure.name, figure.title, figure.y_label) +
            data.text(style);
  }
  for (const std::string& file : report.written) text += "\n" + printable(file);
  return report.written.empty() ? text : text + "\n";
}

Json to_json(const TablesReport& report) {
  Json cells = Json::array();
  for (const PublishedCell& cell : report.cells)
    cells.push_back({{"table", cell.table},
                     {"row", cell.row},
                     {"column", cell.column},
                     {"published", cell.published},
                     {"computed", cell.computed},
                     {"printed_reading", cell.printed_reading},
                     {"verdict", name_of(cell.verdict)},
                     {"note", cell.note}});
  Json figures = Json::array();
  for (const Figure& figure : report.figures) {
    Json series = Json::array();
    for (const FigureSeries& one : figure.series) {
      Json points = Json::array();
      for (const auto& [x, y] : one.points) points.push_back({x, y});
      series.push_back({{"name", one.name}, {"points", points}});
    }
    figures.push_back(
        {{"name", figure.name}, {"x", figure.x_label}, {"y", figure.y_label}, {"series", series}});
  }
  return {{"schema", "entrain.net.tables/1"},
          {"cells", cells},
          {"differing", report.differing()},
          {"figures", figures},
          {"written", report.written}};
}

std::string json_text(const TablesReport& report) { return report::dump(to_json(report)); }

Plot figure_plot(const Figure& figure) {
  Plot plot{figure.title, figure.x_label, figure.y_label, {}};
  for (const FigureSeries& series : figure.series)
    plot.series.push_back({series.name, series.points, series.name == "named in the paper"});
  return plot;
}

}  // namespace entrain::net
