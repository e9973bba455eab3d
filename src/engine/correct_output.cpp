// SPDX-License-Identifier: BSD-3-Clause
#include "engine/correct_output.hpp"

#include <algorithm>
#include <limits>

#include <fmt/core.h>

#include <entrain/entrain.hpp>

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

std::string correction_property(const CorrectOptions& options, const Timeline& timeline,
                                Decimal9 gamma) {
  const MuTicks& mu = timeline.mu.ticks;
  return fmt::format(
      "mode={} presync={} gamma={} delta_ticks={} max_slope={} backward={}{} mu_ticks={}/{}/{} "
      "mu_source={} alltoallv={} init_finalize={} clock_domain={}{}",
      name_of(options.mode), timeline.presync.provenance, to_decimal(gamma.billionths),
      options.measure_delta ? "auto" : fmt::format("{}", options.delta_ticks),
      to_decimal(options.max_slope.billionths), options.backward ? "on" : "off",
      options.ramp == RampShape::paper ? " ramp=paper" : "", mu[0], mu[1], mu[2],
      text_of(timeline.mu.source),
      options.check.alltoallv == AlltoallvRule::dense ? "dense" : "ignore",
      options.check.init_finalize ? "on" : "off", name_of(timeline.report.clock_domain),
      options.amortize ? "" : " amortize=off");
}

formats::Attributes facts_of(const CorrectReport& report) {
  const auto integer = [](std::uint64_t count) { return static_cast<std::int64_t>(count); };
  formats::Attributes facts{{"version", version()}};
  if (report.judgement) {
    facts.emplace_back("verdict", name_of(report.judgement->verdict));
    if (report.judgement->doubt != Doubt::none) {
      facts.emplace_back("verdict_reason", name_of(report.judgement->doubt));
    }
  }
  facts.emplace_back("violations_before", integer(report.before.violations));
  if (report.verified) {
    facts.emplace_back("edges", integer(report.after.checked_edges));
    facts.emplace_back("violations", integer(report.after.violations));
    facts.emplace_back("largest_move_ns", report.statistics.max_ticks);
  }
  if (!report.bounds) return facts;
  std::int64_t worst = 0, unbounded = 0;
  for (const LocationBounds& one : report.bounds->locations) {
    worst = std::max(worst, one.worst_ticks);
    unbounded += one.unbounded > 0 ? 1 : 0;
  }
  facts.emplace_back("bound_ns", worst);
  facts.emplace_back("clocks_without_bound", unbounded);
  return facts;
}

}  // namespace entrain::engine
