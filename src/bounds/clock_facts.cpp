// SPDX-License-Identifier: BSD-3-Clause
#include "bounds/clock_facts.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

namespace entrain::bounds {

namespace {

bool has_interval(const trace::ClockOffset& record) {
  return std::isfinite(record.stddev) && record.stddev > 0 && record.stddev < 0x1p50;
}

}  // namespace

std::vector<ClockFacts> gather_clock_facts(const trace::Share& share,
                                           std::span<const ClockMap> maps) {
  std::vector<ClockFacts> own;
  for (const LocationIndex l : share.own()) {
    const trace::LocationSkeleton& location = share.trace.locations[l];
    if (location.event_count == 0) continue;
    const auto& records = location.clock_offsets;
    ClockFacts facts;
    facts.location = l;
    facts.records = static_cast<std::uint32_t>(records.size());
    facts.has_interval = std::ranges::any_of(records, has_interval);
    facts.is_zero = !records.empty() && std::ranges::all_of(records, [](auto& r) {
      return r.offset == 0 && r.stddev == 0;
    });
    facts.first = location.first;
    facts.last = location.last;
    facts.granule = location.granule;
    facts.line = constraints::chord(maps[l], location.first, location.last);
    own.push_back(facts);
  }
  std::vector<ClockFacts> all = gather_everywhere(share.team, own);
  std::ranges::sort(all, {}, &ClockFacts::location);
  return all;
}

std::vector<MeasuredOffset> gather_measured_offsets(const trace::Share& share) {
  std::vector<MeasuredOffset> own;
  for (const LocationIndex l : share.own()) {
    for (const trace::ClockOffset& record : share.trace.locations[l].clock_offsets) {
      const double half_width = has_interval(record) ? std::ceil(record.stddev) : 0;
      own.push_back({l, record.time, record.offset, static_cast<std::int64_t>(half_width)});
    }
  }
  std::vector<MeasuredOffset> all = gather_everywhere(share.team, own);
  std::ranges::sort(all);
  return all;
}

std::string names_of_clocks(const trace::Definitions& definitions,
                            std::span<const ClockFacts> facts,
                            std::span<const std::uint32_t> clock_of,
                            std::span<const std::uint32_t> clocks) {
  constexpr std::size_t k_most_named = 3;
  const auto name_of = [&](std::uint32_t clock) -> std::string {
    for (const ClockFacts& one : facts) {
      if (clock_of[one.location] == clock) return trace::process_name(definitions, one.location);
    }
    return "the clock of the sessions";
  };
  const std::size_t named = std::min(clocks.size(), k_most_named);
  std::string names;
  for (std::size_t i = 0; i < named; ++i) {
    const bool last = i + 1 == clocks.size();
    names += (i == 0 ? "" : last ? " and " : ", ") + name_of(clocks[i]);
  }
  if (named < clocks.size()) names += fmt::format(" and {} more", clocks.size() - named);
  return names;
}

}  // namespace entrain::bounds
