// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include <entrain/clock_map.hpp>

namespace entrain::otf2 {

/// The same function as ClockMap::Cursor, to the bit, but it shows the segment in which it stands.
/// A loop can then map the stamps of one segment without calls.
class QuickClock {
 public:
  /// A segment of the map, extended to all times where at() is exact.
  struct Line {
    std::uint64_t first = 0;  ///< range of local times for at(): [first, first + span)
    std::uint64_t span = 0;
    std::uint64_t begin = 0;  ///< local time of the knot that begins the segment
    std::int64_t offset = 0;  ///< offset of that knot
    double slope = 0;

    [[nodiscard]] bool holds(std::uint64_t local) const { return local - first < span; }
    /// The value of the ClockMap, for a time that the line holds.
    [[nodiscard]] std::int64_t at(std::uint64_t local) const {
      const double rest = slope * static_cast<double>(static_cast<std::int64_t>(local - begin));
      return static_cast<std::int64_t>(local + static_cast<std::uint64_t>(offset) +
                                       detail::rounded_bits(rest));  // |rest| < 2^51, see set()
    }
  };

  explicit QuickClock(const ClockMap& map) : knots_(map.knots()), cursor_(map) {}

  /// Maps a time as ClockMap::Cursor does: the segment only moves forward.
  std::int64_t operator()(std::uint64_t local) {
    if (knots_.size() < 2) return static_cast<std::int64_t>(local);
    if (segment_ == k_unset || local > knots_[segment_ + 1].local) move_to(local);
    if (line_.holds(local)) return line_.at(local);
    // `cursor_` was not asked while lines were in use, so it may stand in an earlier segment. A
    // time one tick after the begin of this segment moves it here.
    if (segment_ > 0) cursor_(knots_[segment_].local + 1);
    return cursor_(local);
  }

  /// The current segment; before the first time a line that holds nothing.
  [[nodiscard]] const Line& line() const { return line_; }
  /// Number of the current segment, k_unset before the first time.
  [[nodiscard]] std::size_t segment() const { return segment_; }
  /// Begins in this segment instead of the first one.
  void start_in(std::size_t segment) {
    if (segment != k_unset) set(segment);
  }

  static constexpr std::size_t k_unset = ~std::size_t{0};

 private:
  void move_to(std::uint64_t local) {
    std::size_t segment = segment_ == k_unset ? 0 : segment_;
    while (segment + 2 < knots_.size() && knots_[segment + 1].local < local) ++segment;
    if (segment != segment_) set(segment);
  }

  void set(std::size_t segment) {
    segment_ = segment;
    const ClockKnot& begin = knots_[segment];
    const ClockKnot& end = knots_[segment + 1];
    const std::uint64_t length = end.local - begin.local;
    const std::int64_t rise = end.offset - begin.offset;
    line_ = {};
    if (length > k_far || rise > k_high || rise < -k_high) return;
    line_.slope = static_cast<double>(rise) / static_cast<double>(length);
    line_.begin = begin.local;
    line_.offset = begin.offset;
    // Within its own length to both sides the line rises and falls by no more than k_high.
    const bool last = segment + 2 == knots_.size();
    const std::uint64_t left = std::min(segment == 0 ? reach(rise, length) : length, begin.local);
    const std::uint64_t right = last ? reach(rise, length) : length;
    line_.first = begin.local - left;
    line_.span = left + std::min(right, ~begin.local) + 1;
  }

  /// Ticks by which a line may be extended that rises by `rise` in `length` ticks.
  static std::uint64_t reach(std::int64_t rise, std::uint64_t length) {
    if (rise == 0) return k_far;
    const auto times = static_cast<std::uint64_t>(k_high / (rise < 0 ? -rise : rise));
    return times > k_far / length ? k_far : times * length;
  }

  static constexpr std::uint64_t k_far = std::uint64_t{1} << 52;
  static constexpr std::int64_t k_high = std::int64_t{1} << 49;

  std::span<const ClockKnot> knots_;
  ClockMap::Cursor cursor_;
  std::size_t segment_ = k_unset;
  Line line_;
};

}  // namespace entrain::otf2
