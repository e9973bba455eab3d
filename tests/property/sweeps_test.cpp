// SPDX-License-Identifier: BSD-3-Clause
// Sweeps against the data-flow.
#include <algorithm>
#include <cmath>
#include <span>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "clc/flow_forward.hpp"
#include "clc/sweep_forward.hpp"
#include "property/corrected.hpp"

namespace entrain::test {
namespace {

/// Runs both on one trace. False if sweeps leave it to the data-flow.
bool swept_as_flowed(const TracePlan& plan, Decimal9 gamma, const MuTicks& mu) {
  const RandomTrace random = random_trace(plan);
  match::Graph graph = graph_of(random, plan);
  const std::vector<std::int64_t> presync = reference_problem(random, mu).c;
  clc::Cycles cycles;
  clc::ForwardProblem problem{
      .graph = graph, .cycles = cycles, .presync = presync, .mu = mu, .threads = 2};
  Solo solo;
  const auto swept = clc::SweepForward(solo, problem).run(std::span(&gamma, 1));
  RC_ASSERT(swept.has_value());
  if (swept->empty()) return false;
  problem.threads = 1;
  const trace::Trace none;
  const trace::Partition all;
  const auto flowed = clc::FlowForward({solo, all, none}, problem).run(std::span(&gamma, 1));
  RC_ASSERT(flowed.has_value());
  RC_ASSERT(cycles.counters().empty());
  RC_ASSERT(swept->front().times == flowed->front().times);
  RC_ASSERT(swept->front().jump == flowed->front().jump);
  RC_ASSERT(swept->front().jumps == flowed->front().jumps);
  RC_ASSERT(swept->front().error == flowed->front().error);
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
    EXPECT_EQ(c.result.forward, reference_forward(c.problem, c.cycles, gammas_of(c), 0).time);
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
