// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/ids.hpp"

namespace entrain::trace {

/// Some ranks of a communicator, kept as ranges.
///
/// Example: {0, 1, 2, 7} is the ranges 0 to 2 and 7 to 7.
class RankSet {
 public:
  struct Range {
    std::uint32_t first = 0, last = 0;
    friend auto operator<=>(const Range&, const Range&) = default;
  };

  /// Adds the ranks from `first` to `last`, which must be above all that are there. Returns false,
  /// and adds nothing, if they are not.
  bool add(std::uint32_t first, std::uint32_t last) {
    if (last < first || (!ranges_.empty() && first <= ranges_.back().last)) return false;
    ranges_.push_back({first, last});
    return true;
  }

  /// O(log ranges).
  [[nodiscard]] bool contains(std::uint32_t rank) const {
    const auto after =
        std::upper_bound(ranges_.begin(), ranges_.end(), rank,
                         [](std::uint32_t r, const Range& range) { return r < range.first; });
    return after != ranges_.begin() && rank <= (after - 1)->last;
  }
  /// Calls `use` with each rank below `end`, in rising order.
  template <class Use>
  void for_each_below(std::size_t end, Use use) const {
    for (const Range& range : ranges_) {
      for (std::size_t rank = range.first; rank <= range.last && rank < end; ++rank) {
        use(static_cast<std::uint32_t>(rank));
      }
    }
  }

  /// Some order, for use as a key.
  friend auto operator<=>(const RankSet&, const RankSet&) = default;

 private:
  std::vector<Range> ranges_;
};

/// The processes with which one process exchanged data in a collective call: positions in
/// Definitions::rank_sets. The ranks are those of the communicator, on an inter-communicator those
/// of the other group; the process itself may be among them.
struct Partners {
  std::uint32_t to = k_none;    ///< those that it sent more than 0 bytes to
  std::uint32_t from = k_none;  ///< those that it received more than 0 bytes from
};

}  // namespace entrain::trace
