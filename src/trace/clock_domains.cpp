// SPDX-License-Identifier: BSD-3-Clause
#include "trace/clock_domains.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

namespace entrain::trace {

ClockDomains domains_by(std::span<const std::uint32_t> key) {
  ClockDomains domains;
  std::unordered_map<std::uint32_t, std::uint32_t> numbers;
  for (LocationIndex l = 0; l < key.size(); ++l) {
    const auto number =
        numbers.emplace(key[l], static_cast<std::uint32_t>(domains.members.size())).first->second;
    if (number == domains.members.size()) domains.members.emplace_back();
    domains.of.push_back(number);
    domains.members[number].push_back(l);
  }
  return domains;
}

ClockDomains separate_domains(std::size_t locations) {
  std::vector<std::uint32_t> key(locations);
  std::iota(key.begin(), key.end(), std::uint32_t{0});
  return domains_by(key);
}

LocationSkeleton extent_of(const Trace& trace, std::span<const LocationIndex> locations) {
  LocationSkeleton extent;
  for (const LocationIndex l : locations) {
    const LocationSkeleton& location = trace.locations[l];
    if (location.event_count == 0) continue;
    const bool is_first = extent.event_count == 0;
    extent.first = is_first ? location.first : std::min(extent.first, location.first);
    extent.last = is_first ? location.last : std::max(extent.last, location.last);
    extent.event_count += location.event_count;
    if (location.granule > 0) {
      extent.granule =
          extent.granule == 0 ? location.granule : std::min(extent.granule, location.granule);
    }
    extent.flushes.insert(extent.flushes.end(), location.flushes.begin(), location.flushes.end());
  }
  std::ranges::sort(extent.flushes, {},
                    [](const FlushInterval& one) { return std::pair(one.begin, one.end); });
  return extent;
}

}  // namespace entrain::trace
