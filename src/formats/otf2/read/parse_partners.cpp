// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/read/parse_partners.hpp"

#include <charconv>

namespace entrain::otf2 {

namespace {

/// Takes `word` from the begin of `text`; false if it does not begin so.
bool take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

bool take_rank(std::string_view& text, std::uint32_t& rank) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

/// Takes a blank and ranges with commas between them, or nothing.
bool take_ranks(std::string_view& text, trace::RankSet& ranks) {
  if (text.size() < 2 || text[0] != ' ' || text[1] < '0' || text[1] > '9') return true;
  do {
    text.remove_prefix(1);  // the blank or the comma
    std::uint32_t first = 0;
    if (!take_rank(text, first)) return false;
    std::uint32_t last = first;
    if (take(text, "-") && !take_rank(text, last)) return false;
    if (!ranks.add(first, last)) return false;
  } while (text.starts_with(','));
  return true;
}

}  // namespace

std::optional<NamedPartners> parse_partners(std::string_view text) {
  NamedPartners partners;
  const bool good = take(text, "to") && take_ranks(text, partners.to) && take(text, " from") &&
                    take_ranks(text, partners.from) && text.empty();
  if (!good) return std::nullopt;
  return partners;
}

}  // namespace entrain::otf2
