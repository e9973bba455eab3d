// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <vector>

#include "difference/solve.hpp"

/// Difference constraints by the plainest way: all pairs of stamps, all paths.
namespace entrain::difference {

/// Every constraint as an arc between two stamps, and the length of the shortest path between any
/// two of them (Floyd and Warshall). O(n^3) for n stamps.
class Oracle {
 public:
  explicit Oracle(const Constraints& constraints) : constraints_(constraints) {
    for (const Edge& edge : constraints.edges) see(edge.cause), see(edge.effect);
    for (const Session& session : constraints.sessions) see(session.at);
    for (const Instance& instance : constraints.instances) {
      for (const Event& event : instance.begins) see(event);
      for (const Event& event : instance.ends) see(event);
    }
    for (std::uint32_t c = 0; c < constraints.clocks.size(); ++c) {
      const auto& mean = constraints.clocks[c].mean;
      if (mean) see({c, mean->first}), see({c, mean->last});
    }
    std::size_t count = 1;
    for (auto& [event, index] : index_) {
      index = event.clock == constraints.reference ? 0 : count++;
    }
    length_.assign(count, std::vector<Exact>(count, k_unbounded));
    for (std::size_t i = 0; i < count; ++i) length_[i][i] = 0;
    add_constraints();
    close();
  }

  [[nodiscard]] bool feasible() const {
    for (std::size_t i = 0; i < length_.size(); ++i) {
      if (length_[i][i] < 0) return false;
    }
    return true;
  }
  [[nodiscard]] Exact upper(Event event) const { return length_[0][index_.at(event)]; }
  [[nodiscard]] Exact lower(Event event) const { return -length_[index_.at(event)][0]; }

  /// The greatest solution below values at all stamps.
  [[nodiscard]] Exact greatest_below(const std::map<Event, Exact>& values, Event event) const {
    Exact result = k_unbounded;
    for (const auto& [other, value] : values) {
      result = std::min(result, value + length_[index_.at(other)][index_.at(event)]);
    }
    return result;
  }
  [[nodiscard]] Exact least_above(const std::map<Event, Exact>& values, Event event) const {
    Exact result = -k_unbounded;
    for (const auto& [other, value] : values) {
      result = std::max(result, value - length_[index_.at(event)][index_.at(other)]);
    }
    return result;
  }

  [[nodiscard]] const std::map<Event, std::size_t>& events() const { return index_; }

 private:
  void see(Event event) { index_[event] = 0; }

  /// u(to) - u(from) <= length.
  void limit(Event from, Event to, Exact length) {
    Exact& current = length_[index_.at(from)][index_.at(to)];
    current = std::min(current, length);
  }

  void add_edge(Event cause, Event effect, std::int64_t delay) {
    if (cause.clock == effect.clock) return;
    limit(effect, cause, Exact{effect.stamp - cause.stamp - delay} * k_tick);
  }

  void add_constraints() {
    for (const Edge& edge : constraints_.edges) add_edge(edge.cause, edge.effect, edge.delay);
    for (const Instance& instance : constraints_.instances) {
      for (const Event& begin : instance.begins) {
        for (const Event& end : instance.ends) add_edge(begin, end, instance.delay);
      }
    }
    for (const Session& session : constraints_.sessions) {
      const std::size_t at = index_.at(session.at);
      length_[0][at] = std::min(length_[0][at], Exact{session.upper} * k_tick);
      length_[at][0] = std::min(length_[at][0], -Exact{session.lower} * k_tick);
    }
    for (const auto& [a, at] : index_) {
      for (const auto& [b, other] : index_) {
        if (a.clock != b.clock || a.clock == constraints_.reference || a == b) continue;
        limit(a, b, constraints_.clocks[a.clock].rate.most(b.stamp - a.stamp));
      }
    }
    for (std::uint32_t c = 0; c < constraints_.clocks.size(); ++c) {
      const auto& mean = constraints_.clocks[c].mean;
      if (!mean || c == constraints_.reference) continue;
      const Exact slack = Exact{mean->slack_ticks} * k_tick;
      const std::int64_t life = mean->last - mean->first;
      limit({c, mean->first}, {c, mean->last}, mean->rates.most(life) + slack);
      limit({c, mean->last}, {c, mean->first}, mean->rates.most(-life) + slack);
    }
  }

  void close() {
    const std::size_t count = length_.size();
    for (std::size_t k = 0; k < count; ++k) {
      for (std::size_t i = 0; i < count; ++i) {
        if (length_[i][k] == k_unbounded) continue;
        for (std::size_t j = 0; j < count; ++j) {
          if (length_[k][j] == k_unbounded) continue;
          length_[i][j] = std::min(length_[i][j], length_[i][k] + length_[k][j]);
        }
      }
      // Lengths along a negative cycle would double with every k.
      for (std::size_t i = 0; i < count; ++i) {
        if (length_[i][i] < 0) return;
      }
    }
  }

  const Constraints& constraints_;
  std::map<Event, std::size_t> index_;  ///< index of every stamp; 0: the reference
  std::vector<std::vector<Exact>> length_;
};

}  // namespace entrain::difference
