// SPDX-License-Identifier: BSD-3-Clause
#include "formats/tables/reader.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/ranges.h>

#include "base/file_mark.hpp"
#include "base/memory_room.hpp"
#include "base/printable.hpp"
#include "base/try.hpp"
#include "formats/json/text_file.hpp"
#include "formats/tables/csv.hpp"
#include "formats/tables/json_lines.hpp"

namespace entrain::tables {
namespace {

constexpr std::size_t k_piece = std::size_t{4} << 20;
constexpr std::size_t k_longest_row = std::size_t{16} << 20;

constexpr std::size_t k_most_named = 60, k_most_said = 160;  ///< code points

/// A name or a reason for a sentence: short, and without control characters.
std::string shown(std::string_view text, std::size_t most = k_most_named) {
  return shortened(printable(text), most);
}

/// Comma, semicolon or tab: what stands most often in a row, outside quotes.
char delimiter_of(std::string_view row) {
  std::array<std::size_t, 3> counts{};
  constexpr std::string_view k_delimiters = ",;\t";
  bool quoted = false;
  for (const char c : row) {
    if (c == '\n' && !quoted) break;
    if (c == '"') quoted = !quoted;
    const std::size_t which = quoted ? k_delimiters.npos : k_delimiters.find(c);
    if (which != k_delimiters.npos) ++counts[which];
  }
  const auto most = std::max_element(counts.begin(), counts.end());
  return k_delimiters[static_cast<std::size_t>(most - counts.begin())];
}

/// The keys of a line that is a JSON object with plain values.
std::vector<std::string> keys_of(std::string_view line) {
  std::vector<std::string> keys;
  for (std::size_t begin = line.find('"'); begin != std::string_view::npos;) {
    std::size_t end = begin + 1;
    while (end < line.size() && line[end] != '"') end += line[end] == '\\' ? 2 : 1;
    if (end >= line.size()) break;
    const std::size_t next = line.find_first_not_of(" \t", end + 1);
    if (next != std::string_view::npos && line[next] == ':')
      keys.emplace_back(line.substr(begin + 1, end - begin - 1));
    begin = line.find('"', end + 1);
  }
  return keys;
}

/// True if a field has the name, in any case; a unit may follow.
bool is_called(std::string_view field, std::string_view name) {
  const auto same = [](char a, char b) {
    return a == b || (a >= 'A' && a <= 'Z' && a - 'A' + 'a' == b);
  };
  const bool begins =
      field.size() >= name.size() && std::equal(name.begin(), name.end(), field.begin(),
                                                [&](char n, char f) { return same(f, n); });
  if (!begins || field.size() == name.size()) return begins;
  return field[name.size()] == '_' && unit_named(field.substr(name.size() + 1)).has_value();
}

/// The unit in brackets at the end of a name, which loses it; unnamed if there is none.
Unit cut_unit(std::string_view& name) {
  const std::size_t open = name.rfind('[');
  if (open == std::string_view::npos || open == 0 || !name.ends_with(']')) return Unit::unnamed;
  const auto unit = unit_named(name.substr(open + 1, name.size() - open - 2));
  if (unit) name = name.substr(0, open);
  return unit.value_or(Unit::unnamed);
}

}  // namespace

Result<std::vector<GivenColumn>> columns_of(std::string_view text,
                                            std::span<const std::string_view> columns,
                                            std::span<const std::size_t> times) {
  std::vector<GivenColumn> all;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(','));
    text.remove_prefix(std::min(one.size() + 1, text.size()));
    const std::size_t equals = std::min(one.find('='), one.size());
    const auto column = std::ranges::find(columns, one.substr(0, equals));
    if (column == columns.end() || equals + 1 >= one.size()) {
      return usage_error("\"{}\" names no column; give {}=NAME or {}=NUMBER with one of {}", one,
                         columns.front(), columns[times.front()], fmt::join(columns, ", "));
    }
    const auto position = static_cast<std::size_t>(column - columns.begin());
    std::string_view name = one.substr(equals + 1);
    const bool is_time = std::ranges::find(times, position) != times.end();
    const Unit unit = is_time ? cut_unit(name) : Unit::unnamed;
    for (const GivenColumn& other : all) {
      if (other.column != position && other.name != name) continue;
      return usage_error("--columns names {} twice", other.column == position ? *column : name);
    }
    all.push_back({position, std::string(name), unit});
  }
  return all;
}

