// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <rapidcheck.h>

#include "base/delayed_team_testing.hpp"
#include "base/try.hpp"
#include "property/corrected.hpp"

/// Corrections of random traces in teams, for tests that compare them.
namespace entrain::test {

/// Everything that has to be the same; the maps come from the owner of each location.
struct Outcome {
  std::vector<ClockMap> maps;
  std::vector<std::int64_t> forward, corrected;
  std::vector<std::tuple<std::int64_t, std::uint64_t, bool>> passes;
  std::int64_t gamma = 0;
  std::uint64_t jumps = 0;
  Counters cycles;
  Counters unmatched;

  friend bool operator==(const Outcome&, const Outcome&) = default;
};

inline void showValue(const Outcome& outcome, std::ostream& out) {
  const auto list = [&](const char* name, const std::vector<std::int64_t>& values) {
    out << name << ':';
    for (const std::int64_t value : values) out << ' ' << value;
    out << '\n';
  };
  const auto counters = [&](const char* name, const Counters& values) {
    out << name << ':';
    for (const auto& [key, value] : values) out << ' ' << key << '=' << value;
    out << '\n';
  };
  list("\nforward", outcome.forward);
  list("corrected", outcome.corrected);
  out << "gamma " << outcome.gamma << ", jumps " << outcome.jumps << ", passes";
  for (const auto& [error, violations, chosen] : outcome.passes) {
    out << " (" << error << ' ' << violations << ' ' << chosen << ')';
  }
  out << '\n';
  counters("cycles", outcome.cycles);
  counters("unmatched", outcome.unmatched);
}

inline void add(Counters& sum, const Counters& counters) {
  for (const auto& [name, value] : counters) {
    const auto found = std::find_if(sum.begin(), sum.end(),
                                    [&, key = name](const auto& c) { return c.first == key; });
    if (found == sum.end()) {
      sum.emplace_back(name, value);
    } else {
      found->second += value;
    }
  }
  std::sort(sum.begin(), sum.end());
}

/// Every process to any member, not only to the neighbour of its neighbours.
inline trace::Partition scattered(const trace::Definitions& definitions, unsigned members) {
  trace::Partition partition;
  for (const std::uint32_t process : definitions.process_of) {
    partition.owner.push_back(process * 5 % 7 % members);
  }
  return partition;
}

/// With `delays`, parcels of the team are late and members are held up, at random.
struct TeamPlan {
  trace::Partition partition;
  unsigned members = 1;
  std::optional<std::uint64_t> delays = {};  ///< seed
};

inline Outcome outcome_of(const TracePlan& plan, const RandomTrace& random,
                          const clc::Options& options, const TeamPlan& team_plan) {
  const trace::Partition& partition = team_plan.partition;
  const std::optional<std::uint64_t>& delays = team_plan.delays;
  const match::Options match_options{plan.dense_alltoallv, plan.init_finalize};
  const std::size_t locations = random.trace.locations.size();
  Outcome outcome;
  outcome.maps.resize(locations);
  std::vector<std::vector<std::int64_t>> forward(locations), corrected(locations);
  std::mutex mutex;
  const Result<void> done = run_team(team_plan.members, [&](Team& given) -> Result<void> {
    std::optional<DelayedTeam> delayed;
    if (delays) delayed.emplace(given, *delays);
    Team& team = delayed ? static_cast<Team&>(*delayed) : given;
    // A member knows only its own locations.
    trace::Trace part{random.trace.path, random.trace.definitions, {}};
    part.locations.resize(locations);
    std::vector<ClockMap> presync(locations);
    for (LocationIndex l = 0; l < locations; ++l) {
      if (!partition.owns(team.rank(), l)) continue;
      part.locations[l] = random.trace.locations[l];
      presync[l] = random.presync[l];
    }
    match::Graph graph = *match::build_graph({team, partition, part}, match_options);
    const std::vector<NodeIndex> first_node = graph.first_node;
    const Counters unmatched = graph.unmatched;
    TRY_ASSIGN(clc::Amortization result,
               clc::amortize({team, partition, part}, std::move(graph), presync, options));
    const std::lock_guard lock(mutex);
    add(outcome.unmatched, unmatched);
    for (LocationIndex l = 0; l < locations; ++l) {
      if (!partition.owns(team.rank(), l)) continue;
      outcome.maps[l] = result.maps[l];
      forward[l].assign(result.forward.begin() + first_node[l],
                        result.forward.begin() + first_node[l + 1]);
      corrected[l].assign(result.corrected.begin() + first_node[l],
                          result.corrected.begin() + first_node[l + 1]);
    }
    outcome.passes.clear();
    for (const AmortizationPass& pass : result.passes) {
      outcome.passes.emplace_back(pass.error_ticks, pass.violations, pass.chosen);
    }
    outcome.gamma = result.gamma.billionths;
    outcome.jumps = result.jumps;
    outcome.cycles = result.cycles;
    return {};
  });
  if (!done) RC_FAIL(done.error().message);
  for (LocationIndex l = 0; l < locations; ++l) {
    outcome.forward.insert(outcome.forward.end(), forward[l].begin(), forward[l].end());
    outcome.corrected.insert(outcome.corrected.end(), corrected[l].begin(), corrected[l].end());
  }
  return outcome;
}

inline clc::Options any_team_options() {
  clc::Options options;
  options.keep_times = true;
  if (*flag()) options.gamma = Decimal9{*any_gamma()};
  options.delta_ticks = *rc::gen::element<std::int64_t>(0, 0, 0, 1, 10, 100'000);
  options.max_slope = Decimal9{*any_slope()};
  options.backward = *rc::gen::element(true, true, true, false);
  options.mu_ticks = *any_mu();
  options.separate = *flag();
  if (*rc::gen::element(true, false, false)) options.ramp = RampShape::paper;
  if (options.delta_ticks == 0) options.measure_delta = *rc::gen::element(true, false, false);
  return options;
}

/// A trace in which much is violated, corrected by teams of any kind.
inline void any_number_of_members_gives_the_same() {
  const TracePlan plan = *skewed_plan();
  const clc::Options options = any_team_options();
  const RandomTrace random = random_trace(plan);
  const trace::Definitions& definitions = random.trace.definitions;
  const TeamPlan alone{trace::undivided(definitions)};
  const Outcome expected = outcome_of(plan, random, options, alone);
  const auto members = *rc::gen::element(2u, 3u, 4u, 7u);
  const std::vector<std::uint64_t> weight(definitions.locations.size(), 1);
  const trace::Partition partition =
      *flag() ? trace::divide(definitions, weight, members) : scattered(definitions, members);
  clc::Options parallel = options;
  parallel.threads = *rc::gen::element(1u, 3u);
  const TeamPlan team{partition, members, *flag() ? std::optional(plan.seed) : std::nullopt};
  RC_ASSERT(outcome_of(plan, random, parallel, team) == expected);
  RC_ASSERT(outcome_of(plan, random, parallel, alone) == expected);
}

/// The same with coarse timers, whose equal stamps close cycles.
inline void cycles_that_cross_members_are_found() {
  TracePlan plan = *skewed_plan(6, 120);
  plan.granule_ticks = *rc::gen::element<std::uint64_t>(100, 1000, 10'000);
  const clc::Options options = any_team_options();
  const RandomTrace random = random_trace(plan);
  const trace::Definitions& definitions = random.trace.definitions;
  const Outcome expected = outcome_of(plan, random, options, {trace::undivided(definitions)});
  RC_CLASSIFY(!expected.cycles.empty(), "cycles");
  const auto members = *rc::gen::element(2u, 5u);
  const TeamPlan team{scattered(definitions, members), members,
                      *flag() ? std::optional(plan.seed) : std::nullopt};
  RC_ASSERT(outcome_of(plan, random, options, team) == expected);
}

}  // namespace entrain::test
