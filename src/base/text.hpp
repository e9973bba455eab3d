// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace entrain {

/// A text without the blanks at its ends.
inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view k_blanks = " \t\n\v\f\r";
  const std::size_t first = std::min(text.find_first_not_of(k_blanks), text.size());
  return text.substr(first, text.find_last_not_of(k_blanks) + 1 - first);
}

/// The field of CSV (RFC 4180) for a text: in quotes where the text demands them, or would look like
/// a comment.
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