Result<Reader> Reader::open(const Source& source, std::span<const std::string_view> columns,
                            const Naming& naming) {
  Reader reader;
  reader.path_ = source.name;
  for (const std::string_view column : columns) reader.columns_.emplace_back(column);
  if (source.text) {  // counts as read
    reader.buffer_.assign(source.text->begin(), source.text->end());
    reader.filled_ = reader.offset_ = reader.size_ = source.text->size();
    TRY(reader.fill(0));
  } else {
    TRY(reader.open_file(source.file, naming.max_unpacked));
  }
  reader.units_.resize(columns.size(), Unit::unnamed);
  for (const auto& [column, name, unit] : naming.given) {
    for (std::string& other : reader.columns_) {  // what is given means nothing else
      if (other == name) other.insert(0, 1, '\0');
    }
    reader.columns_[column] = name;
    reader.units_[column] = unit;
  }
  TRY(reader.read_header(naming));
  return reader;
}

/// Opens a file; the text of a packed one is read at once.
Result<void> Reader::open_file(const std::filesystem::path& file, std::uint64_t max_unpacked) {
  TRY_ASSIGN(json::TextReader text, json::TextReader::open(file, max_unpacked));
  if (text.packing() == json::Packing::none) {
    TRY_ASSIGN(file_, File::open_for_reading(file));
    size_ = file_.size_when_opened();
    return fill(k_piece);
  }
  for (bool more = true; more;) {
    TRY(check_memory_room(path_, buffer_.size() + k_piece));
    buffer_.resize(filled_ + k_piece);
    TRY_ASSIGN(const std::size_t read, text.read({buffer_.data() + filled_, k_piece}));
    filled_ += read;
    more = read == k_piece;
  }
  if (text.cut()) {
    return input_error("{} ends inside its packed stream", path_.string());
  }
  offset_ = size_ = filled_;
  return fill(0);
}

bool Reader::has(std::size_t column) const {
  return json_ || std::ranges::count(column_of_field_, column) > 0;
}

/// Skips empty lines, and comments of CSV.
void Reader::skip_comments() {
  const auto is_blank = [&](char c) { return std::strchr(" \t\r\n", c) != nullptr && c != '\0'; };
  while (used_ < filled_) {
    if (buffer_[used_] == '#') {
      while (used_ < filled_ && buffer_[used_] != '\n') ++used_;
    } else if (!is_blank(buffer_[used_])) {
      return;
    }
    if (used_ < filled_) line_ += buffer_[used_++] == '\n' ? 1 : 0;
  }
}

Result<void> Reader::read_header(const Naming& naming) {
  if (json::is_utf16({buffer_.data(), filled_})) return json::no_utf16(path_);
  if (filled_ >= 3 && std::memcmp(buffer_.data(), "\xEF\xBB\xBF", 3) == 0) used_ = 3;
  skip_comments();
  if (used_ == filled_) {
    return input_error("{} is empty; give a table with a header line", path_.string());
  }
  const std::string_view text(buffer_.data(), filled_);
  own_ = text.substr(0, k_mark_reach).find(k_mark_begin) != std::string_view::npos;
  json_ = buffer_[used_] == '{';
  if (json_) {
    const std::string_view line = text.substr(used_, text.find('\n', used_) - used_);
    const std::vector<std::string> keys = keys_of(line);
    guess(naming, [&](std::size_t column, std::string_view name) {
      const auto is_it = [&](const std::string& key) { return is_called(key, name); };
      if (std::ranges::count(keys, columns_[column]) > 0) return false;
      if (std::ranges::count_if(keys, is_it) != 1) return false;
      columns_[column] = *std::ranges::find_if(keys, is_it);
      return true;
    });
    return {};
  }
  const std::size_t end = end_of_rows(used_, 1);
  if (end == used_) {
    return problem(line_, {Problem::k_whole_row, "the header line does not end"});
  }
  const std::string_view header = text.substr(used_, end - used_);
  delimiter_ = delimiter_of(header);
  CsvRow row(header, delimiter_);
  std::vector<std::string> fields;
  std::string_view field;
  std::string why;
  while (row.next(field, why)) fields.emplace_back(field);
  if (!why.empty()) return problem(line_, {Problem::k_whole_row, why});
  TRY(name_columns(naming, fields));
  if (has_header_) {
    line_ += row.lines();
    used_ += row.size();
  }
  header_.assign(buffer_.data(), used_);
  return {};
}

/// Takes a given column; true if it is a number. A number that counts a field is none of the names.
Result<bool> Reader::take_given(const GivenColumn& given, const std::vector<std::string>& fields) {
  std::uint64_t number = 0;
  std::string why;
  const bool is_number =
      parse_ticks(given.name, number, why) && number > 0 && number <= fields.size();
  std::size_t at = number - 1;
  if (!is_number) {
    const auto is_it = [&](std::string_view field) {
      return field == given.name ||
             (given.unit != Unit::unnamed && cut_unit(field) == given.unit && field == given.name);
    };
    if (std::ranges::count_if(fields, is_it) > 1) {
      return problem(line_, {given.column, "stands twice in the header"});
    }
    at = static_cast<std::size_t>(std::ranges::find_if(fields, is_it) - fields.begin());
  }
  if (at == fields.size()) return problem(line_, {given.column, "there is no such column"});
  if (column_of_field_[at] != Problem::k_whole_row) {
    return problem(line_, {given.column, "is named twice"});
  }
  column_of_field_[at] = given.column;
  return is_number;
}

