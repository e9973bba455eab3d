// SPDX-License-Identifier: BSD-3-Clause
#include "json/excerpt.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "json/text_file.hpp"

namespace entrain::json {

std::string excerpt(std::string_view text) {
  constexpr std::size_t k_most_shown = 40;
  std::string shown(whole_characters(text.substr(0, k_most_shown)));
  std::replace_if(
      shown.begin(), shown.end(),
      [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7F'; }, '?');
  return fmt::format("'{}'", shown);
}

}  // namespace entrain::json
