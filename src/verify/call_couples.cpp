// SPDX-License-Identifier: BSD-3-Clause
#include "verify/call_couples.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "verify/numbering.hpp"

namespace entrain::verify {

namespace {

constexpr std::uint32_t k_ordinals = 8;  ///< that calls between the same two messages share
constexpr std::int64_t k_differ = 16;    ///< messages that one side may count more
constexpr std::int64_t k_across = 4;     ///< of these, those that no totals show

/// Calls with as many messages ahead of them: their number, by messages.
using Bunches = std::map<std::uint32_t, std::uint32_t>;

Bunches bunches_of(const CallRow& calls) {
  Bunches bunches;
  for (const Trait& trait : calls.traits) ++bunches[trait.position];
  return bunches;
}

/// A row with ordinals, and what it points to.
class Counted {
 public:
  Counted(const CallRow& calls, const Bunches& bunches) : calls_(calls), traits_(calls.traits) {
    std::uint32_t place = 0, position = 0;
    for (Trait& trait : traits_) {
      place = trait.position == position ? place : 0;
      position = trait.position;
      // One of those without a record may be any of its bunch.
      const bool lacks = std::binary_search(calls.unlisted.begin(), calls.unlisted.end(), position);
      trait.displaced = lacks || bunches.at(position) >= k_ordinals;
      ordinals_.push_back(position * k_ordinals + std::min(place++, k_ordinals - 1));
    }
  }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

  [[nodiscard]] Row row() const {
    Row row = calls_.row(0);
    row.traits = traits_;
    row.ordinals = {.of = ordinals_,
                    .count = calls_.messages * k_ordinals,
                    .stops = calls_.stops,
                    .kinds = calls_.kinds,
                    .trust = calls_.trust,
                    .absolute = true};
    return row;
  }

 private:
  const CallRow& calls_;
  std::vector<Trait> traits_;
  std::vector<std::uint32_t> ordinals_;
};

/// The couples if all ordinals of `a` are raised by the ordinals of so many messages.
std::vector<Alignment::Couple> couples_after(const Row& a, const Row& b, std::int64_t messages) {
  std::vector<Alignment::Couple> couples;
  std::uint32_t j = 0;
  for (std::uint32_t i = 0; i < a.traits.size(); ++i) {
    const std::int64_t wanted = a.ordinals.of[i] + messages * k_ordinals;
    while (j < b.traits.size() && b.ordinals.of[j] < wanted) ++j;
    if (j == b.traits.size()) break;
    if (b.ordinals.of[j] == wanted) {
      if (a.traits[i].symbol == b.traits[j].symbol) couples.push_back({i, j});
      ++j;
    }
  }
  return couples;
}

/// Counts need not agree if only one difference between them explains the calls.
std::optional<Alignment> couple_after_any(const Row& a, const Row& b) {
  std::vector<std::vector<Alignment::Couple>> all;
  const auto [low, high] = std::minmax(a.ordinals.count, b.ordinals.count);
  const std::int64_t reach = std::min<std::int64_t>(k_differ, (high - low) / k_ordinals + k_across);
  for (std::int64_t more = -reach; more <= reach; ++more) {
    all.push_back(couples_after(a, b, more));
  }
  const auto fewer = [](const auto& x, const auto& y) { return x.size() < y.size(); };
  const auto most = std::max_element(all.begin(), all.end(), fewer);
  Alignment found;
  found.couples = std::move(*most);
  all.erase(most);
  const std::size_t others = std::max_element(all.begin(), all.end(), fewer)->size();
  const std::size_t least = std::min(a.traits.size(), b.traits.size());
  if (found.couples.size() * 4 < least * 3 || others * 4 > found.couples.size()) {
    return std::nullopt;
  }
  std::erase_if(found.couples, [&](const Alignment::Couple& couple) {
    return a.traits[couple.send].displaced || b.traits[couple.receive].displaced;
  });
  count_in_gaps(a, b, found);
  return found;
}

std::optional<Alignment> couple_by_messages(const CallRow& a, const CallRow& b) {
  const auto [least, most] = std::minmax(a.messages, b.messages);
  if (least == 0 || std::uint64_t{most} >= (std::uint64_t{1} << 32) / k_ordinals - 1 ||
      a.kinds == 0 || b.kinds == 0) {
    return std::nullopt;
  }
  const Bunches of_a = bunches_of(a), of_b = bunches_of(b);
  const Counted left(a, of_a), right(b, of_b);
  std::optional<Alignment> found = couple_by_ordinals(left.row(), right.row());
  // Few couples: the processes post messages across calls.
  const std::size_t calls = std::min(a.traits.size(), b.traits.size());
  if (!found || found->couples.size() < calls - calls / 2) {
    found = couple_after_any(left.row(), right.row());
  }
  if (!found) return std::nullopt;
  std::erase_if(found->couples, [&](const Alignment::Couple& couple) {
    return of_a.at(a.traits[couple.send].position) != of_b.at(b.traits[couple.receive].position);
  });
  return found;
}

/// Whether nothing but times would tell calls apart: habits would make them deceive.
bool times_alone(const CallRow& a, const CallRow& b) {
  if (a.kinds < 2 || b.kinds < 2 || (a.messages != 0 && b.messages != 0)) return false;
  const std::uint32_t symbol = a.traits.at(0).symbol;
  const auto other = [&](const Trait& trait) { return trait.symbol != symbol; };
  return std::none_of(a.traits.begin(), a.traits.end(), other) &&
         std::none_of(b.traits.begin(), b.traits.end(), other);
}

}  // namespace

Alignment couple_calls(const CallRow& a, const CallRow& b) {
  if (std::optional<Alignment> found = couple_by_messages(a, b)) return std::move(*found);
  if (times_alone(a, b)) return leave_open(a.row(0), b.row(0));
  return align_rows(a.row(0), b.row(0));
}

}  // namespace entrain::verify
