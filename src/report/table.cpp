// SPDX-License-Identifier: BSD-3-Clause
#include "report/table.hpp"

#include <algorithm>
#include <numeric>

#include "base/printable.hpp"

namespace entrain::report {
namespace {

constexpr std::size_t k_gap = 2;         // blanks between columns
constexpr std::size_t k_least_name = 8;  // names are not shortened below this

/// Escape sequences of the tones, in the order of Tone.
constexpr const char* k_escapes[] = {"", "\x1b[1m", "\x1b[32m", "\x1b[1;31m", "\x1b[2m"};

void append_line(std::string& text, std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  text += line;
  text += '\n';
}

}  // namespace

std::string toned(std::string_view text, Tone tone, const Style& style) {
  if (!style.colour || tone == Tone::plain || text.empty()) return std::string(text);
  return std::string(k_escapes[static_cast<int>(tone)]).append(text).append("\x1b[0m");
}

Table& Table::column(std::string heading, Align align) {
  columns_.push_back({printable(heading), align});
  return *this;
}

Table& Table::row(std::vector<Cell> cells) {
  cells.resize(columns_.size(), Cell(""));
  for (Cell& cell : cells) cell.text = printable(cell.text);
  rows_.push_back(std::move(cells));
  return *this;
}

std::vector<std::size_t> Table::whole_widths() const {
  std::vector<std::size_t> result;
  for (const Column& column : columns_) result.push_back(width_of(column.heading));
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i)
      result[i] = std::max(result[i], width_of(row[i].text));
  }
  return result;
}

std::size_t Table::width() const {
  const std::vector<std::size_t> widths = whole_widths();
  return std::accumulate(widths.begin(), widths.end(), std::size_t{0}) +
         k_gap * (columns_.empty() ? 0 : columns_.size() - 1);
}

std::vector<std::size_t> Table::widths(std::size_t available) const {
  std::vector<std::size_t> result = whole_widths();
  std::size_t total = width();
  while (total > available) {
    std::size_t widest = columns_.size();
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i].align == Align::left && result[i] > k_least_name &&
          (widest == columns_.size() || result[i] > result[widest]))
        widest = i;
    }
    if (widest == columns_.size()) break;
    --result[widest];
    --total;
  }
  return result;
}

std::string Table::text(const Style& style, std::size_t indent) const {
  if (empty()) return "";
  const auto width = widths(style.columns > indent ? style.columns - indent : 0);
  std::string text;
  const auto line = [&](const auto& cell_at) {
    std::string result(indent, ' ');
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const Cell cell = cell_at(i);
      const std::string shown = shortened(cell.text, width[i]);
      const std::string blanks(width[i] - width_of(shown), ' ');
      if (i > 0) result.append(k_gap, ' ');
      if (columns_[i].align == Align::right) result += blanks;
      result += toned(shown, cell.tone, style);
      if (columns_[i].align == Align::left) result += blanks;
    }
    append_line(text, std::move(result));
  };
  const auto headed = [](const Column& column) { return !column.heading.empty(); };
  if (std::ranges::any_of(columns_, headed))
    line([&](std::size_t i) { return Cell(columns_[i].heading, Tone::heading); });
  for (const auto& row : rows_) line([&](std::size_t i) { return row[i]; });
  return text;
}

FieldList& FieldList::field(std::string name, std::string value, Tone tone) {
  fields_.push_back({printable(name), Cell(printable(value), tone)});
  return *this;
}

std::string FieldList::text(const Style& style) const {
  std::size_t indent = 0;
  for (const Field& field : fields_) indent = std::max(indent, width_of(field.name) + k_gap);
  std::string text;
  for (const Field& field : fields_) {
    const std::size_t columns = style.columns > indent ? style.columns - indent : 1;
    std::string head = toned(field.name, Tone::heading, style);
    head.append(indent - width_of(field.name), ' ');
    for (const std::string& line : wrapped(field.value.text, columns)) {
      append_line(text, head + toned(line, field.value.tone, style));
      head.assign(indent, ' ');
    }
  }
  return text;
}

std::vector<std::string> wrapped(std::string_view text, std::size_t columns) {
  std::vector<std::string> lines;
  std::string line;
  while (true) {
    const std::size_t begin = text.find_first_not_of(' ');
    if (begin == std::string_view::npos) break;
    text.remove_prefix(begin);
    const std::string_view word = text.substr(0, text.find(' '));
    if (!line.empty() && width_of(line) + 1 + width_of(word) > columns) {
      lines.push_back(std::move(line));
      line.clear();
    }
    if (!line.empty()) line += ' ';
    line += word;
    text.remove_prefix(word.size());
  }
  if (!line.empty() || lines.empty()) lines.push_back(std::move(line));
  return lines;
}

}  // namespace entrain::report
