// SPDX-License-Identifier: BSD-3-Clause
#include "verify/times.hpp"

#include <algorithm>

namespace entrain::verify {

std::vector<std::int64_t> corrected_times(std::span<const trace::Event> events,
                                          const ClockMap& map) {
  std::vector<std::int64_t> times;
  times.reserve(events.size());
  ClockMap::Cursor cursor(map);
  std::uint64_t latest = 0;
  for (const trace::Event& event : events) {
    // A cursor never goes back; where a damaged stream does, it must not be asked.
    times.push_back(event.time >= latest ? cursor(event.time) : map(event.time));
    latest = std::max(latest, event.time);
  }
  return times;
}

}  // namespace entrain::verify
