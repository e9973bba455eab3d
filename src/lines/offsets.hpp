// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "constraints/constraint.hpp"
#include "difference/solve.hpp"
#include "difference/system.hpp"

namespace entrain::lines {

/// Difference constraints on clocks that are moved as wholes: one offset each, to add to its times.
class Offsets {
 public:
  /// `fixed`: per clock 1 if its offset is 0, else 0.
  explicit Offsets(std::vector<char> fixed) : fixed_(std::move(fixed)) {}

  /// Adds constraints between clocks that were moved by these offsets.
  void add(std::span<const constraints::ClockConstraint> constraints,
           std::span<const std::int64_t> moved);
  /// Offsets that meet all constraints: 0 where it is possible beside the fixed clocks, else the
  /// centre of what is possible; where these contradict each other, the ones near 0: the middle
  /// between the greatest ones below and the least ones above. A clock that is not limited on both
  /// sides wants 0. Empty if no offsets meet the constraints, or if 2^27 steps do not find them.
  /// Deterministic.
  ///
  /// Example: the slack from clock 0 to 1 is -10 and back it is 30: clock 1 has to move by 10
  /// to 30. Moving later adds 10 to clock 1, moving earlier takes 10 from clock 0; the result is -5
  /// and 5.
  [[nodiscard]] std::optional<std::vector<std::int64_t>> find() const;
  /// The least offsets of at least 0 that meet all constraints. Empty as for find().
  [[nodiscard]] std::optional<std::vector<std::int64_t>> find_least() const;

 private:
  [[nodiscard]] difference::System system() const;
  [[nodiscard]] std::vector<std::int64_t> ticks_of(const difference::System& system,
                                                   const difference::Values& values) const;

  std::vector<char> fixed_;
  /// Tightest slack from one clock to another, ticks.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> tightest_;
};

}  // namespace entrain::lines
