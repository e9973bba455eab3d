// SPDX-License-Identifier: BSD-3-Clause
#include "formats/spans/draft.hpp"

#include <algorithm>
#include <array>

namespace entrain::spans {

bool says_polls(std::string_view key, std::string_view text) {
  if (key != "messaging.operation" && key != "messaging.operation.type") return false;
  return text == "receive" || text == "poll";
}

std::string_view significant(std::string_view id) {
  if (id.ends_with('=')) return id.find_first_not_of("A=") == std::string_view::npos ? "" : id;
  id.remove_prefix(std::min(id.find_first_not_of('0'), id.size()));
  return id;
}

void append_id(std::string_view id, std::string& text) {
  id = significant(id);
  const bool is_hex = id.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
  for (const char c : id) {
    text += is_hex && c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
  }
}

/// Digits of half a trace's 128 bits.
constexpr std::size_t k_half = 16;

bool is_whole_trace(std::string_view id) {
  return id.size() > k_half && id.size() <= 2 * k_half &&
         id.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string_view half_of(std::string_view id) { return significant(id.substr(id.size() - k_half)); }

bool is_same_trace(std::string_view a, std::string_view b) {
  std::string one, other;
  append_id(a, one);
  append_id(b, other);
  return one == other || (is_whole_trace(one) && half_of(one) == other) ||
         (is_whole_trace(other) && half_of(other) == one);
}

Role role_of(std::string_view word) {
  std::string lower(word);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  if (lower.starts_with("span_kind_")) lower.erase(0, 10);
  constexpr std::array<std::pair<std::string_view, Role>, 8> k_words{
      {{"client", Role::client},
       {"server", Role::server},
       {"producer", Role::producer},
       {"consumer", Role::consumer},
       {"2", Role::server},  // the numbers of OTLP
       {"3", Role::client},
       {"4", Role::producer},
       {"5", Role::consumer}}};
  for (const auto& [known, role] : k_words) {
    if (lower == known) return role;
  }
  return Role::internal;
}

}  // namespace entrain::spans
