// SPDX-License-Identifier: BSD-3-Clause
// The control loop of gamma (docs/method.md, section 4).
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "property/corrected.hpp"

namespace entrain::test {
namespace {

/// Clocks whose rates change slowly and periodically, against each other: in every half period
/// another one is the fastest, and a logical clock that hardly decays collects all of them.
TracePlan cyclic_drift() {
  TracePlan plan;
  plan.seed = 3;
  plan.processes = 3;
  plan.steps = 2000;
  plan.sub_comms = 0;
  plan.mix = {0, 0, 0, 10, 0, 0, 0, 0};
  plan.gap_ticks = 100;
  plan.latency_ticks = 1;
  plan.wander_ppm = 4000;
  plan.wander_period_ticks = 20'000;
  return plan;
}

TEST(Gamma, too_large_runs_away_under_cyclic_drift) {
  const Corrected c = correct(cyclic_drift(), {});
  const auto error = [&](std::int64_t gamma) {
    return reference_forward(c.problem, c.cycles, gamma, 0).error;
  };
  ASSERT_GT(error(999'990'000), 3 * error(900'000'000));
  EXPECT_EQ(c.result.gamma.billionths, reference_gamma(c.problem, c.cycles, 0));
  EXPECT_LT(c.result.gamma.billionths, 999'900'000);

  // The passes say what happened.
  ASSERT_FALSE(c.result.passes.empty());
  int chosen = 0;
  for (const AmortizationPass& pass : c.result.passes) {
    const auto billionths = static_cast<std::int64_t>(std::llround(pass.gamma * 1e9));
    EXPECT_EQ(pass.error_ticks, error(billionths)) << pass.gamma;
    EXPECT_GT(pass.violations, 0u);
    if (!pass.chosen) continue;
    ++chosen;
    EXPECT_EQ(billionths, c.result.gamma.billionths);
  }
  EXPECT_EQ(chosen, 1);
  EXPECT_TRUE(std::any_of(c.result.passes.begin(), c.result.passes.end(),
                          [](const AmortizationPass& pass) { return pass.gamma == 0.9; }));
}

RC_GTEST_PROP(Gamma, of_every_location_keeps_its_error_small, ()) {
  const TracePlan plan = *skewed_plan(6, 150);
  clc::Options options;
  options.keep_times = true;
  options.mu_ticks = *any_mu();
  const Corrected c = correct(plan, options);
  const std::vector<std::int64_t> gammas = gammas_of(c);
  const ReferenceForward forward = reference_forward(c.problem, c.cycles, gammas, 0);
  RC_ASSERT(c.result.forward == forward.time);
  const std::int64_t least = reference_forward(c.problem, c.cycles, 900'000'000, 0).error;
  RC_ASSERT(10 * forward.error <= 11 * least);
}

}  // namespace
}  // namespace entrain::test
