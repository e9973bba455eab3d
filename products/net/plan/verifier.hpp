// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "net/model/topology.hpp"
#include "net/plan/schedule.hpp"

namespace entrain::net {

/// The mistakes in a schedule: their number, and the first example of each kind.
struct Verification {
  /// Messages without a valid route, second ones of a source in a slot, and those out of order.
  std::int64_t malformed = 0;
  std::string malformed_example;  ///< a sentence; "" if there is none
  /// Requirement 2: messages that take a directed link which another one has taken in that slot.
  std::int64_t conflicts = 0;
  std::string conflict_example;
  /// Requirement 1: pairs of interfaces of which the first does not precede the second.
  std::int64_t missing = 0;
  std::string missing_example;

  [[nodiscard]] bool holds() const { return malformed == 0 && conflicts == 0 && missing == 0; }
  /// The examples; "" if the schedule holds.
  [[nodiscard]] std::string sentence() const;
};

/// Checks a schedule against the definitions, only by its routes; it includes nothing of the
/// planner. A malformed message is left out of the other two checks.
Verification verify(const Topology& topology, const Schedule& schedule);

}  // namespace entrain::net
