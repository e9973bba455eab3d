// SPDX-License-Identifier: BSD-3-Clause
#include "engine/correct_output.hpp"

#include <algorithm>
#include <limits>

#include <fmt/core.h>

#include "base/exact.hpp"
#include "trace/properties.hpp"

namespace entrain::engine {

namespace {

constexpr std::int64_t k_earliest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t k_latest = std::numeric_limits<std::int64_t>::max();

std::int64_t signed_time(std::uint64_t time) {
  return static_cast<std::int64_t>(std::min(time, k_latest_time));
}

/// "0.99" for 990'000'000: no zeros at the end, but one digit after the point.
std::string to_decimal(std::int64_t billionths) {
  std::string text = fmt::format("{}.{:09}", billionths / k_billion, billionths % k_billion);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text += '0';
  return text;
}

}  // namespace

std::int64_t moved(const ClockMap& measured, const ClockMap& corrected, std::uint64_t time) {
  const std::int64_t old = signed_time(time);
  if (corrected == measured) return old;
  // The smallest stamp that its map takes to that time or later.
  std::uint64_t low = 0, high = k_latest_time;
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
                                       std::span<const otf2::MarkerTime> markers) {
  std::vector<std::int64_t> result;
  for (const otf2::MarkerTime& marker : markers) {
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

TimeRange time_range(const trace::Share& share, std::span<const ClockMap> maps) {
  TimeRange range{.first = k_latest, .last = 0};
  for (const LocationIndex l : share.own()) {
    const trace::LocationSkeleton& location = share.trace.locations[l];
    if (location.event_count == 0) continue;
    const ClockMap& map = maps[l];
    range.first = std::min(range.first, map(location.first));
    range.last = std::max(range.last, map(location.last));
    for (const trace::FlushInterval& flush : location.flushes) {
      range.last = std::max(range.last, map(flush.end));
    }
  }
  range.first = share.team.reduce(Team::Reduction::min, range.first);
  range.last = share.team.reduce(Team::Reduction::max, range.last);
  if (range.first > range.last) {  // no event: nothing asks for another range
    range.first = static_cast<std::int64_t>(share.trace.definitions.clock.global_offset);
    range.last = range.first;
  }
  return range;
}

std::string correction_property(const CorrectOptions& options, const CorrectionMethod& method) {
  const MuTicks& mu = method.mu.ticks;
  return fmt::format(
      "mode={} presync={} gamma={} delta_ticks={} max_slope={} backward={}{} mu_ticks={}/{}/{} "
      "mu_source={} alltoallv={} init_finalize={} clock_domain={}{}",
      name_of(options.mode), method.presync, to_decimal(method.gamma.billionths),
      options.measure_delta ? "auto" : fmt::format("{}", options.delta_ticks),
      to_decimal(options.max_slope.billionths), options.backward ? "on" : "off",
      options.ramp == RampShape::paper ? " ramp=paper" : "", mu[0], mu[1], mu[2],
      text_of(method.mu.source),
      options.check.alltoallv == AlltoallvRule::dense ? "dense" : "ignore",
      options.check.init_finalize ? "on" : "off", name_of(method.clock_domain),
      options.amortize ? "" : " amortize=off");
}

}  // namespace entrain::engine
