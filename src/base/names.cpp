// SPDX-License-Identifier: BSD-3-Clause
#include "base/names.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace entrain {

namespace {

/// Number of changes of a letter between two names.
std::size_t changes(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> to(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        to[i][j] = i + j;
        continue;
      }
      to[i][j] = std::min(
          {to[i - 1][j] + 1, to[i][j - 1] + 1, to[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool is_exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (is_exchanged) to[i][j] = std::min(to[i][j], to[i - 2][j - 2] + 1);
    }
  }
  return to[a.size()][b.size()];
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Takes the digits at the begin of a text, without leading zeros.
std::string_view take_number(std::string_view& text) {
  std::string_view number = text.substr(0, text.find_first_not_of("0123456789"));
  text.remove_prefix(number.size());
  number.remove_prefix(std::min(number.find_first_not_of('0'), number.size()));
  return number;
}

}  // namespace

std::string most_similar(std::string_view typed, std::span<const std::string> names) {
  constexpr std::size_t k_longest = 64;  // nobody mistypes a longer one
  std::string best;
  std::size_t fewest = typed.size();
  for (const std::string& name : names) {
    if (typed.size() > k_longest) break;
    const std::size_t count = changes(typed, name);
    if (count >= fewest || 3 * count > std::max(typed.size(), name.size())) continue;
    fewest = count;
    best = name;
  }
  return best;
}

bool in_natural_order(std::string_view a, std::string_view b) {
  const std::string_view whole_a = a, whole_b = b;
  while (!a.empty() && !b.empty()) {
    if (is_digit(a.front()) && is_digit(b.front())) {
      const std::string_view m = take_number(a), n = take_number(b);
      if (m.size() != n.size()) return m.size() < n.size();
      if (m != n) return m < n;
    } else if (a.front() != b.front()) {
      return a.front() < b.front();
    } else {
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  return a.empty() != b.empty() ? a.empty() : whole_a < whole_b;
}

}  // namespace entrain
