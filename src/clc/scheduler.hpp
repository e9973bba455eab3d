// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include <entrain/progress.hpp>

#include "base/flat_map.hpp"
#include "clc/incidence.hpp"
#include "clc/schedule.hpp"
#include "match/graph.hpp"

namespace entrain::clc {

/// Follows the locations through the graph as a data-flow: each goes on until it comes to a node
/// whose time depends on one that is not known yet.
class Scheduler {
 public:
  /// Ghosts count as known. `tied` and `tied_of` as in Schedule.
  Scheduler(const match::Graph& graph, const Incidence& incidence, std::vector<TiedNodes> tied,
            std::vector<std::uint32_t> tied_of);
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;
  virtual ~Scheduler() = default;

  /// False if nodes are left that depend on themselves, or if the user wants to stop.
  bool run(const Progress* progress);

  Schedule take() { return std::move(schedule_); }
  /// Per location: its first node that is left.
  [[nodiscard]] const std::vector<NodeIndex>& cursor() const { return cursor_; }

 protected:
  /// The next step of the order. What it says is done when this returns.
  virtual void emit(const Step& step) { schedule_.steps.push_back(step); }
  Schedule schedule_;

 private:
  struct ExchangeState {
    std::uint32_t pending = 0;   ///< send members not done
    NodeIndex last = k_none;     ///< the pending one's node, if there is one only
    std::uint32_t leading = 0;   ///< ordered: send members done from the front
    std::uint32_t released = 0;  ///< ordered: receive members whose demand is known
  };
  // A location waits for a node, or for an exchange.
  static constexpr std::uint64_t k_exchange_key = std::uint64_t{1} << 32;

  void start();
  [[nodiscard]] bool finished() const;
  void enqueue(LocationIndex location);
  void advance(LocationIndex location);
  bool ready(NodeIndex node, LocationIndex location, std::uint32_t within = k_none);
  [[nodiscard]] bool inside(NodeIndex node, std::uint32_t within) const {
    return within != k_none && schedule_.tied_of[node] == within;
  }
  [[nodiscard]] NodeIndex missing_send(std::uint32_t x, const match::Participant& receive,
                                       std::uint32_t within) const;
  bool wait(std::uint64_t key, LocationIndex location);
  void wake(std::uint64_t key);
  void complete(NodeIndex node);
  void release(std::uint32_t x);
  void release_ordered(std::uint32_t x);
  void release_self(std::uint32_t x);
  bool try_tied(std::uint32_t c, LocationIndex location);

  const match::Graph& graph_;
  const Incidence& incidence_;
  std::vector<bool> done_;
  std::vector<NodeIndex> cursor_;
  BigVector<ExchangeState> exchanges_;
  std::deque<LocationIndex> runnable_;
  std::vector<bool> queued_;
  std::vector<bool> awaited_;  ///< nodes that a location has waited for
  FlatMap<std::uint64_t, std::uint32_t, IntegerHash> waiters_;  ///< first waiting location
  std::vector<std::uint32_t> waits_next_;
};

}  // namespace entrain::clc
