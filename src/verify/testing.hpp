// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <entrain/clock_map.hpp>
#include <entrain/report.hpp>

#include "base/cancel.hpp"
#include "base/team.hpp"
#include "trace/share.hpp"
#include "trace/teams_testing.hpp"
#include "trace/testing.hpp"
#include "verify/check.hpp"

namespace entrain::verify {

/// check_both() by one set of times.
inline Result<CheckReport> check(const trace::Share& share, const TimesToCheck& times,
                                 const CheckOptions& options, const Cancel& cancel) {
  auto checks = check_both(share, times, nullptr, options, cancel);
  if (!checks) return tl::unexpected<Error>(std::move(checks).error());
  return std::move(checks->report);
}

/// Checks a whole trace on the calling thread alone. After an error the report is empty.
inline CheckReport check(const trace::Trace& trace, const TimesToCheck& times,
                         const CheckOptions& options) {
  Solo solo;
  const trace::Partition all = trace::undivided(trace.definitions);
  return check({solo, all, trace}, times, options, Cancel(nullptr)).value_or(CheckReport());
}

}  // namespace entrain::verify

/// Hand-made traces for the tests of this folder, and reports by teams of every size.
namespace entrain::verify::testing {

using trace::testing::dealt;
using trace::testing::expect_by_teams;
using trace::testing::part_of;

inline std::string text_of(const EdgeEnd& end) {
  return fmt::format("{} {:?} {:?} {} {}", end.location, end.process, end.region, end.local_ticks,
                     end.ticks);
}

/// Everything that a report says, one thing per line.
inline std::string text_of(const CheckReport& report) {
  std::string text =
      fmt::format("{} {} {} {} {} mu {}\n", report.archive, report.locations, report.events,
                  report.communication_events, report.resolution_hz, report.mu_ticks);
  for (const EdgeStatistics& e : report.edges) {
    text += fmt::format("{} {} {}", e.count, e.violations, e.below_latency);
    if (e.worst) {
      text += fmt::format(" worst {}: {} -> {}", e.worst->margin_ticks, text_of(e.worst->send),
                          text_of(e.worst->receive));
    }
    text += '\n';
  }
  const Coverage& c = report.coverage;
  text += fmt::format("coverage {} {} {} {} {} {} {} {} {}\n", c.receives, c.paired, c.ambiguous,
                      c.lost, c.in_gaps, c.collective_calls, c.in_instances, c.alltoallv_skipped,
                      c.neighbourhood_skipped);
  text += fmt::format("{} {} of {}\n", name_of(report.judgement.verdict),
                      name_of(report.judgement.doubt), report.checked_edges);
  return text + fmt::format("{} {}\nunmatched {}\nskipped {}\n", report.violations,
                            report.below_latency, report.unmatched, report.skipped);
}

/// Checks `share` by the clocks as they are, and by `times` as other times of the same events. The
/// text of what the latter say.
inline std::string text_of_others(const trace::Share& share, const TimesToCheck& times,
                                  const CheckOptions& options) {
  const std::vector<ClockMap> as_they_are(times.maps.size());
  TimesToCheck first = times, others = times;
  first.maps = as_they_are;
  first.observer = others.observer = nullptr;
  const auto both = check_both(share, first, &others, options, Cancel(nullptr));
  if (!both) return both.error().message;
  return text_of(*both->others);
}

/// The report of one thread, which must be that of teams as well: of threads that share the trace,
/// and of processes that hold their own part of it. For threads, so must be that of times that are
/// checked second.
inline CheckReport check_by_teams(const trace::Trace& trace, const TimesToCheck& times,
                                  const CheckOptions& options) {
  const CheckReport report = check(trace, times, options);
  const auto text = [&](const trace::Share& share, const TimesToCheck& own) {
    const auto by_team = check(share, own, options, Cancel(nullptr));
    return by_team ? text_of(*by_team) : by_team.error().message;
  };
  expect_by_teams(trace.definitions, text_of(report),
                  [&](Team& team, const trace::Partition& partition) {
                    const trace::Share share{team, partition, trace};
                    const std::string first = text(share, times);
                    const std::string second = text_of_others(share, times, options);
                    return first == second ? first : "as other times:\n" + second;
                  });
  expect_by_teams(trace.definitions, text_of(report),
                  [&](Team& team, const trace::Partition& partition) {
                    const trace::Trace part = part_of(trace, partition, team.rank());
                    const auto maps = part_of(times.maps, partition, team.rank());
                    TimesToCheck own = times;
                    own.maps = maps;
                    return text({team, partition, part}, own);
                  });
  return report;
}

/// A hand-made trace that can be checked.
class TraceBuilder : public trace::testing::TraceBuilder {
 public:
  using trace::testing::TraceBuilder::TraceBuilder;

  /// Checks with the identity as clock map of every location, in teams of every size.
  [[nodiscard]] CheckReport check(const CheckOptions& options = {}, const MuTicks& mu = {}) const {
    const std::vector<ClockMap> maps(trace().locations.size());
    return check_by_teams(trace(), {.maps = maps, .mu = mu, .claims = {.witness = &witness}},
                          options);
  }

  trace::Witness witness;  ///< claims about the trace
};

inline const EdgeStatistics& edges(const CheckReport& report, EdgeKind kind) {
  return report.edges[static_cast<std::size_t>(kind)];
}

inline const EdgeStatistics& p2p(const CheckReport& report) { return edges(report, EdgeKind::p2p); }

/// Value of a counter; 0 if it is not there.
inline std::uint64_t count(const Counters& counters, std::string_view name) {
  for (const auto& [key, value] : counters) {
    if (key == name) return value;
  }
  return 0;
}

}  // namespace entrain::verify::testing
