// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <entrain/error.hpp>
#include <entrain/options.hpp>
#include <entrain/report.hpp>

#include "base/big_vector.hpp"
#include "base/cancel.hpp"
#include "base/exact.hpp"
#include "base/ids.hpp"
#include "base/team.hpp"
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

/// Nodes of different locations that equal stamps tie into a cycle: they get one common time.
/// Nodes of one location are consecutive; sorted.
struct TiedNodes {
  std::vector<NodeIndex> nodes;      ///< its nodes; in a team only this member's
  std::vector<std::uint32_t> peers;  ///< ranks of other members that have nodes of it
};

/// The cycles of edges and local order that were found in a graph, and their treatment.
///
/// Example: processes 0 and 1 send each other a message, and a coarse timer puts all four events at
/// stamp 100. Each location has one node, and the edges 0 -> 1 and 1 -> 0 close a cycle: `tied` has
/// one component, `nodes` {0, 1}; `tied_of` is {0, 0}; `tied_nodes` is 2. If the stamps of both
/// receives were 1,000 and those of both sends 2,000, no timer would explain the cycle: both edges
/// would be dropped, `dropped_components` would be 1 and `dropped_edges` 2.
struct Cycles {
  std::vector<TiedNodes> tied;  ///< all components, in a team with this member's nodes
  /// Per node of a tied component, ghosts too: its number; k_none for other nodes. Empty if there
  /// is no component.
  std::vector<std::uint32_t> tied_of;
  std::uint64_t tied_nodes = 0;          ///< tied nodes of the whole team
  std::uint64_t dropped_components = 0;  ///< cycles that equal stamps cannot explain
  std::uint64_t dropped_edges = 0;       ///< edges and exchanges left out to break these

  /// Number of the tied component of a node, or k_none.
  [[nodiscard]] std::uint32_t component_of(NodeIndex node) const {
    return tied_of.empty() ? k_none : tied_of[node];
  }
  /// The counters of the report that are not 0: "tied_components", "tied_nodes",
  /// "dropped_components", "dropped_edges".
  [[nodiscard]] Counters counters() const {
    Counters result{{"tied_components", tied.size()},
                    {"tied_nodes", tied_nodes},
                    {"dropped_components", dropped_components},
                    {"dropped_edges", dropped_edges}};
    std::erase_if(result, [](const auto& counter) { return counter.second == 0; });
    return result;
  }
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

/// How far a displacement has decayed: `top` ticks at time `since`, falling by 1 - gamma per tick.
///
/// The state is exact; only a reading is rounded, up to the next tick. A state that was rounded at
/// every node would never decay.
///
/// Example: top 50, since 960, gamma 0.99 (1 tick of displacement per 100 ticks of time). at(1160)
/// is 48, at(1161) is 48 (47.99 rounded up), at(5960) and later readings are 0.
struct Decay {
  std::int64_t top = 0;    ///< displacement at `since`, ticks, >= 0
  std::int64_t since = 0;  ///< C at the last jump, ticks

  /// ceil(max(0, top - (1 - gamma) * (c - since))), for c >= since.
  [[nodiscard]] std::int64_t at(std::int64_t c, Decimal9 gamma) const {
    if (top == 0) return 0;
    const Int128 fallen =
        floor_div(Int128{k_billion - gamma.billionths} * (Int128{c} - since), k_billion);
    return fallen >= top ? 0 : top - static_cast<std::int64_t>(fallen);
  }

  friend bool operator==(const Decay&, const Decay&) = default;
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
