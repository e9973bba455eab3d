// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "net/model/topology.hpp"
#include "net/plan/schedule.hpp"

namespace entrain::net {

/// What is wrong with a schedule, and the first example of each kind.
struct Verification {
  /// A message whose route is none, that comes twice in a slot, or that is not in order.
  std::int64_t malformed = 0;
  std::string malformed_example;  ///< a sentence; "" if there is none
  /// Requirement 2: pairs of messages that take one directed link in the same slot.
  std::int64_t conflicts = 0;
  std::string conflict_example;
  /// Requirement 1: pairs of interfaces of which the first does not precede the second.
  std::int64_t missing = 0;
  std::string missing_example;

  [[nodiscard]] bool holds() const { return malformed == 0 && conflicts == 0 && missing == 0; }
  /// The examples; "" if the schedule holds.
  [[nodiscard]] std::string sentence() const;
};

/// Checks a schedule against the definitions, by the routes it states, without regard to how it was
/// made. A malformed message takes no part in the rest.
Verification verify(const Topology& topology, const Schedule& schedule);

}  // namespace entrain::net
