// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <entrain/options.hpp>
#include <entrain/progress.hpp>

#include "base/big_vector.hpp"
#include "clc/forward.hpp"
#include "match/graph.hpp"
#include "match/parts.hpp"

namespace entrain::clc {

/// Forward amortization where little moves: the same result as ForwardPass, without an order of the
/// nodes.
///
/// A sweep over all edges and exchanges, in parts on all threads, finds what senders demand beyond
/// C; then location after location follows its demands, and only nodes that move are touched. As
/// the times of senders change, the next sweep demands something else; when it demands the same,
/// equation (3') holds at every node. If edges and local order form no cycle, which the times show
/// then, it has one solution. There are as many sweeps as a correction has messages to follow one
/// after the other, and one to see that.
class ForwardSweeps {
 public:
  /// All references must outlive this. For a graph without ghosts. `threads`: 0 for all cores.
  ForwardSweeps(const match::Graph& graph, std::span<const std::int64_t> presync, const MuTicks& mu,
                unsigned threads);

  /// One pass. Nothing where the data-flow has to do it: too much moves, a correction goes on and
  /// on, equal times may hide a cycle, times overflow, or `progress` (may be null) says that the
  /// user wants to stop. A result shows that the graph has no cycle.
  std::optional<Forward> run(Decimal9 gamma, const Progress* progress = nullptr);

 private:
  /// What the senders of a node demand of it, all together.
  struct Demand {
    NodeIndex node = k_none;
    std::int64_t time = 0;
    friend auto operator<=>(const Demand&, const Demand&) = default;
  };
  /// What a sweep finds in a part of the graph.
  struct Found {
    std::vector<Demand> demands;
    /// Ends of edges and exchanges without latency that have equal times, and perhaps some more
    /// sends: a cycle consists of these, and of equal times in a location.
    std::vector<NodeIndex> tied_sends, tied_receives;
  };

  [[nodiscard]] bool sweep();
  void look_at_edges(const match::Part& part, Found& found) const;
  void look_at_exchanges(const match::Part& part, Found& found) const;
  [[nodiscard]] bool too_many(const Found& found) const {
    return std::max({found.demands.size(), found.tied_sends.size(), found.tied_receives.size()}) >
           most_found_;
  }
  void take_back();
  [[nodiscard]] bool settle(Decimal9 gamma, const Progress* progress);
  [[nodiscard]] bool settle_location(LocationIndex location, std::span<const Demand> demands,
                                     Decimal9 gamma);
  [[nodiscard]] NodeIndex let_decay(const Decay& decay, NodeIndex begin, NodeIndex end,
                                    Decimal9 gamma);
  [[nodiscard]] bool may_close_cycle() const;
  [[nodiscard]] Forward take_result();

  const match::Graph& graph_;
  std::span<const std::int64_t> presync_;
  MuTicks mu_;
  const bool ties_matter_;  ///< some mu is 0
  const std::vector<match::Part> parts_;
  const std::size_t most_found_;  ///< in a part
  const std::size_t most_moved_;  ///< nodes
  BigVector<std::int64_t> times_;
  std::vector<Found> found_;     ///< per part
  std::vector<Demand> demands_;  ///< by node
  std::vector<NodeIndex> jumps_;
  std::vector<std::pair<NodeIndex, NodeIndex>> moved_;  ///< ranges of nodes
  std::size_t moved_count_ = 0;
};

}  // namespace entrain::clc
