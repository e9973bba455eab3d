// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>

#include <entrain/error.hpp>
#include <entrain/progress.hpp>

#include "net/simulate/simulator.hpp"

namespace entrain::net {

/// The largest interval at which synchrony holds, found by simulation.
struct Limit {
  std::int64_t interval_slots = 0;  ///< the largest that was seen to hold
  std::int64_t by_equation = 0;     ///< equation (11), published reading
  bool is_lost_beyond = true;       ///< false: longer ones were not tried
  /// Nothing if the equation gives none.
  [[nodiscard]] std::optional<double> margin() const {
    if (by_equation == 0) return std::nullopt;
    return static_cast<double>(interval_slots) / static_cast<double>(by_equation);
  }
};

/// Stretches the interval by bisection, to within 1 %, until a packet takes a link before one of an
/// earlier slot in one of three schedules; intervals beyond 10,000,000 slots, 15 minutes or, where
/// interfaces send between the schedules, 5,000,000 packets are not tried. Errors: as simulate().
Result<Limit> find_limit(const Topology& topology, const Schedule& schedule,
                         const Parameters& parameters, SimulationOptions options,
                         std::int64_t by_equation, Progress* progress);

}  // namespace entrain::net
