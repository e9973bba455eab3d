// SPDX-License-Identifier: BSD-3-Clause
// Needs the standard library only: the recorder takes it into other people's programs.
#include "base/printable.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "base/utf8.hpp"

namespace entrain {
namespace {

constexpr std::string_view k_replacement = "\xEF\xBF\xBD";
constexpr std::string_view k_ellipsis = "...";
constexpr std::size_t k_longest_word = 200;      ///< code points: a long path is still known
constexpr std::size_t k_longest_sentence = 380;  ///< code points

struct CodePoints {
  std::uint32_t first, last;
};

/// Code points that do not show as themselves, in order: the categories Cc, Cf, Zl and Zp of
/// Unicode 15, and its default ignorable ones. The noncharacters at the end of each plane are not
/// among them.
constexpr CodePoints k_unseen[] = {
    {0x00, 0x1F},       {0x7F, 0x9F},       {0xAD, 0xAD},       {0x34F, 0x34F},
    {0x600, 0x605},     {0x61C, 0x61C},     {0x6DD, 0x6DD},     {0x70F, 0x70F},
    {0x890, 0x891},     {0x8E2, 0x8E2},     {0x115F, 0x1160},   {0x17B4, 0x17B5},
    {0x180B, 0x180F},   {0x200B, 0x200F},   {0x2028, 0x202E},   {0x2060, 0x206F},
    {0x3164, 0x3164},   {0xFDD0, 0xFDEF},   {0xFE00, 0xFE0F},   {0xFEFF, 0xFEFF},
    {0xFFA0, 0xFFA0},   {0xFFF0, 0xFFFB},   {0x110BD, 0x110BD}, {0x110CD, 0x110CD},
    {0x13430, 0x1343F}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF}};

bool shows(std::uint32_t code) {
  if ((code & 0xFFFE) == 0xFFFE) return false;  // a noncharacter
  const auto* const range = std::partition_point(
      std::begin(k_unseen), std::end(k_unseen), [&](const CodePoints& r) { return r.last < code; });
  return range == std::end(k_unseen) || code < range->first;
}

/// The code point of a well-formed sequence.
std::uint32_t code_of(std::string_view sequence) {
  const auto byte = [&](std::size_t i) {
    return std::uint32_t{static_cast<unsigned char>(sequence[i])};
  };
  if (sequence.size() == 1) return byte(0);
  std::uint32_t code = byte(0) & (0x7Fu >> sequence.size());
  for (std::size_t i = 1; i < sequence.size(); ++i) code = code << 6 | (byte(i) & 0x3Fu);
  return code;
}

void append_number(std::string& text, std::uint32_t code) {
  if (code >= 0x10000) {  // two halves, as in JSON
    append_number(text, 0xD7C0 + (code >> 10));
    code = 0xDC00 + (code & 0x3FF);
  }
  text += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) text += "0123456789abcdef"[code >> shift & 0xF];
}

/// Bytes at the beginning that are ASCII and show as themselves, or are kept.
std::size_t plain_bytes(std::string_view text, std::string_view kept) {
  const auto end = std::find_if(text.begin(), text.end(), [&](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < ' ' || byte >= 0x7F) && kept.find(c) == kept.npos;
  });
  return static_cast<std::size_t>(end - text.begin());
}

bool begins_code_point(char byte) { return (static_cast<unsigned char>(byte) & 0xC0u) != 0x80u; }

/// Byte position of the code point with number `index`.
std::size_t position_of(std::string_view text, std::size_t index) {
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    if (begins_code_point(text[at]) && index-- == 0) break;
  }
  return at;
}

}  // namespace

std::string printable(std::string_view text, std::string_view kept) {
  std::string result;
  result.reserve(text.size());
  while (true) {
    const std::size_t plain = plain_bytes(text, kept);
    result += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) return result;
    const std::size_t length = utf8_sequence(text);
    const std::string_view sequence = text.substr(0, std::max<std::size_t>(length, 1));
    if (length == 0) {
      result += k_replacement;
    } else if (const std::uint32_t code = code_of(sequence); shows(code)) {
      result += sequence;
    } else {
      append_number(result, code);
    }
    text.remove_prefix(sequence.size());
  }
}

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_code_point));
}

std::string shortened(std::string_view text, std::size_t columns) {
  const std::size_t width = width_of(text);
  if (width <= columns) return std::string(text);
  if (columns <= k_ellipsis.size()) return std::string(text.substr(0, position_of(text, columns)));
  const std::size_t kept = columns - k_ellipsis.size();
  const std::size_t tail = kept / 3;
  std::string result(text.substr(0, position_of(text, kept - tail)));
  result += k_ellipsis;
  result += text.substr(position_of(text, width - tail));
  return result;
}

std::string presentable(std::string_view sentence) {
  const std::string text = printable(sentence);
  if (width_of(text) <= k_longest_word) return text;
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    result += shortened(std::string_view(text).substr(at, end - at), k_longest_word);
    if (end < text.size()) result += ' ';
    at = end + 1;
  }
  return shortened(result, k_longest_sentence);
}

}  // namespace entrain
