// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <entrain/error.hpp>
#include <entrain/options.hpp>

#include "base/big_vector.hpp"
#include "base/cancel.hpp"
#include "base/team.hpp"
#include "clc/cycles.hpp"
#include "match/graph.hpp"

namespace entrain::clc {

/// No time of a trace may be earlier or later, ticks: differences and sums with delays fit into 64
/// bits. No stamp that formats read is above the latest one.
inline constexpr std::int64_t k_earliest_time = -(std::int64_t{1} << 60);
inline constexpr std::int64_t k_latest_time = std::int64_t{1} << 62;

/// Result of one pass of forward amortization. In a team `times` and `jump` are those of this
/// member's nodes, the other fields those of the whole trace.
struct ForwardTimes {
  BigVector<std::int64_t> times;  ///< LC' per node, ghosts last, ticks, >= C
  std::vector<bool> jump;         ///< true for nodes that a sender (or delta) pushed
  std::uint64_t jumps = 0;
  std::int64_t error = 0;              ///< largest LC' - C, ticks
  std::vector<std::int64_t> error_of;  ///< the same per location
  bool overflow = false;               ///< a time passed k_latest_time: the result is worthless
};

/// The input of forward amortization. All references must outlive every pass.
///
/// `graph` and `cycles` belong together: the first pass records the cycles of the graph in
/// `cycles`, and removes the edges inside those that are too wide.
struct ForwardProblem {
  match::Graph& graph;
  Cycles& cycles;                         ///< empty at first
  std::span<const std::int64_t> presync;  ///< C per node, ghosts too, ticks
  MuTicks mu{};                           ///< minimum latencies by class
  /// Per location: least distance of neighbouring nodes, at most that in C, ticks; empty: 0.
  std::span<const std::int64_t> delta = {};
  /// True: a receive that a sender pushes beyond C comes one tick later, so that the two times
  /// differ. Receives whose C is late enough stay, even at the time of their sender.
  bool separate = false;
  unsigned threads = 1;  ///< 0: all cores; results do not depend on it
  Cancel cancel{nullptr};
  /// Per location: least gamma of any pass; empty: 0. May change between passes.
  std::span<const Decimal9> least_gamma = {};

  [[nodiscard]] std::int64_t delta_of(LocationIndex location) const {
    return delta.empty() ? 0 : delta[location];
  }
  /// The earliest time of a node whose senders demand `demand`.
  [[nodiscard]] std::int64_t after(NodeIndex node, std::int64_t demand) const {
    return separate && demand > presync[node] ? demand + 1 : demand;
  }

  /// The gamma of a location in a pass for `gamma`.
  [[nodiscard]] Decimal9 gamma_of(LocationIndex location, Decimal9 gamma) const {
    if (least_gamma.empty() || least_gamma[location].billionths < gamma.billionths) return gamma;
    return least_gamma[location];
  }
};

/// Computes forward amortization: the times LC' >= C that solve equation (3') of Becker,
/// Rabenseifner and Wolf (2007) in displacement form (docs/method.md, section 4) at every node:
///
///     LC'(n) = max( C(n) + decayed displacement of the node before n,
///                   LC'(s) + mu for every sender s that precedes n,
///                   LC'(n - 1) + min(delta, C(n) - C(n - 1)) )
///
/// With ForwardProblem::separate the second line is a tick more where it is above C(n). A node that
/// the second or third line pushes is a jump. From there on the displacement decays by 1 - gamma
/// per tick of C.
///
/// Example with gamma 0.99, mu 10, delta 0. Location P sends to Q, and Q sends to R, which has two
/// more events:
///
///     node           C      pushed to         decayed   LC'    d
///     P  send     1000                        0         1000    0
///     Q  receive   960   1000 + 10 = 1010     0         1010   50   jump
///     Q  send     1160                        50 - 2    1208   48
///     R  receive  1200   1208 + 10 = 1218     0         1218   18   jump
///     R  event    2200                        18 - 10   2208    8
///     R  event    3000                        0         3000    0
///
/// There are 2 jumps, and the error is 50 ticks. In C the message to R is no violation; it becomes
/// one when its send moves.
///
/// Makes a pass for gammas[0], and in the same call for some of the gammas after it, in order, if
/// passes can run side by side. `gammas` must not be empty. Collective. Errors, the same at every
/// member: ErrorKind::interrupted when the user wants to stop; ErrorKind::input where cycles cannot
/// be searched.
using Forward = std::function<Result<std::vector<ForwardTimes>>(std::span<const Decimal9>)>;

}  // namespace entrain::clc
