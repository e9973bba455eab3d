// SPDX-License-Identifier: BSD-3-Clause
#include "record/base/rank_list.hpp"

#include <cstdlib>

namespace entrain::record {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> words;
  std::size_t begin = 0;
  while (true) {
    const std::size_t end = text.find(separator, begin);
    words.push_back(text.substr(begin, end - begin));
    if (end == std::string::npos) return words;
    begin = end + 1;
  }
}

std::string join_ranks(const std::vector<int>& ranks) {
  std::string text;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t end = i + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    if (!text.empty()) text += ',';
    text += std::to_string(ranks[i]);
    if (end - i > 1) text += '-' + std::to_string(ranks[end - 1]);
    i = end;
  }
  return text;
}

std::vector<std::uint32_t> split_ranks(const std::string& text) {
  std::vector<std::uint32_t> ranks;
  if (text.empty()) return ranks;
  for (const std::string& part : split(text, ',')) {
    char* end = nullptr;
    const std::uint64_t first = std::strtoull(part.c_str(), &end, 10);
    std::uint64_t last = first;
    if (*end == '-') last = std::strtoull(end + 1, &end, 10);
    if (*end != '\0' || last < first || last - first > (1U << 28)) return {};
    for (std::uint64_t rank = first; rank <= last; ++rank) {
      ranks.push_back(static_cast<std::uint32_t>(rank));
    }
  }
  return ranks;
}

}  // namespace entrain::record
