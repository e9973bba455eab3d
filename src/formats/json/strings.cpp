// SPDX-License-Identifier: BSD-3-Clause
#include "formats/json/strings.hpp"

#include <fmt/core.h>

#include "base/printable.hpp"
#include "formats/json/memory.hpp"
#include "formats/json/text_file.hpp"

namespace entrain::json {

std::string unescaped(std::string_view text) {
  if (text.find('\\') == std::string_view::npos) return std::string(text);
  const simdjson::padded_string quoted(fmt::format("\"{}\"", text));
  Parser parser;
  ondemand::document document;
  std::string_view plain;
  const bool is_valid =
      parser.begin(quoted, document) && document.get_string().get(plain) == simdjson::SUCCESS;
  return std::string(is_valid ? plain : text);
}

std::string decimal_text(std::int64_t parts, std::uint32_t per_unit) {
  const std::uint64_t size =
      parts < 0 ? ~static_cast<std::uint64_t>(parts) + 1 : static_cast<std::uint64_t>(parts);
  std::string text = fmt::format("{}{}", parts < 0 ? "-" : "", size / per_unit);
  const std::uint64_t rest = size % per_unit;
  if (rest == 0) return text;
  text += '.';
  for (std::uint64_t left = rest, tenth = per_unit / 10; left > 0; left %= tenth, tenth /= 10) {
    text += static_cast<char>('0' + left / tenth);
  }
  return text;
}

std::string excerpt(std::string_view text) {
  constexpr std::size_t k_most_shown = 40;
  return fmt::format("'{}'", printable(whole_characters(text.substr(0, k_most_shown))));
}

}  // namespace entrain::json
