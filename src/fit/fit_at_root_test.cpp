// SPDX-License-Identifier: BSD-3-Clause
#include "fit/choose_fit.hpp"

#include <atomic>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace entrain::fit {
namespace {

using ::testing::ElementsAre;

TEST(FitAtRoot, every_member_gets_the_fit_of_one) {
  for (const unsigned members : {1u, 3u}) {
    std::atomic<int> computed{0};
    const Result<void> done = run_team(members, [&](Team& team) -> Result<void> {
      const CausalFit fit = fit_at_root(team, [&] {
        ++computed;
        CausalFit own;
        own.errors = ClockErrors(1'000, 2.5, 3, {1, 2, 3, 4, 5, 6});
        own.amplitude = 0.5;
        own.log_evidence = -7;
        own.active = 8;
        own.converged = true;
        return own;
      });
      EXPECT_EQ(fit.errors.begin(), 1'000);
      EXPECT_EQ(fit.errors.distance(2), 5.0);
      EXPECT_THAT(fit.errors.of(1), ElementsAre(4, 5, 6));
      EXPECT_EQ(fit.amplitude, 0.5);
      EXPECT_EQ(fit.log_evidence, -7);
      EXPECT_EQ(fit.active, 8u);
      EXPECT_TRUE(fit.converged);
      return {};
    });
    EXPECT_TRUE(done);
    EXPECT_EQ(computed, 1);
  }
}

TEST(FitAtRoot, a_fit_without_convergence_has_no_errors_to_send) {
  const Result<void> done = run_team(2, [](Team& team) -> Result<void> {
    const CausalFit fit = fit_at_root(team, [] { return CausalFit(); });
    EXPECT_FALSE(fit.converged);
    EXPECT_EQ(fit.errors.knots(), 0u);
    EXPECT_EQ(at_root(team, [&] { return team.rank() + 7; }), 7u);
    return {};
  });
  EXPECT_TRUE(done);
}

}  // namespace
}  // namespace entrain::fit
