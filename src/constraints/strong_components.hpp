// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.hpp"
#include "base/strong_components.hpp"
#include "constraints/constraint.hpp"

namespace entrain::constraints {

/// Strongly connected components of the graph of constraints.
class StrongComponents : public entrain::StrongComponents {
 public:
  using entrain::StrongComponents::StrongComponents;

  /// Finds the components of these constraints.
  template <class Constraints>
  void find(const Constraints& constraints) {
    entrain::StrongComponents::find(constraints, [](const ClockConstraint* one) {
      return Arc{one->from, one->to};
    });
  }
  /// True if both ends are in one component.
  [[nodiscard]] bool contains(const ClockConstraint& constraint) const {
    return of(constraint.from) == of(constraint.to) && of(constraint.from) != k_none;
  }
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
