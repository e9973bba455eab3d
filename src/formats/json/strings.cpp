// SPDX-License-Identifier: BSD-3-Clause
#include "formats/json/strings.hpp"

#include <charconv>
#include <iterator>

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

void append_decimal(std::string& text, std::int64_t parts, std::uint32_t per_unit) {
  const std::uint64_t size =
      parts < 0 ? ~static_cast<std::uint64_t>(parts) + 1 : static_cast<std::uint64_t>(parts);
  char digits[20];  // of 2^64
  const char* const end = std::to_chars(std::begin(digits), std::end(digits), size / per_unit).ptr;
  if (parts < 0) text += '-';
  text.append(digits, static_cast<std::size_t>(end - digits));
  const std::uint64_t rest = size % per_unit;
  if (rest == 0) return;
  text += '.';
  for (std::uint64_t left = rest, tenth = per_unit / 10; left > 0; left %= tenth, tenth /= 10) {
    text += static_cast<char>('0' + left / tenth);
  }
}

std::string decimal_text(std::int64_t parts, std::uint32_t per_unit) {
  std::string text;
  append_decimal(text, parts, per_unit);
  return text;
}

std::string excerpt(std::string_view text) {
  constexpr std::size_t k_most_shown = 40;
  return fmt::format("'{}'", printable(whole_characters(text.substr(0, k_most_shown))));
}

}  // namespace entrain::json
