// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/edge_list.hpp"

namespace entrain::carriers {

inline constexpr std::int64_t k_any = std::int64_t{1} << 62;  ///< no two stamps differ so much

/// A limit of what is added to a clock's times.
struct Limit {
  std::int64_t time = 0;   ///< stamp of the clock
  std::int64_t ticks = 0;  ///< the limit
};

/// How far the smallest quarter of some limits is apart from the closest one, of the distances of
/// the others from it.
double spread(std::vector<std::int64_t> values);

/// The way from the least to the most that limits allow at which the clock likely is, of which
/// `below` and `above` are the spreads: the shortest time from a launch to its kernel, and from a
/// kernel to the call that waits for it, is about as long as the shortest of these times vary.
double likely_share(double below, double above);

/// Edges between a clock (1) and its carrier (0), and the constants that would meet them all.
struct Inner {
  EdgeList list;
  std::vector<Limit> lower, upper;

  void add(bool from_carrier, std::uint64_t cause, std::uint64_t effect) {
    list.add({from_carrier ? 0U : 1U, cause}, {from_carrier ? 1U : 0U, effect});
    const auto missing = static_cast<std::int64_t>(cause - effect);
    const auto time = static_cast<std::int64_t>(from_carrier ? effect : cause);
    (from_carrier ? lower : upper).push_back({time, from_carrier ? missing : -missing});
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
  /// The same, but 0 if that meets the edges.
  [[nodiscard]] std::int64_t shift() const { return least() <= 0 && most() >= 0 ? 0 : likely(); }
  /// Moves the clock's times.
  void move(std::int64_t shift) {
    for (std::size_t e = 0; e < list.cause_clock.size(); ++e) {
      std::uint64_t& time = list.cause_clock[e] == 1 ? list.cause_time[e] : list.effect_time[e];
      time += static_cast<std::uint64_t>(shift);
    }
  }
};

}  // namespace entrain::carriers
