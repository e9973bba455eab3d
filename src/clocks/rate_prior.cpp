// SPDX-License-Identifier: BSD-3-Clause
#include "clocks/rate_prior.hpp"

#include <algorithm>
#include <limits>

namespace entrain::clocks {

RatePrior rate_prior(const trace::Share& share) {
  constexpr std::uint64_t k_year_2000_s = 946'684'800, k_year_2100_s = 4'102'444'800;
  constexpr std::int64_t k_slewed_ppb = 500'000;
  std::uint64_t earliest = std::numeric_limits<std::int64_t>::max();
  for (const LocationIndex l : share.own()) {
    const trace::LocationSkeleton& location = share.trace.locations[l];
    if (location.event_count > 0) earliest = std::min(earliest, location.first);
  }
  const auto first = static_cast<std::uint64_t>(
      share.team.reduce(Team::Reduction::min, static_cast<std::int64_t>(earliest)));
  const std::uint64_t hz = std::max<std::uint64_t>(1, share.trace.definitions.clock.resolution_hz);
  const std::uint64_t second = first / hz;
  if (second < k_year_2000_s || second >= k_year_2100_s) return {};
  return {ClockKind::wall, k_slewed_ppb};
}

}  // namespace entrain::clocks
