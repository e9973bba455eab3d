// SPDX-License-Identifier: BSD-3-Clause
#include "base/set_back.hpp"

#include <utility>

#include "base/exact.hpp"

namespace entrain {

Falls falls_of(std::span<const RowOrder* const> rows) {
  constexpr std::int64_t k_times = 4;  ///< parts must be so many times longer than what is repeated
  constexpr std::int64_t k_longest = std::int64_t{1} << 45;  ///< of a fall, ns: ten hours
  constexpr std::int64_t k_apart = 50'000'000;  ///< ns: longer than what may hide when it was set
  std::vector<RowOrder::Fall> all;
  std::vector<RowOrder::Range> parts;
  for (const RowOrder* const row : rows) {
    const std::vector<RowOrder::Fall>& own = row->falls();
    if (own.empty()) continue;
    if (own.size() > RowOrder::k_most_falls || (!all.empty() && all.size() != own.size()))
      return {};
    if (all.empty()) all = own;
    parts.resize(own.size() + 1);
    for (std::size_t f = 0; f < own.size(); ++f) {
      all[f] = {std::max(all[f].from, own[f].from), std::min(all[f].to, own[f].to),
                std::max(all[f].until, own[f].until)};
    }
    for (std::size_t p = 0; p < parts.size(); ++p) {
      parts[p].first = std::min(parts[p].first, row->range(p).first);
      parts[p].last = std::max(parts[p].last, row->range(p).last);
    }
  }
  for (std::size_t f = 0; f < all.size(); ++f) {
    auto& [begin, next, until, ahead] = all[f];
    const Int128 from = begin, to = next;
    const Int128 least = k_times * (from - to);
    if (from - to > k_longest || until - from > k_longest || to - parts[f].first < least ||
        parts[f + 1].last - from < least) {
      return {};
    }
    ahead = until - next + k_apart;
  }
  return {std::move(all)};
}

}  // namespace entrain
