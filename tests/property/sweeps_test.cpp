// SPDX-License-Identifier: BSD-3-Clause
// Sweeps against the data-flow.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "clc/incidence.hpp"
#include "clc/schedule.hpp"
#include "clc/sweeps.hpp"
#include "property/corrected.hpp"

namespace entrain::test {
namespace {

/// Both on one trace. False if sweeps leave it to the data-flow.
bool swept_as_flowed(const TracePlan& plan, Decimal9 gamma, const MuTicks& mu) {
  const RandomTrace random = random_trace(plan);
  match::Graph graph = graph_of(random, plan);
  const std::vector<std::int64_t> presync = reference_problem(random, mu).c;
  const auto swept = clc::ForwardSweeps(graph, presync, mu, 2).run(gamma);
  if (!swept) return false;
  clc::Incidence incidence(graph);
  const clc::Schedule schedule = clc::make_schedule(graph, incidence);
  RC_ASSERT(schedule.tied.empty());
  RC_ASSERT(schedule.dropped_edges == 0u);
  const clc::Forward flowed =
      clc::ForwardPass(graph, incidence, schedule, presync, mu, 0).run(gamma);
  RC_ASSERT(swept->times == flowed.times);
  RC_ASSERT(swept->jump == flowed.jump);
  RC_ASSERT(swept->jumps == flowed.jumps);
  RC_ASSERT(swept->error == flowed.error);
  return true;
}

RC_GTEST_PROP(Sweeps, are_the_data_flow, ()) {
  const bool swept = swept_as_flowed(*skewed_plan(), Decimal9{*any_gamma()}, *any_mu());
  RC_CLASSIFY(swept);
}

RC_GTEST_PROP(Sweeps, are_the_data_flow_where_clocks_are_good, ()) {
  const bool swept = swept_as_flowed(*any_plan(6, 100), Decimal9{*any_gamma()}, *any_mu());
  RC_CLASSIFY(swept);
}

/// Where sweeps make the pass of the first gamma but not that of a later one, the data-flow goes
/// on.
TEST(Sweeps, give_up_between_two_gammas) {
  int given_up = 0;
  for (std::uint32_t seed = 0; seed < 400; ++seed) {
    TracePlan plan;
    plan.seed = seed;
    plan.processes = 3 + seed % 5;
    plan.steps = 100 + 100 * (seed % 7);
    plan.offset_ticks = 20 + 30 * static_cast<int>(seed % 3);
    plan.gap_ticks = seed % 2 == 0 ? 10 : 100;
    plan.latency_ticks = 1;
    clc::Options options;
    options.keep_times = true;
    options.mu_ticks = {1, 1, 1};
    const Corrected c = correct(plan, options);
    const auto swept = [&](const AmortizationPass& pass) {
      const auto billionths = static_cast<std::int64_t>(std::llround(pass.gamma * 1e9));
      return swept_as_flowed(plan, Decimal9{billionths}, options.mu_ticks);
    };
    const auto& passes = c.result.passes;
    if (!swept(passes[0]) || std::all_of(passes.begin(), passes.end(), swept)) continue;
    ++given_up;
    const std::int64_t gamma = reference_gamma(c.problem, c.cycles, 0);
    EXPECT_EQ(c.result.gamma.billionths, gamma);
    EXPECT_EQ(c.result.forward, reference_forward(c.problem, c.cycles, gamma, 0).time);
  }
  EXPECT_GT(given_up, 0);
}

/// The properties say nothing where sweeps give up.
TEST(Sweeps, do_not_give_up_on_most_traces) {
  int swept = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    TracePlan plan;
    plan.seed = seed;
    plan.processes = 6;
    plan.steps = 100;
    plan.offset_ticks = 20;
    swept += swept_as_flowed(plan, Decimal9{900'000'000}, {1, 1, 1}) ? 1 : 0;
  }
  EXPECT_GT(swept, 50);
}

}  // namespace
}  // namespace entrain::test
