// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "base/big_vector.hpp"
#include "base/flat_map.hpp"
#include "clc/cycles.hpp"
#include "clc/incidence.hpp"
#include "match/graph.hpp"

namespace entrain::clc {

/// A step of a forward pass.
struct Step {
  enum class Kind : std::uint8_t {
    run,       ///< nodes [begin, end) of one location, in order
    exchange,  ///< receive participants [begin, end) (indices into Graph::participants) of exchange
               ///< `index`
    tied,      ///< component `index` of Cycles::tied
  };
  Kind kind = Kind::run;
  std::uint32_t index = 0;  ///< location, exchange or component
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

/// Follows the locations through the graph as a data-flow: each goes on until it comes to a node
/// whose time depends on one that is not known yet.
///
/// start() and work() follow the locations as far as they go. In a team, where nodes depend on
/// other members too, arrive(), demand_arrived() and proposals_arrived() report news of these.
///
/// Example: location 0 has nodes 0 (send) and 1 (receive of the answer), location 1 has nodes 2
/// (receive) and 3 (send of the answer). The steps are: run [0, 1) of location 0, run [2, 4) of
/// location 1, run [1, 2) of location 0.
class Scheduler {
 public:
  /// Called with every step as it is found; when it returns, the step counts as done.
  using OnStep = std::function<void(const Step&)>;

  /// Things that nodes of this member of a team wait for in addition to nodes and ghosts, and that
  /// other members wait for.
  class Others {
   public:
    virtual ~Others() = default;
    /// Other members have not demanded yet what they will demand of this node.
    [[nodiscard]] virtual bool owe_demand(NodeIndex node) const = 0;
    /// All that this member's nodes of a tied component wait for outside of it is known. True if
    /// other members have not yet proposed their times for it.
    [[nodiscard]] virtual bool owe_proposals(std::uint32_t component) = 0;
    /// All that this member's exchanges demand of a tied ghost is known.
    virtual void answer_tied(NodeIndex ghost) = 0;
  };

  /// References must outlive this.
  Scheduler(const match::Graph& graph, const Incidence& incidence, const Cycles& cycles,
            Others& others, OnStep on_step)
      : graph_(graph),
        incidence_(incidence),
        cycles_(cycles),
        others_(others),
        on_step_(std::move(on_step)) {}

  void start();
  /// Follows up to `turns` locations as far as they go; false if none can go on.
  bool work(std::uint32_t turns);
  void arrive(NodeIndex ghost) { complete(ghost); }
  void demand_arrived(NodeIndex node) { wake(k_demand_key | node); }
  void proposals_arrived(std::uint32_t component) { wake(k_proposal_key | component); }
  /// All nodes are done.
  [[nodiscard]] bool finished() const;
  /// Per location: its first node that is left.
  [[nodiscard]] const std::vector<NodeIndex>& cursor() const { return cursor_; }

 private:
  struct ExchangeState {
    std::uint32_t pending = 0;   ///< send participants not done
    NodeIndex last = k_none;     ///< the pending one's node, if there is one only
    std::uint32_t leading = 0;   ///< ordered: send participants done from the front
    std::uint32_t released = 0;  ///< ordered: receive participants whose demand is known
  };
  // A location waits for a node, for an exchange, for demands or for proposals of other members.
  static constexpr std::uint64_t k_exchange_key = std::uint64_t{1} << 32;
  static constexpr std::uint64_t k_demand_key = std::uint64_t{2} << 32;
  static constexpr std::uint64_t k_proposal_key = std::uint64_t{3} << 32;

  void enqueue(std::uint32_t waiter);
  void advance(LocationIndex location);
  void try_tied_ghost(std::uint32_t waiter);
  bool ready(NodeIndex node, std::uint32_t waiter, std::uint32_t within = k_none);
  [[nodiscard]] bool inside(NodeIndex node, std::uint32_t within) const {
    return within != k_none && cycles_.tied_of[node] == within;
  }
  [[nodiscard]] NodeIndex missing_send(std::uint32_t x, const match::Participant& receive,
                                       std::uint32_t within) const;
  bool wait(std::uint64_t key, std::uint32_t waiter);
  void wake(std::uint64_t key);
  void complete(NodeIndex node);
  void release(std::uint32_t x);
  void release_ordered(std::uint32_t x);
  void release_self(std::uint32_t x);
  bool try_tied(std::uint32_t c, LocationIndex location);

  const match::Graph& graph_;
  const Incidence& incidence_;
  const Cycles& cycles_;
  Others& others_;
  OnStep on_step_;
  std::vector<bool> done_;
  std::vector<NodeIndex> cursor_;
  BigVector<ExchangeState> exchanges_;
  std::vector<NodeIndex> tied_ghosts_;  ///< ghosts on which exchanges here have demands
  // Waiters are locations and, after them, tied ghosts.
  std::deque<std::uint32_t> runnable_;
  std::vector<bool> queued_;
  std::vector<bool> awaited_;  ///< nodes that somebody has waited for
  FlatMap<std::uint64_t, std::uint32_t, IntegerHash> waiters_;  ///< the first one
  std::vector<std::uint32_t> waits_next_;
};

}  // namespace entrain::clc
