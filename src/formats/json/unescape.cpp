// SPDX-License-Identifier: BSD-3-Clause
#include "formats/json/unescape.hpp"

#include <charconv>
#include <cstdint>
#include <optional>

namespace entrain::json {
namespace {

constexpr std::size_t k_code = 6;  // bytes, e.g. \u00e4

/// Code of an escape such as \u00e4 at the begin of a text.
std::optional<std::uint32_t> code_of(std::string_view text) {
  if (text.size() < k_code || !text.starts_with("\\u")) return std::nullopt;
  std::uint32_t code = 0;
  const auto [end, error] = std::from_chars(text.data() + 2, text.data() + k_code, code, 16);
  if (error != std::errc() || end != text.data() + k_code) return std::nullopt;
  return code;
}

void append_utf8(std::uint32_t code, std::string& result) {
  const auto add = [&](std::uint32_t byte) { result += static_cast<char>(byte); };
  const auto more = [&](int shift) { add(0x80 | (code >> shift & 0x3F)); };
  if (code < 0x80) {
    add(code);
  } else if (code < 0x800) {
    add(0xC0 | code >> 6);
    more(0);
  } else if (code < 0x10000) {
    add(0xE0 | code >> 12);
    more(6);
    more(0);
  } else {
    add(0xF0 | code >> 18);
    more(12);
    more(6);
    more(0);
  }
}

/// Decodes one escape, or a surrogate pair. Returns its bytes; 0 if there is none.
std::size_t take_code(std::string_view text, std::string& result) {
  const auto code = code_of(text);
  if (!code) return 0;
  const bool is_high = *code >= 0xD800 && *code < 0xDC00;
  if (is_high) {
    const auto low = code_of(text.substr(k_code));
    if (!low || *low < 0xDC00 || *low >= 0xE000) return 0;
    append_utf8(0x10000 + ((*code - 0xD800) << 10) + (*low - 0xDC00), result);
    return 2 * k_code;
  }
  if (*code >= 0xDC00 && *code < 0xE000) return 0;
  append_utf8(*code, result);
  return k_code;
}

}  // namespace

std::string unescaped(std::string_view text) {
  constexpr std::string_view k_signs = "\"\\/bfnrt", k_meant = "\"\\/\b\f\n\r\t";
  std::string result;
  while (!text.empty()) {
    const std::size_t plain = text.find('\\');
    result += text.substr(0, plain);
    if (plain == std::string_view::npos) break;
    text.remove_prefix(plain);
    std::size_t taken = take_code(text, result);
    const std::size_t sign = text.size() > 1 ? k_signs.find(text[1]) : std::string_view::npos;
    if (taken == 0 && sign != std::string_view::npos) {
      result += k_meant[sign];
      taken = 2;
    } else if (taken == 0) {
      result += text[0];
      taken = 1;
    }
    text.remove_prefix(taken);
  }
  return result;
}

}  // namespace entrain::json
