// SPDX-License-Identifier: BSD-3-Clause
#include "formats/constant_shifts.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/core.h>

#include "trace/straight_stamps.hpp"

namespace entrain::formats {

namespace {

constexpr double k_us = 1000;  ///< nanoseconds

/// The least and the largest shift that a map asks for while a clock has events.
std::pair<std::int64_t, std::int64_t> range_of(const ClockMap& map,
                                               const trace::LocationSkeleton& clock) {
  std::vector<std::int64_t> shifts;
  for (const std::uint64_t stamp : trace::straight_stamps(clock.first, clock.last, {&map})) {
    shifts.push_back(map(stamp) - static_cast<std::int64_t>(stamp));
  }
  const auto [least, most] = std::ranges::minmax(shifts);
  return {least, most};
}

}  // namespace

ConstantShifts constant_shifts(const trace::Trace& trace, std::span<const ClockMap> maps) {
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
    const auto [least, most] = range_of(maps[c], clock);
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

}  // namespace entrain::formats
