// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <entrain/options.hpp>

#include "base/big_vector.hpp"
#include "clc/decay.hpp"
#include "clc/forward.hpp"
#include "match/graph.hpp"
#include "match/halo.hpp"
#include "match/parts.hpp"

namespace entrain::clc {

/// Forward amortization where little moves, without an order of the nodes.
///
/// A sweep looks at all edges and exchanges, in parts on all threads, and collects the demands of
/// senders that exceed C. Then location after location follows the demands on its nodes; only nodes
/// that move are touched. Senders that moved demand something else, which the next sweep finds.
/// When a sweep finds the same demands as the one before it, equation (3') holds at every node. The
/// equation has one solution if edges and local order form no cycle; the times show whether they
/// can. The number of sweeps is the number of messages that a correction follows one after the
/// other, and one more.
///
/// In a team every member looks at its own edges and exchanges, tells the owners what these demand
/// of ghosts, and learns the times of its ghosts after every sweep: a few messages per member and
/// sweep, however many messages of the trace cross members.
///
/// Example, that of Forward. The first sweep finds one demand: 1010 on B's receive (C: 960),
/// because 1160 + 10 is no more than 1200. B follows: 1010, 1208. The second sweep finds 1010 and,
/// now that B's send has moved, 1218 on C's receive. B and C follow: 1010, 1208; 1218, 2208, 3000.
/// The third sweep finds the same two demands: the pass is done.
class SweepForward final : public Forward {
 public:
  /// For delta 0. References must outlive this.
  SweepForward(Team& team, const ForwardProblem& problem);

  /// Makes a pass for the first gamma. Empty, at every member, if another way has to make it: too
  /// much moves, a correction goes on and on, equal times may hide a cycle, or times overflow. A
  /// result shows that the graph has no cycle.
  Result<std::vector<ForwardTimes>> run(std::span<const Decimal9> gammas) override;

 private:
  /// The largest demand of all senders of a node.
  struct Demand {
    NodeIndex node = k_none;
    std::int64_t time = 0;
    friend auto operator<=>(const Demand&, const Demand&) = default;
  };
  /// Findings of a sweep in a part of the graph.
  struct Found {
    std::vector<Demand> demands;
    /// Ends of edges and exchanges without latency that have equal times, and perhaps some more
    /// sends. A cycle consists of these, and of equal times in a location.
    std::vector<NodeIndex> tied_sends, tied_receives;
  };

  [[nodiscard]] std::optional<ForwardTimes> pass(Decimal9 gamma);
  [[nodiscard]] bool sweep();
  void look_at_edges(const match::Part& part, Found& found) const;
  void look_at_exchanges(const match::Part& part, Found& found) const;
  [[nodiscard]] bool too_many(const Found& found) const {
    return std::max({found.demands.size(), found.tied_sends.size(), found.tied_receives.size()}) >
           most_found_;
  }
  void keep_largest();
  void hand_over_demands();
  void take_back();
  [[nodiscard]] bool settle(Decimal9 gamma);
  [[nodiscard]] bool settle_location(LocationIndex location, std::span<const Demand> demands,
                                     Decimal9 gamma);
  [[nodiscard]] NodeIndex let_decay(const Decay& decay, NodeIndex begin, NodeIndex end,
                                    Decimal9 gamma);
  [[nodiscard]] bool may_close_cycle();
  [[nodiscard]] ForwardTimes take_result();

  Team& team_;
  const ForwardProblem problem_;
  const match::Graph& graph_;
  match::HaloExchange halo_;
  std::span<const std::int64_t> presync_;
  MuTicks mu_;
  Cancel cancel_;
  const bool ties_matter_;  ///< some mu is 0
  const std::vector<match::Part> parts_;
  const std::size_t most_found_;   ///< limit for each part
  const std::size_t most_moved_;   ///< nodes
  BigVector<std::int64_t> times_;  ///< time of each node, ghosts last, ticks
  std::vector<Found> found_;       ///< results of each part
  std::vector<Demand> demands_;    ///< demands on nodes of this member, in order of node
  std::vector<NodeIndex> jumps_;
  std::vector<std::pair<NodeIndex, NodeIndex>> moved_;  ///< ranges of nodes
  std::size_t moved_count_ = 0;
};

}  // namespace entrain::clc
