// SPDX-License-Identifier: BSD-3-Clause
#include "formats/json/tree.hpp"

#include <algorithm>
#include <charconv>

#include "formats/json/unescape.hpp"

namespace entrain::json {
namespace {

constexpr std::size_t k_failed = std::string_view::npos;

std::size_t after_blanks(std::string_view text, std::size_t at) {
  while (at < text.size() && (text[at] == ' ' || (text[at] >= '\t' && text[at] <= '\r'))) ++at;
  return at;
}

}  // namespace

/// `at`: the opening quote.
std::size_t Tree::string(std::string_view text, std::size_t at, std::string_view& result) {
  std::size_t end = at + 1;
  bool is_plain = true;
  for (; end < text.size() && text[end] != '"'; ++end) {
    if (text[end] != '\\') continue;
    is_plain = false;
    ++end;
  }
  if (end >= text.size()) return k_failed;
  result = text.substr(at + 1, end - at - 1);
  if (!is_plain) result = unescaped_.emplace_back(unescaped(result));
  return end + 1;
}

std::size_t Tree::parse(std::string_view text, std::size_t at) {
  nodes_.clear();
  unescaped_.clear();
  open_.clear();
  do {
    at = after_blanks(text, at);
    if (at == text.size()) return k_failed;
    const char c = text[at];
    if (c == '}' || c == ']') {
      if (open_.empty()) return k_failed;
      nodes_[open_.back()].end = static_cast<Node>(nodes_.size());
      open_.pop_back();
      ++at;
    } else if (c == ',' && !open_.empty()) {
      ++at;
    } else {
      Element& element = nodes_.emplace_back();
      if (!open_.empty() && nodes_[open_.back()].kind == '{') {
        if (c == '"') at = after_blanks(text, string(text, at, element.key));
        if (at >= text.size() || text[at] != ':') return k_failed;
        at = after_blanks(text, at + 1);
        if (at == text.size()) return k_failed;
      }
      element.kind = text[at];
      element.end = static_cast<Node>(nodes_.size());
      if (element.kind == '{' || element.kind == '[') {
        open_.push_back(element.end - 1);
        ++at;
      } else if (element.kind == '"') {
        at = string(text, at, element.text);
      } else {
        const std::size_t end = text.find_first_of(",]} \t\r\n", at);
        element.text = text.substr(at, end - at);
        at = end;
      }
      if (at == k_failed) return k_failed;
    }
  } while (!open_.empty());
  return at;
}

Tree::Node Tree::find(Node object, std::initializer_list<std::string_view> names) const {
  Node found = k_none;
  if (!is_object(object)) return found;
  for_each(object, [&](Node member) {
    if (std::find(names.begin(), names.end(), nodes_[member].key) != names.end()) found = member;
  });
  return found;
}

std::string_view Tree::text(Node node) const { return node == k_none ? "" : nodes_[node].text; }

std::optional<std::int64_t> scaled(std::string_view text, int decimals) {
  constexpr std::uint64_t k_most = std::uint64_t{1} << 62;
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const std::size_t mark = std::min(text.find_first_of("eE"), text.size());
  const bool has_plus = text.substr(std::min(mark + 1, text.size())).starts_with("+");
  const std::size_t sign = has_plus ? 2 : 1;
  int shift = 0;
  std::from_chars(text.data() + std::min(mark + sign, text.size()), text.data() + text.size(),
                  shift);
  shift = std::clamp(shift, -64, 64) + decimals;
  std::uint64_t value = 0;
  bool after_point = false;
  for (const char c : text.substr(0, mark)) {
    after_point = after_point || c == '.';
    if (c == '.' || (after_point && shift <= 0)) continue;
    if (c < '0' || c > '9' || value >= k_most / 10) return std::nullopt;
    value = value * 10 + static_cast<std::uint64_t>(c - '0');
    shift -= after_point ? 1 : 0;
  }
  for (; shift < 0; ++shift) value /= 10;
  for (; shift > 0 && value < k_most / 10; --shift) value *= 10;
  if (text.empty() || (shift > 0 && value > 0)) return std::nullopt;
  return negative ? -static_cast<std::int64_t>(value) : static_cast<std::int64_t>(value);
}

}  // namespace entrain::json
