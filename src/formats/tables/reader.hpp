// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <entrain/error.hpp>

#include "base/file.hpp"
#include "formats/tables/times.hpp"

namespace entrain::tables {

/// A row of a table. Valid only while the function that gets it runs.
struct Row {
  /// Values, one per requested column; "" if missing. JSON numbers and Booleans as written.
  std::span<const std::string_view> cells;
  std::uint64_t line = 0;  ///< number of its first line, 1 or more
};

/// Reason to refuse a row.
struct Problem {
  static constexpr std::size_t k_whole_row = ~std::size_t{0};
  std::size_t column = k_whole_row;  ///< position among the requested columns
  std::string text;                  ///< "-5 is negative": the end of a sentence
};

/// Processes a row; false, with the problem, to refuse it.
using RowFunction = std::function<bool(const Row&, Problem&)>;

/// Source of a table: a file, or a text in memory; with a name for messages.
struct Source {
  Source(std::filesystem::path path) : name(path), file(std::move(path)) {}
  Source(std::string name_of_file, std::filesystem::path path)
      : name(std::move(name_of_file)), file(std::move(path)) {}
  /// The text must outlive the reading.
  Source(std::string name_of_text, std::string_view all)
      : name(std::move(name_of_text)), text(all) {}

  std::filesystem::path name, file;
  std::optional<std::string_view> text;  ///< none: that of the file
};

/// A column that the user named.
struct GivenColumn {
  std::size_t column = 0;     ///< position among the requested columns
  std::string name;           ///< its name in the file, or its number from 1
  Unit unit = Unit::unnamed;  ///< unit of its numbers; unnamed: the user named none
  friend bool operator==(const GivenColumn&, const GivenColumn&) = default;
};

/// Parses the words of CheckOptions::columns or AlignFiles::columns. `times`: positions of the
/// columns whose numbers have a unit. Errors: ErrorKind::usage for words that name none of the
/// columns, and for columns or names that stand there twice.
Result<std::vector<GivenColumn>> columns_of(std::string_view text,
                                            std::span<const std::string_view> columns,
                                            std::span<const std::size_t> times);

/// How a table names its columns. Members name requested columns by their positions.
struct Naming {
  std::vector<GivenColumn> given{};
  /// Per requested column other names to look for, with a blank between them; a unit may follow
  /// them, as in send_us. Empty: none.
  std::span<const std::string_view> others{};
  std::uint64_t max_unpacked = 0;  ///< see json::TextReader
};

/// Reads tables of any size piece by piece: CSV by RFC 4180 (UTF-8, quotes) with a header line,
/// and JSON lines, an object per line with plain values. The first byte decides which; files may be
/// packed. The header decides whether comma, semicolon or tab delimits. Lines of CSV that begin
/// with # are comments. Without a header line all columns must be given by number, and one of these
/// begins with a digit in the first row. Other columns than the requested ones are ignored, and
/// empty lines.
class Reader {
 public:
  /// Opens a table and reads its header. Errors: ErrorKind::input for a file that cannot be read,
  /// is empty, has a damaged header or two columns of one name, or one of CSV that lacks a given
  /// column.
  static Result<Reader> open(const Source& source, std::span<const std::string_view> columns,
                             const Naming& naming = {});

  /// True if the header has the column; always for JSON lines.
  [[nodiscard]] bool has(std::size_t column) const;
  [[nodiscard]] bool is_json() const { return json_; }
  /// Name of a requested column in the file.
  [[nodiscard]] const std::string& name_of(std::size_t column) const { return columns_[column]; }
  /// Unit of the numbers of a column: the given one, else `general`, else that of its name.
  [[nodiscard]] Unit unit_of(std::size_t column, Unit general = Unit::unnamed) const;
  /// Columns of other names than the requested or given ones: "cause_clock is src".
  [[nodiscard]] const std::vector<std::string>& guesses() const { return guesses_; }
  /// True if write_edges() wrote the table.
  [[nodiscard]] bool is_own() const { return own_; }
  /// Text before the first piece: the header of CSV with the end of its line.
  [[nodiscard]] const std::string& header() const { return header_; }
  [[nodiscard]] std::uint64_t bytes() const { return size_; }

