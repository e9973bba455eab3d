// SPDX-License-Identifier: BSD-3-Clause
#include "formats/ctf/lines.hpp"

#include <algorithm>
#include <vector>

#include "base/exact.hpp"
#include "trace/clock_maps.hpp"

namespace entrain::ctf {

namespace {

using Wide = Int128;

constexpr Wide k_most_hz = ~std::uint64_t{0};
constexpr std::uint64_t k_exact = std::uint64_t{1} << 53;

Wide nearest(Wide value, Wide divisor) { return floor_div(value + divisor / 2, divisor); }

/// The offsets of a clock as counts.
Wide offset_of(const ClockClass& clock) {
  return Wide{clock.offset_s} * clock.frequency + clock.offset;
}

/// The count at which a clock shows a time, ns.
Wide count_at(const ClockClass& clock, Wide time) {
  return nearest(time * clock.frequency, k_billion) - offset_of(clock);
}

ClockMap line_through(const StampRange& span, std::int64_t first, std::int64_t last) {
  if (span.first == span.last) return ClockMap().shifted(first);
  std::vector<ClockKnot> knots{{span.first, first}, {span.last, last}};
  return ClockMap::from_knots(std::move(knots)).value_or(ClockMap());
}

std::int64_t offset_at(const ClockMap& map, std::uint64_t stamp) {
  return map(stamp) - static_cast<std::int64_t>(stamp);
}

}  // namespace

ClockMap line_of(const ClockMap& map, const StampRange& span) {
  const ClockMap ends = line_through(span, offset_at(map, span.first), offset_at(map, span.last));
  std::int64_t least = 0, most = 0;
  for (const std::uint64_t stamp : trace::straight_stamps(span.first, span.last, {&map})) {
    least = std::min(least, map(stamp) - ends(stamp));
    most = std::max(most, map(stamp) - ends(stamp));
  }
  return ends.shifted(least + (most - least) / 2);
}

ClockClass retimed(const ClockClass& clock, const ClockMap& map, const StampRange& span) {
  const Wide first = map(span.first), last = map(span.last);
  const Wide length = Wide{span.last} - span.first, new_length = last - first;
  ClockClass result = clock;
  if (length != new_length && new_length > 0 && count_at(clock, span.last) < k_exact) {
    const Wide frequency = nearest(Wide{clock.frequency} * length, new_length);
    result.frequency = static_cast<std::uint64_t>(std::clamp(frequency, Wide{1}, k_most_hz));
  }
  const Wide middle = Wide{span.first} + length / 2, new_middle = first + new_length / 2;
  const Wide offset = offset_of(clock) +
                      nearest(new_middle * result.frequency - middle * clock.frequency, k_billion);
  const Wide kept = offset - Wide{clock.offset_s} * result.frequency;
  if (kept < 0 || kept > k_most_hz) {
    result.offset_s = static_cast<std::int64_t>(floor_div(offset, result.frequency));
    result.offset = static_cast<std::uint64_t>(offset - Wide{result.offset_s} * result.frequency);
  } else {
    result.offset = static_cast<std::uint64_t>(kept);
  }
  return result;
}

ClockMap map_between(const ClockClass& clock, const ClockClass& retimed, const StampRange& span) {
  const auto offset = [&](std::uint64_t stamp) {
    const Wide time =
        floor_div((count_at(clock, stamp) + offset_of(retimed)) * k_billion, retimed.frequency);
    return static_cast<std::int64_t>(time - stamp);
  };
  return line_through(span, offset(span.first), offset(span.last));
}

}  // namespace entrain::ctf
