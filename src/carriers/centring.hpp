// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <entrain/clock_map.hpp>
#include <entrain/error.hpp>

#include "base/edge_list.hpp"

namespace entrain::carriers {

inline constexpr std::int64_t k_any = std::int64_t{1} << 62;  ///< no two stamps differ so much

/// An edge between a clock and its carrier.
struct Tie {
  std::int64_t host = 0, own = 0;  ///< stamps of the carrier, and of the clock
  bool is_upper = false;           ///< the carrier's event is the effect
  /// Least or largest addition to the clock's times.
  [[nodiscard]] std::int64_t ticks() const { return host - own; }
};

/// A limit of what is added to a clock's times.
struct Limit {
  std::int64_t time = 0;   ///< stamp of the clock
  std::int64_t ticks = 0;  ///< the limit
};

/// Edges between a clock and its carrier, and the constants that would meet them all.
struct Inner {
  std::vector<Tie> ties;
  std::vector<Limit> lower, upper;

  void add(const Tie& tie) {
    ties.push_back(tie);
    (tie.is_upper ? upper : lower).push_back({tie.own, tie.ticks()});
  }
  /// The same edges if the clock shows `time_of(stamp)`.
  template <class TimeOf>
  [[nodiscard]] Inner mapped(const TimeOf& time_of) const {
    Inner result;
    for (const Tie& tie : ties) {
      result.add({tie.host, time_of(static_cast<std::uint64_t>(tie.own)), tie.is_upper});
    }
    return result;
  }
  /// The edges of clock 1 and its carrier 0.
  [[nodiscard]] EdgeList list() const {
    EdgeList list;
    for (const Tie& tie : ties) {
      const EdgeList::End host{0, static_cast<std::uint64_t>(tie.host)};
      const EdgeList::End own{1, static_cast<std::uint64_t>(tie.own)};
      tie.is_upper ? list.add(own, host) : list.add(host, own);
    }
    return list;
  }
  [[nodiscard]] std::int64_t least() const {
    return lower.empty() ? -k_any : std::ranges::max(lower, {}, &Limit::ticks).ticks;
  }
  [[nodiscard]] std::int64_t most() const {
    return upper.empty() ? k_any : std::ranges::min(upper, {}, &Limit::ticks).ticks;
  }
  /// A constant that meets the edges, if one does: of both limits the mean, weighted by how dense
  /// edges are there. A limit alone: itself.
  [[nodiscard]] std::int64_t likely() const;
  /// True if the clock meets the edges as it is.
  [[nodiscard]] bool is_met() const { return least() <= 0 && most() >= 0; }
  /// The constant that is likely, but 0 if that meets the edges.
  [[nodiscard]] std::int64_t shift() const { return is_met() ? 0 : likely(); }
};

/// The correction of a clock's times by which it lies in the middle of what its edges allow from
/// time to time: an alignment by edges alone may lie anywhere between them. The identity if edges
/// are too few. `inner`: edges in the times of the alignment. Errors: those of
/// ClockMap::from_knots().
Result<ClockMap> centre(Inner inner);

/// The same for a clock that a constant would do for; the identity unless windows show that it
/// moves.
Result<ClockMap> centre_if_it_moves(Inner inner);

/// The drift of a clock whose edges with its carrier all go one way, as launches do: the line
/// through the closest edges of windows, so that it meets all edges. The identity unless these are
/// on a line that only a drift explains: work that waits longer and longer does not do so as
/// evenly. Errors: those of ClockMap::from_knots().
Result<ClockMap> drift_of_one_sided(const Inner& inner);

}  // namespace entrain::carriers
