// SPDX-License-Identifier: BSD-3-Clause
#include "formats/source.hpp"

#include <fmt/core.h>

#include "base/fail.hpp"

namespace entrain::formats {

std::string place_of(const Source& source, const trace::Trace& trace, LocationIndex location) {
  if (source.given()) {
    return fmt::format("{} of {}", trace::process_name(trace.definitions, location), trace.path);
  }
  return fmt::format("location {} of {}", trace.definitions.locations[location].id, trace.path);
}

Result<void> check_maps(const Source& source, const trace::Share& share,
                        std::span<const ClockMap> maps, WriteMode mode) {
  for (const LocationIndex l : share.own()) {
    const trace::LocationSkeleton& location = share.trace.locations[l];
    if (location.event_count == 0) continue;
    if (!maps[l].keeps_order(location.first, location.last)) {
      return input_error(
          "{}: its clock is so far from the others that a clock map cannot bring it there to the "
          "tick, and time would run backward; only offsets measured by the tracer can bring them "
          "together",
          place_of(source, share.trace, l));
    }
    if (mode == WriteMode::overlay) continue;  // its stamps stay
    for (const std::uint64_t stamp : {location.first, location.last}) {
      const std::int64_t time = maps[l](stamp);
      const bool fits = time < 0 ? time >= source.earliest_time()
                                 : static_cast<std::uint64_t>(time) <= source.latest_stamp();
      if (fits) continue;
      return input_error(
          "{} would get a time stamp out of range ({} ticks; 0 to {} can be stored); --mode "
          "overlay keeps the stamps, --presync none does without clock offsets that cannot be "
          "right",
          place_of(source, share.trace, l), time, source.latest_stamp());
    }
  }
  return {};
}

Result<void> Source::check_mergeable() const {
  return usage_error(
      "{}: merge needs the files of a training run, not {}; entrain export writes other traces for "
      "viewers",
      path(), format_name());
}

}  // namespace entrain::formats
