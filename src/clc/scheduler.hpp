// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "base/cancel.hpp"
#include "base/flat_map.hpp"
#include "clc/cycles.hpp"
#include "clc/incidence.hpp"
#include "clc/schedule.hpp"
#include "match/graph.hpp"

namespace entrain::clc {

/// Follows the locations through the graph as a data-flow: each goes on until it comes to a node
/// whose time depends on one that is not known yet.
class Scheduler {
 public:
  /// Called with every step of the order as it is found; when it returns, the step counts as done.
  using OnStep = std::function<void(const Step&)>;

  /// Ghosts count as known. References must outlive this.
  Scheduler(const match::Graph& graph, const Incidence& incidence, const Cycles& cycles,
            OnStep on_step = nullptr)
      : graph_(graph), incidence_(incidence), cycles_(cycles), on_step_(std::move(on_step)) {}

  /// False if nodes are left that depend on themselves, or if `cancel` asks to stop.
  bool run(const Cancel& cancel);

  Schedule take() { return std::move(schedule_); }
  /// Per location: its first node that is left.
  [[nodiscard]] const std::vector<NodeIndex>& cursor() const { return cursor_; }

 private:
  struct ExchangeState {
    std::uint32_t pending = 0;   ///< send participants not done
    NodeIndex last = k_none;     ///< the pending one's node, if there is one only
    std::uint32_t leading = 0;   ///< ordered: send participants done from the front
    std::uint32_t released = 0;  ///< ordered: receive participants whose demand is known
  };
  // A location waits for a node, or for an exchange.
  static constexpr std::uint64_t k_exchange_key = std::uint64_t{1} << 32;

  void start();
  void emit(const Step& step);
  [[nodiscard]] bool finished() const;
  void enqueue(LocationIndex location);
  void advance(LocationIndex location);
  bool ready(NodeIndex node, LocationIndex location, std::uint32_t within = k_none);
  [[nodiscard]] bool inside(NodeIndex node, std::uint32_t within) const {
    return within != k_none && cycles_.tied_of[node] == within;
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
  const Cycles& cycles_;
  OnStep on_step_;
  Schedule schedule_;
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
