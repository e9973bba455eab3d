// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "base/ids.hpp"
#include "constraints/constraint.hpp"

namespace entrain::constraints {

/// Strongly connected components of the graph of constraints (Tarjan 1972, without recursion).
class StrongComponents {
 public:
  explicit StrongComponents(std::size_t clocks)
      : first_(clocks + 1), order_(clocks), low_(clocks), component_(clocks), next_edge_(clocks) {}

  /// Finds the components of these constraints.
  template <class Constraints>
  void find(const Constraints& constraints) {
    std::fill(first_.begin(), first_.end(), 0u);
    for (const ClockConstraint* constraint : constraints) ++first_[constraint->from + 1];
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    std::copy(first_.begin(), first_.end() - 1, next_edge_.begin());
    target_.resize(constraints.size());
    for (const ClockConstraint* constraint : constraints)
      target_[next_edge_[constraint->from]++] = constraint->to;
    std::copy(first_.begin(), first_.end() - 1, next_edge_.begin());
    std::fill(order_.begin(), order_.end(), k_none);
    std::fill(component_.begin(), component_.end(), k_none);
    counted_ = 0;
    for (const ClockConstraint* constraint : constraints) {
      if (order_[constraint->from] == k_none) visit(constraint->from);
    }
  }

  /// True if both ends are in one component.
  [[nodiscard]] bool contains(const ClockConstraint& constraint) const {
    return component_[constraint.from] == component_[constraint.to] &&
           component_[constraint.from] != k_none;
  }
  /// Clock that stands for the component of a clock; k_none without constraints.
  [[nodiscard]] std::uint32_t of(std::uint32_t clock) const { return component_[clock]; }

 private:
  void enter(std::uint32_t clock) {
    order_[clock] = low_[clock] = counted_++;
    path_.push_back(clock);
    open_.push_back(clock);
  }

  void visit(std::uint32_t start) {
    enter(start);
    while (!path_.empty()) {
      const std::uint32_t at = path_.back();
      if (next_edge_[at] < first_[at + 1]) {
        const std::uint32_t to = target_[next_edge_[at]++];
        if (order_[to] == k_none) {
          enter(to);
        } else if (component_[to] == k_none) {
          low_[at] = std::min(low_[at], order_[to]);
        }
        continue;
      }
      path_.pop_back();
      if (!path_.empty()) low_[path_.back()] = std::min(low_[path_.back()], low_[at]);
      if (low_[at] == order_[at]) close(at);
    }
  }

  void close(std::uint32_t root) {
    for (std::uint32_t clock = k_none; clock != root;) {
      clock = open_.back();
      open_.pop_back();
      component_[clock] = root;
    }
  }

  std::vector<std::uint32_t> first_, order_, low_, component_, next_edge_;
  std::vector<std::uint32_t> target_, path_, open_;
  std::uint32_t counted_ = 0;
};

/// First clock of the component of each clock, in which clocks bound each other in both directions,
/// directly or around a cycle.
[[nodiscard]] inline std::vector<std::uint32_t> strong_components(
    std::size_t clocks, std::span<const ClockConstraint> constraints) {
  std::vector<const ClockConstraint*> all;
  all.reserve(constraints.size());
  for (const ClockConstraint& one : constraints) all.push_back(&one);
  StrongComponents components(clocks);
  components.find(all);
  std::vector<std::uint32_t> first_of(clocks, k_none), component(clocks);
  for (std::uint32_t c = 0; c < clocks; ++c) {
    const std::uint32_t of = components.of(c) == k_none ? c : components.of(c);
    if (first_of[of] == k_none) first_of[of] = c;
    component[c] = first_of[of];
  }
  return component;
}

}  // namespace entrain::constraints
