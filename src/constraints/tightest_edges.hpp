// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

#include "base/flat_map.hpp"
#include "constraints/constraint.hpp"

namespace entrain::constraints {

/// A span of time cut into windows of equal length; times outside belong to the first or the last
/// one.
struct TimeWindows {
  std::int64_t begin = 0, width = 1;
  std::uint64_t count = 1;

  /// Covers `first` to `last`, ticks, both included, with at least one window.
  TimeWindows(std::int64_t first, std::int64_t last, std::uint64_t windows)
      : begin(first),
        width(std::max<std::int64_t>((last - first) / static_cast<std::int64_t>(windows) + 1, 1)),
        count(windows) {}

  /// Number of the window that holds a time.
  [[nodiscard]] std::uint64_t of(std::int64_t time) const {
    return time <= begin ? 0
                         : std::min(static_cast<std::uint64_t>((time - begin) / width), count - 1);
  }
  [[nodiscard]] std::int64_t begin_of(std::uint64_t window) const {
    return begin + static_cast<std::int64_t>(window) * width;
  }
};

struct LimitingEdge {
  ClockConstraint constraint;
  double tightness = 0;  ///< slack given the known errors, ticks; less is tighter

  /// Total order of the edges of a pair in a window, so that ties do not depend on the order of
  /// keep().
  [[nodiscard]] bool before(const LimitingEdge& other) const {
    return std::tie(tightness, constraint.to_time, constraint.from_time, constraint.slack) <
           std::tie(other.tightness, other.constraint.to_time, other.constraint.from_time,
                    other.constraint.slack);
  }
};

/// Tightest edge of each ordered pair of clocks per window of receive times. Example: of 1,000
/// messages from clock 3 to clock 5 that arrive in one window, the one with the least slack.
///
/// O(1) per edge if the edges of a pair come in order of time, O(windows) at worst; 48 bytes per
/// kept edge. Not thread safe.
class TightestEdges {
 public:
  TightestEdges(std::uint32_t clocks, const TimeWindows& windows)
      : latest_(clocks), windows_(windows) {}

  /// Keeps an edge if it is the tightest so far.
  void keep(const LimitingEdge& edge) {
    select_window(edge.constraint.to_time);
    std::uint32_t& latest = latest_.of(edge.constraint);
    if (latest == k_no_edge || !is_in_window(latest)) {
      latest = move_along(latest);
      if (latest == k_no_edge || !is_in_window(latest)) {
        latest = insert_next_to(latest, edge);
        return;
      }
    }
    LimitingEdge& known = known_[latest].edge;
    if (edge.tightness <= known.tightness && edge.before(known)) known = edge;
  }

  /// Merges parts: one edge per pair and window, sorted by receiving clock and time, independent of
  /// which part found it. Parts have the same windows. Uses up to `threads` threads (0: all cores).
  [[nodiscard]] static std::vector<LimitingEdge> merge(std::vector<TightestEdges> parts,
                                                       std::uint32_t clocks, unsigned threads);

 private:
  static constexpr std::uint32_t k_no_edge = std::numeric_limits<std::uint32_t>::max();

  /// Edges of a pair are linked in order of their windows.
  struct Known {
    LimitingEdge edge;
    std::uint32_t earlier = k_no_edge, later = k_no_edge;
  };

  /// Number of the last edge used per pair of clocks: the next one is mostly in its window or a
  /// later one.
  class Latest {
   public:
    explicit Latest(std::uint32_t clocks)
        : clocks_(clocks),
          of_pairs_(clocks <= k_clocks_by_pair ? std::size_t{clocks} * clocks : 0, k_no_edge) {}

    /// k_no_edge for a new pair. Valid until the next call.
    [[nodiscard]] std::uint32_t& of(const ClockConstraint& constraint) {
      const std::uint64_t pair = std::uint64_t{constraint.from} * clocks_ + constraint.to;
      return of_pairs_.empty() ? *of_some_.insert(pair, k_no_edge).first : of_pairs_[pair];
    }

   private:
    /// Up to so many clocks the table is dense. Chosen, not measured.
    static constexpr std::uint32_t k_clocks_by_pair = 256;

    std::uint32_t clocks_;
    std::vector<std::uint32_t> of_pairs_;
    FlatMap<std::uint64_t, std::uint32_t, IntegerHash> of_some_;
  };

  [[nodiscard]] std::int64_t time_of(std::uint32_t number) const {
    return known_[number].edge.constraint.to_time;
  }
  [[nodiscard]] bool is_in_window(std::uint32_t number) const {
    return time_of(number) >= begin_ && time_of(number) < end_;
  }
  void select_window(std::int64_t time) {
    if (time >= begin_ && time < end_) return;
    const std::uint64_t window = windows_.of(time);
    begin_ = window == 0 ? std::numeric_limits<std::int64_t>::min() : windows_.begin_of(window);
    end_ = window + 1 == windows_.count ? std::numeric_limits<std::int64_t>::max()
                                        : windows_.begin_of(window + 1);
  }
  [[nodiscard]] std::uint32_t move_along(std::uint32_t at) const;
  std::uint32_t insert_next_to(std::uint32_t at, const LimitingEdge& edge);
  [[nodiscard]] std::vector<LimitingEdge> sorted() const;

  Latest latest_;
  TimeWindows windows_;
  std::int64_t begin_ = 0, end_ = 0;  ///< selected window
  std::vector<Known> known_;
};

}  // namespace entrain::constraints
