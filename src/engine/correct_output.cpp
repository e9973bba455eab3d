// SPDX-License-Identifier: BSD-3-Clause
#include "engine/correct_output.hpp"

#include <algorithm>
#include <limits>

#include <fmt/core.h>

#include <entrain/report.hpp>

#include "base/exact.hpp"

namespace entrain::engine {

namespace {

constexpr std::int64_t k_latest = std::numeric_limits<std::int64_t>::max();

/// "0.99" for 990'000'000: no zeros at the end, but one digit after the point.
std::string to_decimal(std::int64_t billionths) {
  std::string text = fmt::format("{}.{:09}", billionths / k_billion, billionths % k_billion);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text += '0';
  return text;
}

}  // namespace

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
