// SPDX-License-Identifier: BSD-3-Clause
#include "formats/tables/reader.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/core.h>

#include "base/memory_room.hpp"
#include "base/printable.hpp"
#include "base/try.hpp"
#include "formats/tables/csv.hpp"
#include "formats/tables/json_lines.hpp"
#include "output/mark.hpp"

namespace entrain::tables {
namespace {

constexpr std::size_t k_piece = std::size_t{4} << 20;
constexpr std::size_t k_longest_row = std::size_t{16} << 20;

/// A cell or name for a sentence: short, and without control characters.
std::string shown(std::string_view text) {
  constexpr std::size_t k_most = 60;
  return shortened(printable(text), k_most);
}

}  // namespace

Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;
Reader::~Reader() = default;

Result<Reader> Reader::open(const Source& source, std::span<const std::string_view> columns) {
  Reader reader;
  reader.path_ = source.name;
  for (const std::string_view column : columns) reader.columns_.emplace_back(column);
  if (source.text) {  // counts as read
    reader.buffer_.assign(source.text->begin(), source.text->end());
    reader.filled_ = reader.offset_ = reader.size_ = source.text->size();
    TRY(reader.fill(0));
  } else {
    TRY_ASSIGN(reader.file_, File::open_for_reading(source.name));
    TRY_ASSIGN(reader.size_, reader.file_.size());
    TRY(reader.fill(k_piece));
  }
  TRY(reader.read_header());
  return reader;
}

bool Reader::has(std::size_t column) const {
  return json_ || std::find(column_of_field_.begin(), column_of_field_.end(), column) !=
                      column_of_field_.end();
}

Result<void> Reader::read_header() {
  if (filled_ >= 3 && std::memcmp(buffer_.data(), "\xEF\xBB\xBF", 3) == 0) used_ = 3;
  while (used_ < filled_ && std::strchr(" \t\r\n", buffer_[used_]) != nullptr) {
    line_ += buffer_[used_++] == '\n' ? 1 : 0;
  }
  if (used_ == filled_) {
    return fail(ErrorKind::input,
                fmt::format("{} is empty; give a table with a header line", path_.string()));
  }
  json_ = buffer_[used_] == '{';
  own_ = std::string_view(buffer_.data(), filled_)
             .substr(0, k_mark_reach)
             .find("written by entrain") != std::string_view::npos;
  if (json_) return {};
  const std::size_t end = end_of_rows(used_, 1);
  if (end == used_) {
    return problem(line_, {Problem::k_whole_row, "the header line does not end"});
  }
  CsvRow row({buffer_.data() + used_, end - used_});
  std::vector<std::string> names;
  std::string_view field;
  std::string why;
  while (row.next(field, why)) names.emplace_back(field);
  if (!why.empty()) return problem(line_, {Problem::k_whole_row, why});
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto known = std::find(columns_.begin(), columns_.end(), names[i]);
    if (known == columns_.end()) {
      column_of_field_.push_back(Problem::k_whole_row);
      continue;
    }
    const auto column = static_cast<std::size_t>(known - columns_.begin());
    if (has(column)) return problem(line_, {column, "stands twice in the header"});
    column_of_field_.push_back(column);
  }
  line_ += row.lines();
  used_ += row.size();
  header_.assign(buffer_.data(), used_);
  return {};
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
    if (!json_ && std::count(at, stop, '"') % 2 != 0) quoted = !quoted;
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

tl::unexpected<Error> Reader::problem(std::uint64_t line, const Problem& problem) const {
  const std::string column =
      problem.column < columns_.size() ? fmt::format(", column {}", columns_[problem.column]) : "";
  return fail(ErrorKind::input,
              fmt::format("{}, line {}{}: {}", path_.string(), line, column, shown(problem.text)));
}

Result<void> Reader::csv_rows(const Piece& piece, const RowFunction& row) const {
  const std::size_t fields = column_of_field_.size();
  std::vector<std::string_view> cells(columns_.size());
  Problem refused;
  std::uint64_t line = piece.line;
  for (std::size_t at = piece.begin; at < piece.end;) {
    refused.column = Problem::k_whole_row;
    CsvRow csv({buffer_.data() + at, piece.end - at});
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
