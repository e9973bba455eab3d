// SPDX-License-Identifier: BSD-3-Clause
#include "net/text.hpp"

#include <cstddef>
#include <cstdint>

namespace entrain::net {
namespace {

/// Bytes of a character that begins with `first`; 0 if none does.
std::size_t length_of(std::uint8_t first) {
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first < 0xE0) return 2;
  if (first >= 0xE0 && first < 0xF0) return 3;
  return first >= 0xF0 && first < 0xF5 ? 4 : 0;
}

/// The second byte excludes overlong forms, surrogates and what is beyond U+10FFFF.
bool is_second(std::uint8_t first, std::uint8_t second) {
  const std::uint8_t least = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  const std::uint8_t most = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  return second >= least && second <= most;
}

}  // namespace

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto first = static_cast<std::uint8_t>(text[at]);
    const std::size_t length = length_of(first);
    if (length == 0 || text.size() - at < length) return false;
    for (std::size_t i = 1; i < length; ++i) {
      const auto byte = static_cast<std::uint8_t>(text[at + i]);
      if (i == 1 ? !is_second(first, byte) : (byte & 0xC0) != 0x80) return false;
    }
    at += length;
  }
  return true;
}

}  // namespace entrain::net
