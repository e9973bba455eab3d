// SPDX-License-Identifier: BSD-3-Clause
#include "formats/json/unescape.hpp"

#include <fmt/core.h>

#include "formats/json/memory.hpp"

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

}  // namespace entrain::json