/// Finds the columns, and whether the first row is a header.
Result<void> Reader::name_columns(const Naming& naming, const std::vector<std::string>& fields) {
  column_of_field_.assign(fields.size(), Problem::k_whole_row);
  bool numbers = !naming.given.empty(), digits = false;
  for (const GivenColumn& given : naming.given) {
    TRY_ASSIGN(const bool is_number, take_given(given, fields));
    numbers = numbers && is_number;
  }
  const auto field_of = [&](std::size_t column) -> const std::string& {
    const auto at = std::ranges::find(column_of_field_, column);
    return fields[static_cast<std::size_t>(at - column_of_field_.begin())];
  };
  for (const GivenColumn& given : naming.given) {
    const std::string& field = field_of(given.column);
    digits = digits || (!field.empty() && field.front() >= '0' && field.front() <= '9');
  }
  for (std::size_t i = 0; i < fields.size(); ++i) {
    for (std::size_t column = 0; column < columns_.size(); ++column) {
      const bool is_given =
          std::ranges::find(naming.given, column, &GivenColumn::column) != naming.given.end();
      if (is_given || columns_[column] != fields[i]) continue;
      if (has(column)) return problem(line_, {column, "stands twice in the header"});
      if (column_of_field_[i] == Problem::k_whole_row) column_of_field_[i] = column;
    }
  }
  has_header_ = !numbers || !digits;
  if (!has_header_) return {};
  for (const GivenColumn& given : naming.given) {  // a name says more than a number, if only a unit
    columns_[given.column] = field_of(given.column);
  }
  guess(naming, [&](std::size_t column, std::string_view name) {
    if (has(column)) return false;
    std::size_t found = Problem::k_whole_row;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (!is_called(fields[i], name)) continue;
      if (found != Problem::k_whole_row) return false;
      found = i;
    }
    if (found == Problem::k_whole_row || column_of_field_[found] != Problem::k_whole_row)
      return false;
    column_of_field_[found] = column;
    columns_[column] = fields[found];
    return true;
  });
  return {};
}

/// Offers the other names of columns until `take` takes one.
void Reader::guess(const Naming& naming,
                   const std::function<bool(std::size_t, std::string_view)>& take) {
  for (std::size_t column = 0; column < naming.others.size(); ++column) {
    const std::string wanted = columns_[column];
    std::string_view rest = naming.others[column];
    for (bool found = false; !rest.empty() && !found;) {
      const std::string_view name = rest.substr(0, rest.find(' '));
      rest.remove_prefix(std::min(name.size() + 1, rest.size()));
      found = take(column, name);
      // The name itself may have a unit, or other letters.
      if (!found || name == wanted) continue;
      guesses_.push_back(fmt::format("{} is {}", wanted, shown(columns_[column])));
    }
  }
}

Result<void> Reader::fill(std::size_t bytes) {
  std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(used_),
            buffer_.begin() + static_cast<std::ptrdiff_t>(filled_), buffer_.begin());
  filled_ -= std::exchange(used_, 0);
  buffer_.resize(std::max(buffer_.size(), filled_ + bytes + k_padding));
  while (bytes > 0 && offset_ < size_) {
    TRY_ASSIGN(
        const std::size_t read,
        file_.read_at(offset_, {reinterpret_cast<std::uint8_t*>(buffer_.data()) + filled_, bytes}));
    if (read == 0) break;
    filled_ += read;
    offset_ += read;
    bytes -= read;
  }
  if (bytes > 0) size_ = offset_;  // the file ended, or became shorter
  std::fill_n(buffer_.begin() + static_cast<std::ptrdiff_t>(filled_), k_padding, '\0');
  return {};
}

/// End of the first whole row that ends at least `least` bytes after `from`, else of the last whole
/// row; `from` if there is none.
std::size_t Reader::end_of_rows(std::size_t from, std::size_t least) const {
  const char* const begin = buffer_.data() + from;
  const char* const end = buffer_.data() + filled_;
  const bool all = offset_ >= size_;
  const char* at = begin;
  const char* last = begin;  // end of the last whole row
  bool quoted = false;
  while (at < end) {
    const auto left = static_cast<std::size_t>(end - at);
    const auto* line = static_cast<const char*>(std::memchr(at, '\n', left));
    const char* const stop = line == nullptr ? end : line + 1;
    const bool comment = *at == '#' && !quoted;
    if (!json_ && !comment && std::count(at, stop, '"') % 2 != 0) quoted = !quoted;
    at = stop;
    if (line == nullptr || quoted) continue;
    last = at;
    if (static_cast<std::size_t>(at - begin) >= least) break;
  }
  if (at == end && all) last = end;  // the last line may lack its end
  return from + static_cast<std::size_t>(last - begin);
}

