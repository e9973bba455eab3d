// SPDX-License-Identifier: BSD-3-Clause
#include "formats/source.hpp"

#include <map>

#include <fmt/core.h>

#include "base/try.hpp"
#include "trace/clock_maps.hpp"

namespace entrain::formats {

ConstantShifts constant_shifts(const trace::Trace& trace, std::span<const ClockMap> maps) {
  constexpr double k_us = 1000;  // nanoseconds
  ConstantShifts result{.maps = std::vector<ClockMap>(maps.size()),
                        .left_out = std::vector<std::int64_t>(maps.size()),
                        .note = {}};
  std::int64_t left_out = 0;
  std::map<std::uint32_t, std::size_t> of_process;
  for (std::size_t c = 0; c < maps.size(); ++c) {
    const trace::LocationSkeleton& clock = trace.locations[c];
    const auto [carrier, is_first] = of_process.try_emplace(trace.definitions.process_of[c], c);
    if (!is_first) result.maps[c] = result.maps[carrier->second];
    const bool is_moved = !maps[c].is_identity() || !result.maps[c].is_identity();
    if (clock.event_count == 0 || !is_moved) continue;
    std::vector<std::int64_t> shifts;  // that the map asks for while the clock has events
    for (const std::uint64_t stamp : trace::straight_stamps(clock.first, clock.last, {&maps[c]})) {
      shifts.push_back(maps[c](stamp) - static_cast<std::int64_t>(stamp));
    }
    const auto [least, most] = std::ranges::minmax(shifts);
    if (!is_first) {
      const std::int64_t shift = result.maps[c](0);
      result.left_out[c] = std::max(most - shift, shift - least);
      continue;
    }
    const std::int64_t shift = least + (most - least) / 2;
    result.maps[c] = ClockMap().shifted(shift);
    result.left_out[c] = most - shift;
    if (most - shift <= left_out) continue;
    left_out = most - shift;
    result.note = fmt::format(
        "an overlay shifts each file as a whole: of the correction of {}, up to {:.3f} us are left "
        "out, and of the others less",
        trace::process_name(trace.definitions, static_cast<LocationIndex>(c)),
        static_cast<double>(left_out) / k_us);
  }
  return result;
}

std::string shown_name(std::span<const std::filesystem::path> paths) {
  const std::string first = paths.front().string();
  return paths.size() == 1 ? first : fmt::format("{} and {} more", first, paths.size() - 1);
}

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
