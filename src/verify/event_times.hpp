// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <entrain/clock_map.hpp>

#include "trace/clock_maps.hpp"
#include "trace/trace.hpp"
#include "verify/places.hpp"

namespace entrain::verify {

/// Source of the times of events: skeletons and maps of all locations involved.
struct TimeSource {
  const trace::Trace& trace;
  const Places& places;
  std::span<const ClockMap> maps;
};

/// Times of the events of one process, by their numbers in it. Requires an event. Fast if called in
/// order. Example: process 3 has the events of location 5, whose first number is 0;
/// number 7 is its eighth event, and has the time that the map of location 5 gives to its stamp.
class EventTimes {
 public:
  /// `count`: expected number of calls.
  EventTimes(const TimeSource& source, std::uint32_t process, std::size_t count)
      : source_(source), process_(process) {
    if (!source.places.is_single(process)) return;
    const LocationIndex l = source.places.event(process, 0).location;
    if (count < source.maps[l].knots().size())
      return;  // a search per event beats a pass over all knots
    events_ = &source.trace.locations[l].events;
    first_ = source.places.first_number(l);
    time_.emplace(source.maps[l]);
  }

  std::int64_t operator()(std::uint32_t number) {
    if (time_) return (*time_)(events_->time(number - first_));
    const EventRef ref = source_.places.event(process_, number);
    return source_.maps[ref.location](source_.trace.locations[ref.location].events.time(ref.event));
  }

 private:
  const TimeSource& source_;
  std::uint32_t process_;
  const trace::EventList* events_ = nullptr;  ///< events of the only location
  std::uint32_t first_ = 0;
  std::optional<trace::StreamTimes> time_;
};

}  // namespace entrain::verify