Result<std::size_t> Reader::next(std::size_t most) {
  pieces_.clear();
  TRY(check_memory_room(path_));
  std::size_t wanted = most * k_piece;
  for (;;) {
    if (filled_ - used_ < wanted) TRY(fill(wanted - (filled_ - used_)));
    while (used_ < filled_ && pieces_.size() < most) {
      const std::size_t end = end_of_rows(used_, k_piece);
      if (end == used_) break;
      pieces_.push_back({used_, end, line_});
      line_ += static_cast<std::uint64_t>(
          std::count(buffer_.begin() + static_cast<std::ptrdiff_t>(used_),
                     buffer_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
      used_ = end;
    }
    if (!pieces_.empty() || filled_ == used_) return pieces_.size();
    if (filled_ - used_ > k_longest_row) {
      return problem(
          line_, {Problem::k_whole_row, "the row has more than 16 MiB; a quote may not be closed"});
    }
    wanted = filled_ - used_ + k_piece;
  }
}

std::uint64_t Reader::bytes_read() const {
  return pieces_.empty() ? 0 : pieces_.back().end - pieces_.front().begin;
}

Result<void> Reader::rows(std::size_t piece, const RowFunction& row) const {
  return json_ ? json_rows(pieces_[piece], row) : csv_rows(pieces_[piece], row);
}

Unit Reader::unit_of(std::size_t column, Unit general) const {
  if (units_[column] != Unit::unnamed) return units_[column];
  return general == Unit::unnamed ? unit_of_column(columns_[column]) : general;
}

tl::unexpected<Error> Reader::missing(std::size_t column) const {
  return problem(1, {column, "the column is missing; --columns names it"});
}

tl::unexpected<Error> Reader::problem(std::uint64_t line, const Problem& problem) const {
  const std::string column =
      problem.column < columns_.size() ? fmt::format(", column {}", columns_[problem.column]) : "";
  return input_error("{}, line {}{}: {}", path_.string(), line, column,
                     shown(problem.text, k_most_said));
}

Result<void> Reader::csv_rows(const Piece& piece, const RowFunction& row) const {
  const std::size_t fields = column_of_field_.size();
  std::vector<std::string_view> cells(columns_.size());
  Problem refused;
  std::uint64_t line = piece.line;
  for (std::size_t at = piece.begin; at < piece.end;) {
    refused.column = Problem::k_whole_row;
    if (buffer_[at] == '#') {
      const auto next = std::find(buffer_.begin() + static_cast<std::ptrdiff_t>(at),
                                  buffer_.begin() + static_cast<std::ptrdiff_t>(piece.end), '\n');
      at = std::min(piece.end, static_cast<std::size_t>(next - buffer_.begin()) + 1);
      ++line;
      continue;
    }
    CsvRow csv({buffer_.data() + at, piece.end - at}, delimiter_);
    std::string_view field;
    std::size_t count = 0;
    while (csv.next(field, refused.text)) {
      if (count < fields && column_of_field_[count] < cells.size()) {
        cells[column_of_field_[count]] = field;
      }
      ++count;
    }
    if (!refused.text.empty()) return problem(line, refused);
    at += csv.size();
    const std::uint64_t here = std::exchange(line, line + csv.lines());
    if (csv.is_empty()) continue;
    if (count != fields) {
      return problem(here, {Problem::k_whole_row,
                            fmt::format("the row has {} fields, the header {}", count, fields)});
    }
    if (!row({cells, here}, refused)) return problem(here, refused);
  }
  return {};
}

Result<void> Reader::json_rows(const Piece& piece, const RowFunction& row) const {
  JsonLine parser(columns_);
  Problem refused;
  std::uint64_t line = piece.line;
  for (std::size_t at = piece.begin; at < piece.end; ++line) {
    const char* const begin = buffer_.data() + at;
    const auto* end = static_cast<const char*>(std::memchr(begin, '\n', piece.end - at));
    if (end == nullptr) end = buffer_.data() + piece.end;
    const std::string_view text(begin, static_cast<std::size_t>(end - begin));
    at += text.size() + 1;
    if (text.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    if (!parser.parse(text, refused)) return problem(line, refused);
    if (!row({parser.cells(), line}, refused)) return problem(line, refused);
  }
  return {};
}

}  // namespace entrain::tables
