// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "base/flat_map.hpp"
#include "causal/constraint.hpp"

namespace entrain::causal {

/// An edge that limits two clocks, as far as it is known how tightly.
struct LimitingEdge {
  ClockConstraint constraint;
  double tightness = 0;      ///< slack with the errors as known, ticks; less is tighter
  std::uint32_t window = 0;  ///< that holds constraint.to_time

  /// A total order of the edges of a pair in a window: ties do not depend on the order of adding.
  [[nodiscard]] bool before(const LimitingEdge& other) const {
    return std::tie(tightness, constraint.to_time, constraint.from_time, constraint.slack) <
           std::tie(other.tightness, other.constraint.to_time, other.constraint.from_time,
                    other.constraint.slack);
  }
};

/// The tightest edge of each ordered pair of clocks in each window of time. Example: of 1,000
/// messages from clock 3 to clock 5 that arrive in one window, the one that leaves least slack.
///
/// O(1) per edge where those of a pair come in order of time, O(windows) at worst. Not thread safe.
class TightestEdges {
 public:
  /// `clocks`: the constraints are those of clocks below.
  explicit TightestEdges(std::uint32_t clocks) : latest_(clocks) {}

  /// Keeps an edge if it is the tightest one so far.
  void keep(const LimitingEdge& edge) {
    std::uint32_t& latest = latest_.of(edge.constraint);
    const auto is_of_window = [&] {
      return latest != k_nobody && known_[latest].edge.window == edge.window;
    };
    if (!is_of_window()) latest = move_along(latest, edge.window);
    if (!is_of_window()) {
      latest = insert_beside(latest, edge);
      return;
    }
    LimitingEdge& known = known_[latest].edge;
    if (edge.tightness <= known.tightness && edge.before(known)) known = edge;
  }

  /// Those of all parts, one per pair and window, sorted by receiving clock and time. The order
  /// does not depend on who found them. Uses up to `threads` threads (0: all cores); linear but for
  /// the sort of what a clock receives.
  [[nodiscard]] static std::vector<ClockConstraint> merge(std::vector<TightestEdges> parts,
                                                          std::uint32_t clocks, unsigned threads);

 private:
  static constexpr std::uint32_t k_nobody = std::numeric_limits<std::uint32_t>::max();

  /// Those of a pair are linked in order of their windows.
  struct Known {
    LimitingEdge edge;
    std::uint32_t earlier = k_nobody, later = k_nobody;
  };

  /// The number of the edge of each pair of clocks that was looked at last: the next one of the
  /// pair lies in its window or in a later one, mostly.
  class Latest {
   public:
    explicit Latest(std::uint32_t clocks)
        : clocks_(clocks),
          of_pairs_(clocks <= k_clocks_by_pair ? std::size_t{clocks} * clocks : 0, k_nobody) {}

    /// k_nobody for a pair that was not met yet. Valid until the next call.
    [[nodiscard]] std::uint32_t& of(const ClockConstraint& constraint) {
      const std::uint64_t pair = std::uint64_t{constraint.from} * clocks_ + constraint.to;
      return of_pairs_.empty() ? *of_some_.insert(pair, k_nobody).first : of_pairs_[pair];
    }

   private:
    /// Clocks up to which every pair has an entry of its own.
    static constexpr std::uint32_t k_clocks_by_pair = 256;

    std::uint32_t clocks_;
    std::vector<std::uint32_t> of_pairs_;
    FlatMap<std::uint64_t, std::uint32_t, IntegerHash> of_some_;
  };

  [[nodiscard]] std::uint32_t move_along(std::uint32_t at, std::uint32_t window) const;
  std::uint32_t insert_beside(std::uint32_t at, const LimitingEdge& edge);

  Latest latest_;
  std::vector<Known> known_;
};

}  // namespace entrain::causal
