// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace entrain::spans {

/// Splits a text into JSON documents: the whole text, one per line, or several in sequence.
class Documents {
 public:
  explicit Documents(std::string_view text);

  /// Moves to the next document; false after the last one.
  bool next(std::string_view& document);
  [[nodiscard]] std::size_t begin() const { return begin_; }
  [[nodiscard]] bool none() const { return number_ == 0; }
  /// True if the current document is the last one of several: it may have been cut off.
  [[nodiscard]] bool may_be_cut() const {
    return kind_ != Kind::one && reaches_end_ && number_ > 1;
  }
  /// Restarts with a sequence of objects, if the whole text was taken for one document. False if no
  /// second object begins after the first one.
  bool split();
  /// Location of the current document, for messages.
  [[nodiscard]] std::string place(const std::string& name) const;

 private:
  enum class Kind : std::uint8_t { one, lines, sequence };

  /// True if the first line is an object or a list, and another one of the same kind follows.
  [[nodiscard]] bool is_lines() const;
  [[nodiscard]] std::size_t end_of_value() const;

  std::string_view text_;
  std::size_t at_ = 0, begin_ = 0, number_ = 0;
  Kind kind_ = Kind::one;
  bool reaches_end_ = false;
};

}  // namespace entrain::spans
