// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "base/big_vector.hpp"
#include "base/flat_map.hpp"
#include "clc/components.hpp"
#include "clc/forward.hpp"
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

  void start() {
    if (!cycles_.tied_of.empty()) {
      for (auto n = static_cast<NodeIndex>(graph_.own_count()); n < graph_.node_count(); ++n) {
        if (cycles_.tied_of[n] != k_none && incidence_.receives.has(n)) tied_ghosts_.push_back(n);
      }
    }
    const std::size_t waiters = graph_.location_count() + tied_ghosts_.size();
    done_.assign(graph_.node_count(), false);
    awaited_.assign(graph_.node_count(), false);
    cursor_.assign(graph_.first_node.begin(), graph_.first_node.end() - 1);
    waits_next_.assign(waiters, k_none);
    queued_.assign(waiters, false);
    exchanges_.assign(graph_.exchanges.size(), {});
    for (std::uint32_t x = 0; x < exchanges_.size(); ++x) {
      exchanges_[x].pending = graph_.exchanges[x].send_count;
      release(x);
    }
    for (LocationIndex l = 0; l < graph_.location_count(); ++l) {
      if (cursor_[l] < graph_.first_node[l + 1]) enqueue(l);
    }
    for (std::size_t g = graph_.location_count(); g < waiters; ++g) {
      enqueue(static_cast<std::uint32_t>(g));
    }
  }
  /// Follows up to `turns` locations as far as they go; false if none can go on.
  bool work(std::uint32_t turns) {
    for (; turns > 0 && !runnable_.empty(); --turns) {
      const std::uint32_t waiter = runnable_.front();
      runnable_.pop_front();
      queued_[waiter] = false;
      if (waiter < graph_.location_count()) {
        advance(waiter);
      } else {
        try_tied_ghost(waiter);
      }
    }
    return !runnable_.empty();
  }
  /// News of other members of a team.
  void arrive(NodeIndex ghost) { complete(ghost); }
  void demand_arrived(NodeIndex node) { wake(k_demand_key | node); }
  void proposals_arrived(std::uint32_t component) { wake(k_proposal_key | component); }
  /// All nodes are done.
  [[nodiscard]] bool finished() const {
    for (LocationIndex l = 0; l < graph_.location_count(); ++l) {
      if (cursor_[l] < graph_.first_node[l + 1]) return false;
    }
    return true;
  }
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

  void enqueue(std::uint32_t waiter) {
    if (queued_[waiter]) return;
    queued_[waiter] = true;
    runnable_.push_back(waiter);
  }
  void advance(LocationIndex location) {
    NodeIndex begin = cursor_[location];
    const NodeIndex last = graph_.first_node[location + 1];
    // A location that has gone on by so many nodes lets others go on.
    constexpr NodeIndex k_most_nodes = 1 << 12;
    const NodeIndex end = begin + std::min(last - begin, k_most_nodes);
    const auto flush = [&] {
      if (begin < cursor_[location]) {
        on_step_({Step::Kind::run, location, begin, cursor_[location]});
      }
      begin = cursor_[location];
    };
    while (cursor_[location] < end) {
      const NodeIndex node = cursor_[location];
      const std::uint32_t tied = cycles_.component_of(node);
      if (tied != k_none) {
        flush();
        if (!try_tied(tied, location)) return;
        begin = cursor_[location];
        continue;
      }
      if (!ready(node, location)) break;
      ++cursor_[location];
      // Steps that this node releases must come after it.
      if (incidence_.sends.has(node)) flush();
      complete(node);
    }
    flush();
    if (cursor_[location] >= end && end < last) enqueue(location);
  }
  /// Informs the owner of a tied ghost once nothing outside of its component is missing.
  void try_tied_ghost(std::uint32_t waiter) {
    const NodeIndex ghost = tied_ghosts_[waiter - graph_.location_count()];
    if (ready(ghost, waiter, cycles_.tied_of[ghost])) others_.answer_tied(ghost);
  }
  /// True if everything that `node` waits for is done, except nodes of component `within`.
  /// Otherwise `waiter` waits for the first thing that is not.
  bool ready(NodeIndex node, std::uint32_t waiter, std::uint32_t within = k_none) {
    for (const match::Edge& edge : incidence_.in_edges.of(node)) {
      if (!done_[edge.send] && !inside(edge.send, within)) return wait(edge.send, waiter);
    }
    for (const std::uint32_t m : incidence_.receives.of(node)) {
      const std::uint32_t x = incidence_.exchange_of[m];
      const ExchangeState& state = exchanges_[x];
      if (state.pending == 0) continue;
      if (!graph_.exchanges[x].ordered && within == k_none) {
        // The receiver's own begin is no edge: it may share the node with the end.
        if (state.pending > 1 || state.last != node) return wait(k_exchange_key | x, waiter);
        continue;
      }
      const NodeIndex missing = missing_send(x, graph_.participants[m], within);
      if (missing != k_none) return wait(missing, waiter);
    }
    if (!graph_.is_ghost(node) && others_.owe_demand(node)) {
      return wait(k_demand_key | node, waiter);
    }
    return true;
  }
  [[nodiscard]] bool inside(NodeIndex node, std::uint32_t within) const {
    return within != k_none && cycles_.tied_of[node] == within;
  }
  /// A send that `receive` still waits for; the last one in rank order, or k_none.
  [[nodiscard]] NodeIndex missing_send(std::uint32_t x, const match::Participant& receive,
                                       std::uint32_t within) const {
    const match::Exchange& exchange = graph_.exchanges[x];
    const auto sends = graph_.sends(exchange);
    std::size_t end = sends.size();
    if (exchange.ordered) end = first_not_below(sends, receive.order);
    for (std::size_t i = end; i-- > (exchange.ordered ? exchanges_[x].leading : 0);) {
      const bool counts = sends[i].location != receive.location;
      if (counts && !done_[sends[i].node] && !inside(sends[i].node, within)) return sends[i].node;
    }
    return k_none;
  }
  bool wait(std::uint64_t key, std::uint32_t waiter) {
    if (key < k_exchange_key) awaited_[key] = true;
    std::uint32_t* head = waiters_.insert(key, k_none).first;
    waits_next_[waiter] = *head;
    *head = waiter;
    return false;
  }
  void wake(std::uint64_t key) {
    const std::uint32_t* head = waiters_.find(key);
    if (head == nullptr) return;
    std::uint32_t waiter = *head;
    waiters_.erase(key);
    while (waiter != k_none) {
      enqueue(waiter);
      waiter = std::exchange(waits_next_[waiter], k_none);
    }
  }
  void complete(NodeIndex node) {
    done_[node] = true;
    if (awaited_[node]) wake(node);
    for (const std::uint32_t m : incidence_.sends.of(node)) {
      const std::uint32_t x = incidence_.exchange_of[m];
      --exchanges_[x].pending;
      release(x);
    }
  }
  /// Emits the steps that a completed send participant allows.
  void release(std::uint32_t x) {
    const match::Exchange& exchange = graph_.exchanges[x];
    if (exchange.ordered) return release_ordered(x);
    const std::uint32_t pending = exchanges_[x].pending;
    if (pending > 1) return;
    if (pending == 0) {
      const std::uint32_t first = exchange.first_receive;
      on_step_({Step::Kind::exchange, x, first, first + exchange.receive_count});
    } else {
      release_self(x);
    }
    wake(k_exchange_key | x);
  }
  void release_ordered(std::uint32_t x) {
    const match::Exchange& exchange = graph_.exchanges[x];
    ExchangeState& state = exchanges_[x];
    const auto sends = graph_.sends(exchange);
    const auto receives = graph_.receives(exchange);
    while (state.leading < sends.size() && done_[sends[state.leading].node]) ++state.leading;
    std::uint32_t ready = state.released;
    while (ready < receives.size() &&
           (state.leading == sends.size() || receives[ready].order <= sends[state.leading].order)) {
      ++ready;
    }
    if (ready == state.released) return;
    const std::uint32_t first = exchange.first_receive;
    on_step_({Step::Kind::exchange, x, first + state.released, first + ready});
    state.released = ready;
  }
  /// The last pending send participant may share its node with its own end.
  void release_self(std::uint32_t x) {
    const match::Exchange& exchange = graph_.exchanges[x];
    for (const match::Participant& send : graph_.sends(exchange)) {
      if (done_[send.node]) continue;
      exchanges_[x].last = send.node;
      for (const std::uint32_t m : incidence_.receives.of(send.node)) {
        if (incidence_.exchange_of[m] == x) {
          on_step_({Step::Kind::exchange, x, m, m + 1});
        }
      }
    }
  }
  /// Handles a component when all its locations have come to it and nothing outside is missing.
  bool try_tied(std::uint32_t c, LocationIndex location) {
    const std::vector<NodeIndex>& nodes = cycles_.tied[c].nodes;
    LocationIndex previous = k_none;
    for (const NodeIndex n : nodes) {
      const LocationIndex l = graph_.location_of(n);
      // A location that is not there yet calls again when it arrives.
      if (l != previous && cursor_[l] != n) return false;
      previous = l;
      if (!ready(n, location, c)) return false;
    }
    if (others_.owe_proposals(c)) return wait(k_proposal_key | c, location);
    on_step_({Step::Kind::tied, c, 0, 0});
    for (const NodeIndex n : nodes) cursor_[graph_.location_of(n)] = n + 1;
    for (const NodeIndex n : nodes) complete(n);
    for (const NodeIndex n : nodes) {
      const LocationIndex l = graph_.location_of(n);
      if (l != location && cursor_[l] == n + 1) enqueue(l);
    }
    return true;
  }

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
