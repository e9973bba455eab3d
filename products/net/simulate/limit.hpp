// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>

#include <entrain/error.hpp>
#include <entrain/progress.hpp>

#include "net/plan/planned_network.hpp"
#include "net/simulate/simulator.hpp"

namespace entrain::net {

/// The largest interval at which synchrony holds, found by simulation.
struct Limit {
  std::int64_t interval_slots = 0;  ///< the largest that kept synchrony
  std::int64_t by_equation = 0;     ///< equation (11), published reading
  bool is_lost_beyond = true;       ///< false: longer intervals were not tried
  /// interval_slots / by_equation; nothing if the equation gives no interval.
  [[nodiscard]] std::optional<double> margin() const {
    if (by_equation == 0) return std::nullopt;
    return static_cast<double>(interval_slots) / static_cast<double>(by_equation);
  }
};

/// Stretches the interval by bisection, to within 1 %, until synchrony is lost: until a packet
/// takes a link before a packet of an earlier slot in one of three schedules. Tries no interval
/// beyond 10,000,000 slots, 15 minutes or, where interfaces send between the schedules, 5,000,000
/// packets. Errors: as simulate().
Result<Limit> find_limit(const PlannedNetwork& network, SimulationOptions options,
                         std::int64_t by_equation, Progress* progress);

}  // namespace entrain::net
