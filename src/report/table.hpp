// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace entrain::report {

/// Layout of reports for people.
struct Style {
  bool colour = false;   ///< ANSI colours; the caller knows whether it writes to a terminal
  bool verbose = false;  ///< also rows that say nothing special
  bool brief = false;    ///< the verdict alone
  std::size_t columns = 100;
};

enum class Align { left, right };

/// The meaning of a piece of text; shown as a colour where colours are shown.
enum class Tone { plain, heading, good, bad, faint };

/// `text` in the colour of its tone.
std::string toned(std::string_view text, Tone tone, const Style& style);

struct Cell {
  Cell(std::string text_, Tone tone_ = Tone::plain) : text(std::move(text_)), tone(tone_) {}
  Cell(const char* text_, Tone tone_ = Tone::plain) : text(text_), tone(tone_) {}

  std::string text;
  Tone tone;
};

/// A table of aligned columns for people.
///
/// Cells are made printable. A table that would be wider than Style::columns has its left-aligned
/// columns (names) shortened, the widest first; numbers are never cut.
class Table {
 public:
  struct Column {
    std::string heading;
    Align align = Align::right;
  };
  Table() = default;
  Table(std::initializer_list<Column> columns) {
    for (const Column& one : columns) column(one.heading, one.align);
  }
  Table& column(std::string heading, Align align = Align::right);
  /// Adds a row; it may have as many cells as there are columns, and missing ones are empty.
  Table& row(std::vector<Cell> cells);
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  /// Columns of text that it takes if no name is shortened.
  [[nodiscard]] std::size_t width() const;
  /// Headings (unless all are empty) and rows, each ending with a newline, no trailing blanks. ""
  /// without rows.
  [[nodiscard]] std::string text(const Style& style, std::size_t indent = 0) const;

 private:
  [[nodiscard]] std::vector<std::size_t> whole_widths() const;
  [[nodiscard]] std::vector<std::size_t> widths(std::size_t available) const;

  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

/// Names and values, one per line: values start in one column and are wrapped at Style::columns.
class FieldList {
 public:
  FieldList& field(std::string name, std::string value, Tone tone = Tone::plain);
  /// The same, unless the value is empty.
  FieldList& some(std::string name, std::string value) {
    return value.empty() ? *this : field(std::move(name), std::move(value));
  }
  [[nodiscard]] std::string text(const Style& style) const;

 private:
  struct Field {
    std::string name;
    Cell value;
  };
  std::vector<Field> fields_;
};

/// Breaks text at blanks into lines of at most `columns`; a longer word has a line of its own.
std::vector<std::string> wrapped(std::string_view text, std::size_t columns);

}  // namespace entrain::report