  /// Reads the next pieces, at most `most`; returns their number, 0 at the end. Errors:
  /// ErrorKind::input, also for a row of more than 16 MiB; those of check_memory_room().
  Result<std::size_t> next(std::size_t most);
  /// Bytes of the pieces of the last next().
  [[nodiscard]] std::uint64_t bytes_read() const;
  /// Text of a piece; pieces are contiguous in the file. Cells of CSV without quotes are views of
  /// it.
  [[nodiscard]] std::string_view text(std::size_t piece) const {
    return {buffer_.data() + pieces_[piece].begin, pieces_[piece].end - pieces_[piece].begin};
  }
  /// Calls `row` for the rows of a piece, in order. May run for several pieces in parallel.
  /// Errors: ErrorKind::input with file, line and column, for rows that are damaged or refused.
  Result<void> rows(std::size_t piece, const RowFunction& row) const;

  /// Error about a requested column that the header lacks.
  [[nodiscard]] tl::unexpected<Error> missing(std::size_t column) const;
  /// Error about a row, worded like those of rows().
  [[nodiscard]] tl::unexpected<Error> problem(std::uint64_t line, const Problem& problem) const;

 private:
  struct Piece {
    std::size_t begin = 0, end = 0;  ///< positions in buffer_
    std::uint64_t line = 0;          ///< number of its first line
  };
  Reader() = default;
  Result<void> open_file(const std::filesystem::path& file, std::uint64_t max_unpacked);
  Result<void> read_header(const Naming& naming);
  void skip_comments();
  Result<bool> take_given(const GivenColumn& given, const std::vector<std::string>& fields);
  Result<void> name_columns(const Naming& naming, const std::vector<std::string>& fields);
  void guess(const Naming& naming, const std::function<bool(std::size_t, std::string_view)>& take);
  Result<void> fill(std::size_t bytes);
  [[nodiscard]] std::size_t end_of_rows(std::size_t from, std::size_t least) const;
  Result<void> csv_rows(const Piece& piece, const RowFunction& row) const;
  Result<void> json_rows(const Piece& piece, const RowFunction& row) const;

  File file_;
  std::filesystem::path path_;
  std::vector<std::string> columns_;  ///< names that the file has
  std::vector<Unit> units_;           ///< given ones, index as columns_
  std::vector<std::string> guesses_;
  std::vector<std::size_t> column_of_field_;  ///< CSV only; k_whole_row: not requested
  std::string header_;
  char delimiter_ = ',';
  bool json_ = false, own_ = false, has_header_ = true;
  std::uint64_t size_ = 0, offset_ = 0;  ///< bytes of the file; bytes read so far
  std::uint64_t line_ = 1;               ///< number of the line at buffer_[used_]
  std::vector<char> buffer_;
  std::size_t filled_ = 0, used_ = 0;  ///< bytes of buffer_: read; in pieces
  std::vector<Piece> pieces_;
};

/// Sets the problem of a row; returns false.
inline bool refuse(Problem& problem, std::size_t column, std::string text) {
  problem = {column, std::move(text)};
  return false;
}
/// Says in `why` that the text "is negative" or otherwise no value; returns false.
bool refuse(std::string_view text, const char* reason, std::string& why);
/// Reads a number of up to 64 bits; empty for anything else.
std::optional<std::uint64_t> whole_number(std::string_view text);
/// Parses a whole number from 0 to 2^63 - 1; false, with the reason in `why`: "is negative" etc.
bool parse_ticks(std::string_view text, std::uint64_t& value, std::string& why);
/// Parses a finite number of 0 or more.
bool parse_width(std::string_view text, double& value, std::string& why);
/// Parses true, false, 1, 0, yes or no.
bool parse_bool(std::string_view text, bool& value, std::string& why);

/// Appends text as a JSON string.
void append_json(std::string& line, std::string_view text);

}  // namespace entrain::tables
