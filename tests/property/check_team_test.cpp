// SPDX-License-Identifier: BSD-3-Clause
// What the checker reports depends neither on the number of members nor on who owns what.
#include <string>
#include <vector>

#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "accuracy/correction_statistics.hpp"
#include "base/flat_map.hpp"
#include "match/round_trip.hpp"
#include "support/random_plan.hpp"
#include "support/random_trace.hpp"
#include "verify/testing.hpp"

namespace entrain::test {
namespace {

namespace vt = verify::testing;

/// Processes are dealt out at random; some members may get none.
trace::Partition random_partition(const trace::Definitions& definitions, unsigned members,
                                  std::uint64_t seed) {
  trace::Partition partition = trace::undivided(definitions);
  for (LocationIndex l = 0; l < partition.owner.size(); ++l) {
    partition.owner[l] =
        static_cast<std::uint32_t>(mix(definitions.process_of[l] + seed * 1000) % members);
  }
  return partition;
}

/// Calls `body(team, partition, trace, maps)` at every member with its own part of everything, and
/// expects that all come to the text `expected`.
template <class Body>
void expect_same(unsigned members, const trace::Partition& partition, const trace::Trace& trace,
                 const std::vector<ClockMap>& maps, const std::string& expected, Body body) {
  std::vector<std::string> found(members);
  const auto result = run_team(members, [&](Team& team) -> Result<void> {
    found[team.rank()] = body(team, vt::part_of(trace, partition, team.rank()),
                              vt::part_of(maps, partition, team.rank()));
    return {};
  });
  RC_ASSERT(result.has_value());
  for (const std::string& text : found) RC_ASSERT(text == expected);
}

RC_GTEST_PROP(CheckTeam, reports_are_the_same, ()) {
  TracePlan plan = *any_plan();
  plan.mismatched_collective = *flag();
  plan.unmatched = *flag();
  const MuTicks mu = *rc::gen::element(MuTicks{0, 0, 0}, MuTicks{1, 1, 1}, MuTicks{0, 2, 7});
  const auto members = *rc::gen::inRange(1U, 6U);
  const RandomTrace random = random_trace(plan);
  const trace::Partition partition = random_partition(random.trace.definitions, members, plan.seed);
  CheckOptions options;
  options.alltoallv = plan.dense_alltoallv ? AlltoallvRule::dense : AlltoallvRule::ignore;
  options.init_finalize = plan.init_finalize;
  const verify::Claims claims{.find = [](const trace::Share& share, bool missing) {
    return match::find_witness(share, missing, 1, nullptr);
  }};
  const std::string expected = vt::text_of(
      verify::check(random.trace, {.maps = random.presync, .mu = mu, .claims = claims}, options));
  expect_same(members, partition, random.trace, random.presync, expected,
              [&](Team& team, const trace::Trace& trace, const std::vector<ClockMap>& maps) {
                const auto report = verify::check({team, partition, trace},
                                                  {.maps = maps, .mu = mu, .claims = claims},
                                                  options, Cancel(nullptr));
                return report ? vt::text_of(*report) : report.error().message;
              });
  expect_same(members, partition, random.trace, random.presync, expected,
              [&](Team& team, const trace::Trace&, const std::vector<ClockMap>&) {
                return vt::text_of_others({team, partition, random.trace},
                                          {.maps = random.presync, .mu = mu, .claims = claims},
                                          options);
              });
}

RC_GTEST_PROP(CheckTeam, round_trips_are_the_same, ()) {
  TracePlan plan = *any_plan();
  plan.mix = {10, 10, 1, 0, 0, 0, 0, 0};
  const auto members = *rc::gen::inRange(1U, 6U);
  const RandomTrace random = random_trace(plan);
  const trace::Partition partition = random_partition(random.trace.definitions, members, plan.seed);
  const auto round_trip = [](Team& team, const trace::Partition& parts, const trace::Trace& trace,
                             std::span<const ClockMap> maps) {
    const auto graph = match::build_graph({team, parts, trace}, {});
    return graph ? fmt::format("{}", match::round_trip_mu(team, parts, *graph, maps))
                 : graph.error().message;
  };
  Solo solo;
  const std::string expected =
      round_trip(solo, trace::undivided(random.trace.definitions), random.trace, random.presync);
  expect_same(members, partition, random.trace, random.presync, expected,
              [&](Team& team, const trace::Trace& trace, const std::vector<ClockMap>& maps) {
                return round_trip(team, partition, trace, maps);
              });
}

std::string text_of(const CorrectionStatistics& s) {
  return fmt::format("{} {} {} {} {} {} {} {} {} {} {}", s.moved_events, s.compared_events,
                     s.mean_ticks, s.p99_ticks, s.max_ticks, s.intervals.histogram,
                     s.intervals.histogram_ticks, s.intervals.max_share, s.max_slope,
                     s.moved_backward, s.order_broken);
}

RC_GTEST_PROP(CheckTeam, statistics_are_the_same, ()) {
  TracePlan plan = *any_plan();
  plan.presync_sessions = 2;
  const auto members = *rc::gen::inRange(1U, 6U);
  const RandomTrace random = random_trace(plan);
  const std::vector<ClockMap> stored(random.presync.size());
  const trace::Partition partition = random_partition(random.trace.definitions, members, plan.seed);
  Solo solo;
  const std::string expected = text_of(*accuracy::correction_statistics(
      solo, trace::undivided(random.trace.definitions), {random.trace, stored},
      {random.trace, random.presync}, Cancel(nullptr)));
  expect_same(members, partition, random.trace, random.presync, expected,
              [&](Team& team, const trace::Trace& trace, const std::vector<ClockMap>& maps) {
                const auto statistics = accuracy::correction_statistics(
                    team, partition, {trace, stored}, {trace, maps}, Cancel(nullptr));
                return statistics ? text_of(*statistics) : statistics.error().message;
              });
}

}  // namespace
}  // namespace entrain::test
