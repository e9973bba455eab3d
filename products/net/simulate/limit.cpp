// SPDX-License-Identifier: BSD-3-Clause
#include "net/simulate/limit.hpp"

#include <algorithm>
#include <chrono>

#include "base/try.hpp"

namespace entrain::net {

Result<Limit> find_limit(const PlannedNetwork& network, SimulationOptions options,
                         std::int64_t by_equation, Progress* progress) {
  constexpr std::int64_t k_most_slots = 10'000'000;
  constexpr Femtoseconds k_longest = std::chrono::minutes(15);
  constexpr double k_most_packets = 5e6;  // of --load, which cannot be skipped
  options.synchronisations = 3;
  const double packets_per_slot = options.load * static_cast<double>(options.synchronisations) *
                                  static_cast<double>(network.topology.interfaces().size());
  std::int64_t most = std::min(k_most_slots, k_longest / network.parameters.slot());
  if (packets_per_slot * static_cast<double>(most) > k_most_packets)
    most = static_cast<std::int64_t>(k_most_packets / packets_per_slot);
  most = std::max(most, network.schedule.slots);
  options.every_slot = false;
  const auto holds = [&](std::int64_t interval) -> Result<bool> {
    options.interval_slots = interval;
    TRY_ASSIGN(const SimulationResult result,
               simulate(network.topology, network.schedule, network.parameters, options, progress));
    return result.inversions == 0;
  };
  std::int64_t good = 0, bad = std::min(std::max(by_equation, network.schedule.slots), most);
  for (;; bad = std::min(2 * bad, most)) {
    TRY_ASSIGN(const bool held, holds(bad));
    if (!held) break;
    good = bad;
    if (bad == most)
      return Limit{.interval_slots = good, .by_equation = by_equation, .is_lost_beyond = false};
  }
  while (bad - good > std::max<std::int64_t>(good / 100, 1)) {
    const std::int64_t middle = std::max(good + (bad - good) / 2, network.schedule.slots);
    if (middle == bad) break;
    TRY_ASSIGN(const bool held, holds(middle));
    (held ? good : bad) = middle;
  }
  return Limit{.interval_slots = good, .by_equation = by_equation, .is_lost_beyond = true};
}

}  // namespace entrain::net
