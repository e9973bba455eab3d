// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "base/printable.hpp"
#include "base/utf8.hpp"
#include "formats/tables/reader.hpp"
#include "formats/tables/times.hpp"

namespace entrain::tables {
namespace {

constexpr std::size_t k_most_shown = 24;  ///< code points

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

bool refuse(std::string_view text, const char* reason, std::string& why) {
  why = fmt::format("\"{}\" {}", shortened(printable(text), k_most_shown), reason);
  return false;
}

std::optional<std::uint64_t> whole_number(std::string_view text) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && at == end ? std::optional(value) : std::nullopt;
}

bool parse_ticks(std::string_view text, std::uint64_t& value, std::string& why) {
  const auto number = whole_number(text);
  value = number.value_or(0);
  if (number && value <= k_most_stamp) return true;
  if (text.empty()) return refuse(text, "is no time", why);
  if (text.starts_with('-') && is_digits(text.substr(1))) return refuse(text, "is negative", why);
  if (is_digits(text)) return refuse(text, "is too large", why);
  return refuse(text, "is no whole number", why);
}

bool parse_width(std::string_view text, double& value, std::string& why) {
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  const bool number = error == std::errc() && at == end && std::isfinite(value);
  if (number && value >= 0) return true;
  return refuse(text, number ? "is negative" : "is no number", why);
}

bool parse_bool(std::string_view text, bool& value, std::string& why) {
  for (const std::string_view word : {"true", "1", "yes", "True", "TRUE"}) {
    if (text == word) return value = true;
  }
  for (const std::string_view word : {"false", "0", "no", "False", "FALSE"}) {
    if (text == word) return !(value = false);
  }
  return refuse(text, "is neither true nor false", why);
}

void append_json(std::string& line, std::string_view text) {
  line += '"';
  while (!text.empty()) {
    const std::size_t length = utf8_sequence(text);
    const char c = text.front();
    if (length == 0) {
      line += "\xEF\xBF\xBD";
    } else if (c == '"' || c == '\\') {
      line += {'\\', c};
    } else if (static_cast<unsigned char>(c) < 0x20) {
      line += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      line += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  line += '"';
}

}  // namespace entrain::tables
