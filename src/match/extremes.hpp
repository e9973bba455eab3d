// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "match/graph.hpp"

namespace entrain::match {

/// "No demand", far below every time and safe to add a latency to.
inline constexpr std::int64_t k_no_demand = std::numeric_limits<std::int64_t>::min() / 2;

/// The largest value with its owner, and the largest value of any other owner.
///
/// Example: after add(7, a), add(5, b) and add(6, a), without(b) and without(c) are 7, and
/// without(a) is 5.
class LargestTwo {
 public:
  LargestTwo() = default;
  /// `owner` has the largest value, `first`; another one has `second`.
  LargestTwo(std::int64_t first, std::int64_t second, std::uint32_t owner)
      : first_(first), second_(second), owner_(owner) {}

  void add(std::int64_t value, std::uint32_t owner) {
    if (owner == owner_) {
      first_ = std::max(first_, value);
    } else if (value > first_) {
      second_ = first_;
      first_ = value;
      owner_ = owner;
    } else {
      second_ = std::max(second_, value);
    }
  }
  /// Merges another object. Owners known to both have equal values in both.
  void add(const LargestTwo& other) {
    add(other.first_, other.owner_);
    // Its owner differs from that of the larger first value, or it equals that value.
    second_ = std::max(second_, other.second_);
  }
  [[nodiscard]] std::int64_t first() const { return first_; }
  [[nodiscard]] std::int64_t second() const { return second_; }
  [[nodiscard]] std::uint32_t owner() const { return owner_; }  ///< owner of first()
  /// Largest value of any owner but `owner`; k_no_demand if there is none.
  [[nodiscard]] std::int64_t without(std::uint32_t owner) const {
    return owner == owner_ ? second_ : first_;
  }

 private:
  std::int64_t first_ = k_no_demand;
  std::int64_t second_ = k_no_demand;
  std::uint32_t owner_ = k_none;
};

/// The demand of an exchange on each of its ends: the maximum of time + mu over the begins of other
/// locations, mu by latency class. Every operation is O(1).
///
/// With negated times it gives the minimum over ends of time - mu, for backward amortization. An
/// object serves many exchanges, one after the other; clear() does not touch the tables.
///
/// Example: a barrier begins at 100, 300 and 200 in locations 0, 1 and 2, and mu is 20. The demand
/// is 320 on locations 0 and 2, and 220 on location 1, which need not wait for itself.
class Extremes {
 public:
  Extremes(const Graph& graph, const MuTicks& mu) : graph_(graph), mu_(mu) {
    uniform_ = is_uniform(mu);
    if (uniform_) return;
    std::uint32_t processes = 0, nodes = 0;
    for (const std::uint32_t p : graph.process_of) processes = std::max(processes, p + 1);
    for (const std::uint32_t n : graph.node_of) nodes = std::max(nodes, n + 1);
    of_process_.resize(processes);
    of_node_.resize(nodes);
  }

  [[nodiscard]] static bool is_uniform(const MuTicks& mu) {
    return mu[0] == mu[1] && mu[1] == mu[2];
  }
  [[nodiscard]] bool uniform() const { return uniform_; }

  void clear() {
    all_ = {};
    ++epoch_;
  }

  void add(LocationIndex location, std::int64_t time) {
    if (time == k_no_demand) return;
    if (uniform_) {
      all_.add(time, location);
      return;
    }
    const std::uint32_t process = graph_.process_of[location], node = graph_.node_of[location];
    all_.add(time, node);
    current(of_node_[node]).add(time, process);
    current(of_process_[process]).add(time, location);
  }

  /// Largest time + mu over the added times of other locations than `location`.
  [[nodiscard]] std::int64_t demand(LocationIndex location) {
    if (uniform_) return plus(all_.without(location), mu_[0]);
    const std::uint32_t process = graph_.process_of[location], node = graph_.node_of[location];
    return std::max({plus(all_.without(node), mu_[2]),
                     plus(current(of_node_[node]).without(process), mu_[1]),
                     plus(current(of_process_[process]).without(location), mu_[0])});
  }

 private:
  struct Entry {
    LargestTwo two;
    std::uint64_t epoch = 0;
  };
  static std::int64_t plus(std::int64_t time, std::int64_t mu) {
    return time == k_no_demand ? k_no_demand : time + mu;
  }
  LargestTwo& current(Entry& entry) {
    if (entry.epoch != epoch_) entry = {{}, epoch_};
    return entry.two;
  }

  const Graph& graph_;
  MuTicks mu_;
  bool uniform_ = true;
  std::uint64_t epoch_ = 1;
  LargestTwo all_;
  std::vector<Entry> of_process_;
  std::vector<Entry> of_node_;
};

/// Calls body(exchange, receive, demand) for every receive participant of these exchanges of
/// `graph`. `demand` follows from the `times` of its senders; it is k_no_demand if there is no
/// sender of another location.
template <class Body>
void for_demands(const Graph& graph, std::span<const Exchange> exchanges, const MuTicks& mu,
                 std::span<const std::int64_t> times, Body body) {
  Extremes extremes(graph, mu);
  for (const Exchange& exchange : exchanges) {
    const auto sends = graph.sends(exchange);
    extremes.clear();
    std::size_t added = 0;
    for (const Participant& receive : graph.receives(exchange)) {
      while (added < sends.size() && (!exchange.ordered || sends[added].order < receive.order)) {
        extremes.add(sends[added].location, times[sends[added].node]);
        ++added;
      }
      body(exchange, receive, extremes.demand(receive.location));
    }
  }
}

}  // namespace entrain::match
