// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace entrain {

/// A text without the blanks at its ends.
inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view k_blanks = " \t\n\v\f\r";
  const std::size_t first = std::min(text.find_first_not_of(k_blanks), text.size());
  return text.substr(first, text.find_last_not_of(k_blanks) + 1 - first);
}

/// A text with the letters of ASCII in small ones.
inline std::string in_small_letters(std::string_view text) {
  std::string small(text);
  for (char& c : small) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 'a' - 'A') : c;
  return small;
}

/// Takes a word off the begin of a text; false if the text does not begin so.
inline bool take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

/// Takes a number off the begin of a text; nothing if there is none.
template <class Number>
std::optional<Number> take_number(std::string_view& text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

/// The field of CSV (RFC 4180) for a text: in quotes where the text demands them, or would look
/// like a comment.
inline std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos && !text.starts_with('#')) {
    return std::string(text);
  }
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace entrain
