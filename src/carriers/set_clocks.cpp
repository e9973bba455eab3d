// SPDX-License-Identifier: BSD-3-Clause
#include "carriers/set_clocks.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <utility>

namespace entrain::carriers {

namespace {

/// Finds where the limits of a clock change faster than rates of crystals do.
class SetSearch {
 public:
  explicit SetSearch(std::vector<Tie> ties) : all_(std::move(ties)) {
    std::ranges::stable_sort(all_, {}, &Tie::host);
    rate_ = k_crystals + std::abs(slope());
  }

  [[nodiscard]] std::vector<SetClock> find() const {
    std::vector<SetClock> found;
    std::size_t begin = 0;  // ties of the present level
    for (std::size_t i = 0; i < all_.size(); ++i) {
      const std::size_t first = i;
      while (i < all_.size() && at(begin, i)) ++i;
      if (i == first) continue;
      const std::size_t place = likely_place(begin, first, i - 1);
      found.push_back(*at(begin, place));
      begin = i = place;
    }
    return found;
  }

 private:
  static constexpr double k_crystals = 200e-6;  ///< rates of two crystals of 100 ppm each
  static constexpr std::size_t k_least = 4;     ///< ties of each kind on either side
  static constexpr std::size_t k_most = 256;    ///< ties that are looked at for these

  /// The interval of offsets that ties on one side of a time allow there, at that rate.
  struct Room {
    double low = -static_cast<double>(k_any), high = static_cast<double>(k_any);
    std::int64_t first = k_any, last = -k_any;  ///< times of the clock
    std::size_t lower = 0, upper = 0;

    [[nodiscard]] bool is_known() const {
      return lower == k_least && upper == k_least && low <= high;
    }
    [[nodiscard]] double middle() const { return (low + high) / 2; }
  };
  void add(const Tie& tie, std::int64_t time, Room& room) const {
    std::size_t& count = tie.is_upper ? room.upper : room.lower;
    if (count == k_least) return;
    ++count;
    const double drift = rate_ * static_cast<double>(std::abs(tie.host - time));
    const auto ticks = static_cast<double>(tie.ticks());
    if (tie.is_upper) {
      room.high = std::min(room.high, ticks + drift);
    } else {
      room.low = std::max(room.low, ticks - drift);
    }
    room.first = std::min(room.first, tie.own), room.last = std::max(room.last, tie.own);
  }

  /// The intervals that ties before and after number i allow.
  [[nodiscard]] std::pair<Room, Room> rooms(std::size_t begin, std::size_t i) const {
    std::pair<Room, Room> found;
    for (std::size_t k = i; k > begin && i - k < k_most; --k) {
      add(all_[k - 1], all_[i].host, found.first);
    }
    for (std::size_t k = i; k < all_.size() && k - i < k_most; ++k) {
      add(all_[k], all_[i].host, found.second);
    }
    return found;
  }

  /// The step between ties i - 1 and i.
  [[nodiscard]] std::optional<SetClock> at(std::size_t begin, std::size_t i) const {
    const auto [before, after] = rooms(begin, i);
    if (!before.is_known() || !after.is_known()) return std::nullopt;
    if (after.low <= before.high && before.low <= after.high) return std::nullopt;
    SetClock set{.size = std::llround(after.middle() - before.middle())};
    const std::int64_t latest = after.first - 1 - std::max<std::int64_t>(0, -set.size);
    const std::int64_t last = std::min(before.last, latest);
    if (last < 0) return std::nullopt;
    set.before = static_cast<std::uint64_t>(last);
    set.after = static_cast<std::uint64_t>(after.first);
    return set;
  }

  /// The step lies between the same limits from place `first` to place `last`, of which that one is
  /// likely from which on ties are closer to the limits after it.
  [[nodiscard]] std::size_t likely_place(std::size_t begin, std::size_t first,
                                         std::size_t last) const {
    const Room before = rooms(begin, first).first, after = rooms(begin, last).second;
    std::size_t best = first;
    double cost = 0, least = 0;
    for (std::size_t k = first; k < last; ++k) {
      const auto apart = [&](const Room& room) {
        return std::abs(static_cast<double>(all_[k].ticks()) -
                        (all_[k].is_upper ? room.high : room.low));
      };
      cost += apart(before) - apart(after);
      if (cost < least) least = cost, best = k + 1;
    }
    return best;
  }

  /// By the first and the last quarter of the ties.
  [[nodiscard]] double slope() const {
    const std::size_t quarter = all_.size() / 4;
    if (quarter == 0) return 0;
    const auto mean = [&](std::size_t first) {
      double time = 0, ticks = 0;
      for (std::size_t k = first; k < first + quarter; ++k) {
        time += static_cast<double>(all_[k].host - all_.front().host);
        ticks += static_cast<double>(all_[k].ticks() - all_.front().ticks());
      }
      return std::pair(time, ticks);
    };
    const auto [t0, y0] = mean(0);
    const auto [t1, y1] = mean(all_.size() - quarter);
    return t1 > t0 ? (y1 - y0) / (t1 - t0) : 0;
  }

  std::vector<Tie> all_;
  double rate_ = k_crystals;
};

}  // namespace

std::vector<SetClock> find_set_clocks(std::vector<Tie> ties) {
  return SetSearch(std::move(ties)).find();
}

}  // namespace entrain::carriers
