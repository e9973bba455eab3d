// SPDX-License-Identifier: BSD-3-Clause
#include "base/utf8.hpp"

#include <cstdint>
#include <cstring>

namespace entrain {

std::size_t utf8_sequence(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0u) != 0x80u) return 0;
  }
  // Overlong forms, surrogates, and what lies beyond U+10FFFF.
  if ((first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) > 0x9F)) return 0;
  if ((first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) > 0x8F)) return 0;
  return length;
}

namespace {

/// How many bytes of plain ASCII the text begins with, in words of eight.
std::size_t ascii_words(std::string_view text) {
  constexpr std::uint64_t k_high_bits = 0x8080808080808080;
  std::size_t at = 0;
  for (std::uint64_t word = 0; at + sizeof word <= text.size(); at += sizeof word) {
    std::memcpy(&word, text.data() + at, sizeof word);
    if ((word & k_high_bits) != 0) break;
  }
  return at;
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (true) {
    text.remove_prefix(ascii_words(text));
    if (text.empty()) return true;
    const std::size_t length = utf8_sequence(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
}

}  // namespace entrain
