// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <list>
#include <string>
#include <string_view>

namespace entrain::tables {

/// Splits one row of CSV (RFC 4180) into fields. LF alone ends a line too, and other characters
/// than the comma may delimit.
///
/// Example: for the line `7,"a ""b""",` next() returns `7`, `a "b"` and "", then false.
class CsvRow {
 public:
  /// `rest`: the text from the row on.
  explicit CsvRow(std::string_view rest, char delimiter = ',')
      : begin_(rest.data()),
        at_(rest.data()),
        end_(rest.data() + rest.size()),
        delimiter_(delimiter) {}

  /// Reads the next field; false at the end of the row, and, with the reason in `why`, for a
  /// damaged row. A field is valid as long as this and the text.
  bool next(std::string_view& field, std::string& why) {
    if (ended_) return false;
    if (at_ < end_ && *at_ == '"') return next_quoted(field, why);
    const char* const from = at_;
    while (at_ < end_ && *at_ != delimiter_ && *at_ != '\n') {
      if (*at_ == '"') {
        why = "a quote stands inside a field that does not begin with one";
        return false;
      }
      ++at_;
    }
    field = {from, static_cast<std::size_t>(at_ - from)};
    if (at_ == end_ || *at_ == '\n') {
      if (field.ends_with('\r')) field.remove_suffix(1);
      end_row();
    } else {
      ++at_;
    }
    return true;
  }

  // After next() has returned false without a reason:

  /// Bytes of the row, including the end of its line.
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(at_ - begin_); }
  /// True if the row is only the end of a line.
  [[nodiscard]] bool is_empty() const { return text_ == 0; }
  /// Number of lines of the row; quoted fields may have several.
  [[nodiscard]] std::uint64_t lines() const { return lines_; }

 private:
  bool next_quoted(std::string_view& field, std::string& why) {
    const char* const from = ++at_;
    bool doubled = false;
    for (;;) {
      at_ = std::find(at_, end_, '"');
      if (at_ == end_) {
        why = "a quoted field does not end";
        return false;
      }
      if (at_ + 1 == end_ || at_[1] != '"') break;
      doubled = true;
      at_ += 2;
    }
    field = {from, static_cast<std::size_t>(at_ - from)};
    lines_ += static_cast<std::uint64_t>(std::count(field.begin(), field.end(), '\n'));
    if (doubled) {
      std::string& text = unquoted_.emplace_back();
      for (std::size_t i = 0; i < field.size(); ++i) {
        text += field[i];
        if (field[i] == '"') ++i;
      }
      field = text;
    }
    ++at_;
    if (at_ < end_ && *at_ == '\r') ++at_;
    if (at_ == end_ || *at_ == '\n') {
      end_row();
    } else if (*at_ == delimiter_ && at_[-1] != '\r') {
      ++at_;
    } else {
      why = "something stands between a quoted field and the next one";
      return false;
    }
    return true;
  }
  void end_row() {
    ended_ = true;
    text_ = static_cast<std::size_t>(at_ - begin_);
    if (text_ > 0 && begin_[text_ - 1] == '\r') --text_;
    if (at_ < end_) ++at_;
  }

  const char *begin_, *at_, *end_;
  char delimiter_;
  std::size_t text_ = 0;  ///< bytes without the end of the line
  std::uint64_t lines_ = 1;
  bool ended_ = false;
  std::list<std::string> unquoted_;  ///< contents of fields with quotes inside
};

}  // namespace entrain::tables
