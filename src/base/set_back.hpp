// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

/// Where a clock was set back while it stamped events, and shows times twice.
namespace entrain {

/// The order of the events of a row, e.g. of a thread, tells where its clock was set back.
class RowOrder {
 public:
  /// The begins of two events, one after the other, and the end of the first one, ns without the
  /// base.
  struct Fall {
    std::int64_t from = 0, to = 0, until = 0;
    std::int64_t ahead = 0;  ///< what later times count on by, once it is known
  };
  /// First and last time between two falls, other than 0.
  struct Range {
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    std::int64_t last = std::numeric_limits<std::int64_t>::min();
  };
  /// Takes an event; returns the number of falls up to it. Parents that follow their children fall
  /// back as well, but by less, or often.
  std::uint32_t see(std::int64_t begin, std::int64_t end) {
    constexpr std::int64_t k_least = 100'000;  // ns
    if (begin == 0 || part() > k_most_falls) return part();
    const bool falls = begin < latest_ - k_least;
    if (falls) {
      falls_.push_back({latest_, begin, until_});
      ranges_.push_back(range_);
      range_ = {};
    }
    if (falls || begin >= latest_) latest_ = begin, until_ = end;
    range_.first = std::min(range_.first, begin);
    range_.last = std::max(range_.last, end);
    return part();
  }
  /// More falls say nothing of the clock.
  static constexpr std::uint32_t k_most_falls = 16;
  [[nodiscard]] const std::vector<Fall>& falls() const { return falls_; }
  /// The times after so many falls.
  [[nodiscard]] const Range& range(std::size_t part) const {
    return part < ranges_.size() ? ranges_[part] : range_;
  }

 private:
  [[nodiscard]] std::uint32_t part() const { return static_cast<std::uint32_t>(falls_.size()); }

  std::vector<Fall> falls_;
  std::vector<Range> ranges_;  ///< before each of these
  Range range_;                ///< after the last one
  std::int64_t latest_ = std::numeric_limits<std::int64_t>::min() / 2, until_ = 0;
};

/// Falls of a clock, in order. Later times count on from behind what was before.
struct Falls {
  std::vector<RowOrder::Fall> all{};

  /// The correction of a time, to be added modulo 2^64. `part`: falls of its row before it; a row
  /// may have none.
  [[nodiscard]] std::uint64_t ahead(std::int64_t time, std::uint32_t part) const {
    std::uint64_t sum = 0;
    for (std::uint32_t f = 0; f < all.size() && (f < part || time > all[f].until); ++f) {
      sum += static_cast<std::uint64_t>(all[f].ahead);
    }
    return sum;
  }
};

/// Where the clock of some rows was set back: those that fall at all do so equally often, each time
/// by little of what they show before and after. Blocks of a file that begin anew repeat most
/// times.
Falls falls_of(std::span<const RowOrder* const> rows);

}  // namespace entrain
