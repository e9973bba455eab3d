// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace entrain::spans {

/// Documents of a text: all of it, or one per line, or one behind the other.
class Documents {
 public:
  explicit Documents(std::string_view text);

  /// The next one, and where it begins; false behind the last one.
  bool next(std::string_view& document);
  [[nodiscard]] std::size_t begin() const { return begin_; }
  [[nodiscard]] bool none() const { return number_ == 0; }
  /// True if the text ends with the present one, behind others: it may have been cut off.
  [[nodiscard]] bool may_be_cut() const {
    return kind_ != Kind::one && reaches_end_ && number_ > 1;
  }
  /// Begins anew with the first object, if the whole text was taken for one document. False if no
  /// other one begins behind it.
  bool split();
  /// Where the present one is, for messages.
  [[nodiscard]] std::string place(const std::string& name) const;

 private:
  enum class Kind : std::uint8_t { one, lines, one_by_one };

  /// True if the first line is an object or a list, and another one of these follows.
  [[nodiscard]] bool is_lines() const;
  [[nodiscard]] std::size_t end_of_value() const;

  std::string_view text_;
  std::size_t at_ = 0, begin_ = 0, number_ = 0;
  Kind kind_ = Kind::one;
  bool reaches_end_ = false;
};

}  // namespace entrain::spans
