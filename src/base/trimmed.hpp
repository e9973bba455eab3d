// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <string_view>

namespace entrain {

/// A text without the blanks at its ends.
inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view k_blanks = " \t\n\v\f\r";
  const std::size_t first = std::min(text.find_first_not_of(k_blanks), text.size());
  return text.substr(first, text.find_last_not_of(k_blanks) + 1 - first);
}

}  // namespace entrain
