// SPDX-License-Identifier: BSD-3-Clause
#include "clocks/rate_prior.hpp"

#include <algorithm>
#include <cmath>

namespace entrain::clocks {
namespace {

constexpr std::int64_t k_timer_ppb = 200'000, k_slewed_ppb = 500'000;
constexpr std::int64_t k_servers_ppb = 30'000, k_disciplined_ppb = 1'000;

/// The kind of clock that the first stamps of most locations are of. Collective.
ClockKind kind_of_stamps(const trace::Share& share) {
  constexpr std::uint64_t k_year_2000_s = 946'684'800, k_year_2100_s = 4'102'444'800;
  const std::uint64_t hz = std::max<std::uint64_t>(1, share.trace.definitions.clock.resolution_hz);
  std::int64_t more = 0;  // locations with stamps of a wall clock than others
  for (const LocationIndex l : share.own()) {
    const trace::LocationSkeleton& location = share.trace.locations[l];
    const std::uint64_t second = location.first / hz;
    const bool of_day = second >= k_year_2000_s && second < k_year_2100_s;
    if (location.event_count > 0) more += of_day ? 1 : -1;
  }
  return share.team.reduce(Team::Reduction::sum, more) > 0 ? ClockKind::wall : ClockKind::timer;
}

}  // namespace

RatePrior rate_prior(const trace::Share& share, const ClockPriorOption& option) {
  RatePrior prior;
  prior.kind_given = option.kind != ClockKind::automatic;
  prior.kind = prior.kind_given ? option.kind : kind_of_stamps(share);
  prior.mean_ppb = prior.kind == ClockKind::wall ? k_slewed_ppb : k_timer_ppb;
  prior.typical_ppb = prior.kind == ClockKind::wall ? k_disciplined_ppb : k_servers_ppb;
  if (option.any_mean_rate) {
    prior.limited = false;
    prior.mean_ppb = k_any_mean_ppb;
  } else if (option.max_mean_rate_ppm) {
    prior.mean_given = true;
    prior.mean_ppb =
        std::clamp<std::int64_t>(std::llround(*option.max_mean_rate_ppm * 1e3), 0, k_any_mean_ppb);
  }
  return prior;
}

}  // namespace entrain::clocks
