// SPDX-License-Identifier: BSD-3-Clause
#include "verify/times_anew.hpp"

#include "verify/exchange_part.hpp"

namespace entrain::verify {

TimesAnew::TimesAnew(const trace::Share& share, const Places& places,
                     std::span<const ClockMap> maps)
    : share_(share),
      places_(places),
      maps_(maps),
      parcels_(share.team.size()),
      next_(share.team.size(), 0) {}

void TimesAnew::begin(std::uint32_t process) {
  process_ = process;
  owner_ = places_.owner(process);
  location_ = k_none;
}

void TimesAnew::ask(std::uint32_t instant) {
  if (is_own()) return;
  Parcel& parcel = parcels_[owner_];
  if (parcel.runs.empty() || parcel.runs.back().process != process_)
    parcel.runs.push_back({.process = process_});
  ++parcel.runs.back().count;
  parcel.instants.push_back(instant);
}

void TimesAnew::answer() {
  exchange_part(share_.team, parcels_, &Parcel::runs);
  exchange_part(share_.team, parcels_, &Parcel::instants);
  for (Parcel& parcel : parcels_) {
    parcel.times.reserve(parcel.instants.size());
    std::size_t next = 0;
    for (const Run& run : parcel.runs) {
      begin(run.process);
      for (std::uint32_t i = 0; i < run.count; ++i)
        parcel.times.push_back(time_of(parcel.instants[next++]));
    }
    parcel.runs = {};
    parcel.instants = {};
  }
  exchange_part(share_.team, parcels_, &Parcel::times);
}

/// The time of an instant of the process in work, which is a member's own.
std::int64_t TimesAnew::time_of(std::uint32_t instant) {
  const EventRef event = places_.event(process_, instant);
  if (event.location != location_) {
    location_ = event.location;
    stream_.emplace(maps_[location_]);
  }
  return (*stream_)(share_.trace.locations[location_].events.time(event.event));
}

}  // namespace entrain::verify
