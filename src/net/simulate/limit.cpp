// SPDX-License-Identifier: BSD-3-Clause
#include "net/simulate/limit.hpp"

#include <algorithm>
#include <chrono>

#include "base/try.hpp"

namespace entrain::net {

Result<Limit> find_limit(const Topology& topology, const Schedule& schedule,
                         const Parameters& parameters, SimulationOptions options,
                         std::int64_t by_equation, Progress* progress) {
  constexpr std::int64_t k_most_slots = 10'000'000;
  constexpr Femtoseconds k_longest = std::chrono::minutes(15);
  constexpr double k_most_packets = 5e6;  // of --load, which are not passed over
  options.synchronisations = 3;
  const double packets_per_slot = options.load * static_cast<double>(options.synchronisations) *
                                  static_cast<double>(topology.interfaces().size());
  std::int64_t most = std::min(k_most_slots, k_longest / parameters.slot());
  if (packets_per_slot * static_cast<double>(most) > k_most_packets)
    most = static_cast<std::int64_t>(k_most_packets / packets_per_slot);
  most = std::max(most, schedule.slots);
  options.every_slot = false;
  const auto holds = [&](std::int64_t interval) -> Result<bool> {
    options.interval_slots = interval;
    TRY_ASSIGN(const SimulationResult result,
               simulate(topology, schedule, parameters, options, progress));
    return result.inversions == 0;
  };
  std::int64_t good = 0, bad = std::min(std::max(by_equation, schedule.slots), most);
  for (;; bad = std::min(2 * bad, most)) {
    TRY_ASSIGN(const bool held, holds(bad));
    if (!held) break;
    good = bad;
    if (bad == most) return Limit{good, by_equation, false};
  }
  while (bad - good > std::max<std::int64_t>(good / 100, 1)) {
    const std::int64_t middle = std::max(good + (bad - good) / 2, schedule.slots);
    if (middle == bad) break;
    TRY_ASSIGN(const bool held, holds(middle));
    (held ? good : bad) = middle;
  }
  return Limit{good, by_equation, true};
}

}  // namespace entrain::net
