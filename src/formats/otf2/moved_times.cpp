// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/moved_times.hpp"

#include <algorithm>
#include <limits>

#include "trace/properties.hpp"

namespace entrain::otf2 {

namespace {

constexpr std::int64_t k_earliest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t k_latest = std::numeric_limits<std::int64_t>::max();

std::int64_t signed_time(std::uint64_t time) {
  return static_cast<std::int64_t>(std::min(time, k_last_time));
}

}  // namespace

std::int64_t moved(const ClockMap& measured, const ClockMap& corrected, std::uint64_t time) {
  const std::int64_t old = signed_time(time);
  if (corrected == measured) return old;
  // The smallest stamp that its map takes to that time or later.
  std::uint64_t low = 0, high = k_last_time;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (measured(middle) < old) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return old + corrected(low) - measured(low);
}

std::vector<std::int64_t> move_markers(const CorrectedTimes& times,
                                       std::span<const MarkerTime> markers) {
  std::vector<std::int64_t> result;
  for (const MarkerTime& marker : markers) {
    const LocationIndex l = marker.location == k_none ? 0 : marker.location;
    if (l >= times.corrected.size()) {
      result.push_back(signed_time(marker.time));
    } else if (times.share.owns(l)) {
      result.push_back(moved(times.measured[l], times.corrected[l], marker.time));
    } else {
      result.push_back(k_earliest);  // its owner knows
    }
  }
  times.share.team.reduce(Team::Reduction::max, result);
  return result;
}

std::optional<clocks::SessionSpan> corrected_session_span(const CorrectedTimes& times) {
  const trace::Share& share = times.share;
  const std::string* old =
      trace::find_property(share.trace.definitions, trace::k_property_session_span);
  const auto span = old != nullptr ? trace::span_of_property(*old) : std::nullopt;
  if (!span) return clocks::session_span(share.team, share.trace, times.corrected);
  const auto time = [](std::int64_t t) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(t, 0));
  };
  clocks::SessionSpan result{.begin = k_earliest, .end = k_latest};
  for (const LocationIndex l : share.own()) {
    const ClockMap &measured = times.measured[l], &corrected = times.corrected[l];
    result.begin = std::max(result.begin, moved(measured, corrected, time(span->begin)));
    result.end = std::min(result.end, moved(measured, corrected, time(span->end)));
  }
  result.begin = share.team.reduce(Team::Reduction::max, result.begin);
  result.end = share.team.reduce(Team::Reduction::min, result.end);
  return result.begin == k_earliest ? *span : result;
}

}  // namespace entrain::otf2
