// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "difference/solve.hpp"

namespace entrain::explain {

/// Offset of a clock at one of its stamps, as an estimate has it, ticks.
using Estimate = std::function<std::int64_t(difference::Event)>;

/// Clocks that an explanation divides where they were set: each part is a clock of its own.
struct Parts {
  explicit Parts(std::size_t clocks = 0) : begins(clocks), first(clocks, 0) {}

  /// The same stamp, of the part that has it.
  [[nodiscard]] difference::Event operator()(difference::Event event) const {
    const auto& own = begins[event.clock];
    const auto at = std::ranges::upper_bound(own, event.stamp) - own.begin();
    return {first[event.clock] + static_cast<std::uint32_t>(at), event.stamp};
  }

  std::vector<std::vector<std::int64_t>> begins;  ///< first stamps of each clock's later parts
  std::vector<std::uint32_t> first;               ///< first part of each clock
};

/// A solution of the active constraints: the values at the nodes of a system whose clocks are
/// parts.
struct ActiveSolution {
  const difference::System& system;
  const difference::Values& values;
  const Parts& parts;
};

/// Active set of constraints, for constraint generation: what is infeasible with a few is so with
/// all. A solution of a few, continued by straight lines between its nodes, keeps all limits on
/// rates. So if it violates no other constraint, it solves all of them.
///
/// Few constraints are all active, and so are those of clocks without an estimate: else nothing
/// tells which ones are tight. Else only single pairs of an instance are active. Numbers: edges,
/// then instances.
class ActiveSet {
 public:
  /// Constraints, and members of instances, that are active from the beginning. Chosen: systems of
  /// so many are solved in some 10 ms.
  static constexpr std::size_t k_first = std::size_t{1} << 15;

  /// An edge, or a pair of an instance.
  struct Pair {
    difference::Edge edge;
    std::uint32_t number = 0;  ///< the constraint
    friend auto operator<=>(const Pair&, const Pair&) = default;
  };

  /// `constraints` must outlive this.
  ActiveSet(const difference::Constraints& constraints, const Estimate& estimate,
            std::size_t first);

  /// True if all constraints are active; pairs() are none then.
  [[nodiscard]] bool has_all() const { return has_all_; }
  [[nodiscard]] const std::vector<Pair>& pairs() const { return pairs_; }
  /// Adds the constraints that a solution violates most, except for those that are left out, and
  /// such as are met by no more than the first violations: what removes these may break them. False
  /// if it violates none.
  bool add_violated(const ActiveSolution& solution,
                    const std::function<bool(std::uint32_t)>& is_left_out,
                    difference::Effort& effort);
  /// Stamps of a clock in all constraints, increasing.
  [[nodiscard]] const std::vector<std::int64_t>& stamps(std::uint32_t clock);

 private:
  const difference::Constraints& constraints_;
  std::size_t first_;
  std::size_t size_ = 0;  ///< edges and members of instances
  bool has_all_ = true;
  std::vector<Pair> pairs_;                        ///< in order
  std::vector<std::vector<std::int64_t>> stamps_;  ///< one per clock; empty: not collected yet
};

}  // namespace entrain::explain
