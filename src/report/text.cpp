// SPDX-License-Identifier: BSD-3-Clause
#include "report/text.hpp"

#include <algorithm>

#include "base/utf8.hpp"

namespace entrain::report {
namespace {

constexpr std::string_view k_replacement = "\xEF\xBF\xBD";
constexpr std::string_view k_ellipsis = "...";

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0u) == 0x80u; }

bool is_control(std::string_view sequence) {
  const auto first = static_cast<unsigned char>(sequence[0]);
  if (sequence.size() == 1) return first < 0x20 || first == 0x7F;
  return first == 0xC2 && static_cast<unsigned char>(sequence[1]) < 0xA0;  // C1 controls
}

/// Byte position of the code point with number `index`.
std::size_t position_of(std::string_view text, std::size_t index) {
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    if (is_continuation(text[at])) continue;
    if (index-- == 0) break;
  }
  return at;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = utf8_sequence(text);
    const std::string_view sequence = text.substr(0, std::max<std::size_t>(length, 1));
    if (length == 0) {
      result += k_replacement;
    } else if (is_control(sequence)) {
      result += '?';
    } else {
      result += sequence;
    }
    text.remove_prefix(sequence.size());
  }
  return result;
}

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char byte) { return !is_continuation(byte); }));
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

std::vector<std::string> wrapped(std::string_view text, std::size_t columns) {
  std::vector<std::string> lines;
  std::string line;
  while (true) {
    const std::size_t begin = text.find_first_not_of(' ');
    if (begin == std::string_view::npos) break;
    text.remove_prefix(begin);
    const std::string_view word = text.substr(0, text.find(' '));
    if (!line.empty() && width_of(line) + 1 + width_of(word) > columns) {
      lines.push_back(std::move(line));
      line.clear();
    }
    if (!line.empty()) line += ' ';
    line += word;
    text.remove_prefix(word.size());
  }
  if (!line.empty() || lines.empty()) lines.push_back(std::move(line));
  return lines;
}

}  // namespace entrain::report
