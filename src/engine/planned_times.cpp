// SPDX-License-Identifier: BSD-3-Clause
#include "engine/planned_times.hpp"

#include <algorithm>
#include <cstdint>

#include <entrain/entrain.hpp>

namespace entrain::engine {

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
