// SPDX-License-Identifier: BSD-3-Clause
// Sweeps against the data-flow.
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

RC_GTEST_PROP(Sweeps, AreTheDataFlow, ()) {
  const bool swept = swept_as_flowed(*skewed_plan(), Decimal9{*any_gamma()}, *any_mu());
  RC_CLASSIFY(swept);
}

RC_GTEST_PROP(Sweeps, AreTheDataFlowWhereClocksAreGood, ()) {
  const bool swept = swept_as_flowed(*any_plan(6, 100), Decimal9{*any_gamma()}, *any_mu());
  RC_CLASSIFY(swept);
}

/// The properties say nothing where sweeps give up.
TEST(Sweeps, DoNotGiveUpOnMostTraces) {
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
