// SPDX-License-Identifier: BSD-3-Clause
#include "causal/fit_by_groups.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include "causal/evidence.hpp"
#include "causal/fit_solver.hpp"
#include "causal/swinging_testing.hpp"

namespace entrain::causal {
namespace {

/// Clocks on a ring that swing, and messages between those that are at most `distance` apart.
struct RingOfClocks : SwingingClocks {
  RingOfClocks(std::uint32_t clocks, std::uint32_t distance, std::size_t messages)
      : SwingingClocks(11, 30'000) {
    add_messages_on_ring(clocks, distance, messages);
    measure(clocks);
  }
  /// Root of the mean square of a difference, but for what all clocks have in common.
  [[nodiscard]] double apart(const ClockErrors& a, const ClockErrors& b) const {
    const ClockErrors one = without_common_mode(a, problem.clocks, constraints);
    const ClockErrors other = without_common_mode(b, problem.clocks, constraints);
    double sum = 0;
    for (std::size_t i = 0; i < one.values().size(); ++i)
      sum += std::pow(one.values()[i] - other.values()[i], 2);
    return std::sqrt(sum / static_cast<double>(one.values().size()));
  }
};

TEST(FitByGroups, approaches_the_fit_of_all) {
  const RingOfClocks ring(100, 2, 60'000);
  const CausalFit all = fit_causal(ring.problem, 30'000);
  ASSERT_TRUE(all.converged);
  CausalFit groups = fit_by_groups(ring.problem, 30'000);
  ASSERT_TRUE(groups.converged);
  EXPECT_GT(groups.active, 0u);
  double off = ring.apart(all.errors, groups.errors);
  const ClockErrors none(0, all.errors.spacing(), 33, std::vector<double>(100 * 33, 0.0));
  EXPECT_LT(off, ring.apart(all.errors, none) / 2);
  for (int i = 0; i < 3; ++i) {
    groups = fit_by_groups(ring.problem, 30'000, groups.errors);
    ASSERT_TRUE(groups.converged);
    const double now = ring.apart(all.errors, groups.errors);
    EXPECT_LT(now, 0.8 * off);
    off = now;
  }
}

TEST(FitByGroups, stays_where_it_is_right_already) {
  const RingOfClocks ring(60, 1, 30'000);
  const CausalFit all = fit_causal(ring.problem, 30'000);
  const CausalFit groups = fit_by_groups(ring.problem, 30'000, all.errors);
  ASSERT_TRUE(all.converged);
  ASSERT_TRUE(groups.converged);
  EXPECT_LT(ring.apart(all.errors, groups.errors), 100);
}

TEST(FitByGroups, any_number_of_threads_finds_the_same) {
  RingOfClocks ring(100, 2, 20'000);
  const CausalFit one = fit_by_groups(ring.problem, 30'000);
  ASSERT_TRUE(one.converged);
  for (const unsigned threads : {2u, 5u}) {
    ring.problem.threads = threads;
    const CausalFit many = fit_by_groups(ring.problem, 30'000);
    EXPECT_TRUE(std::ranges::equal(many.errors.values(), one.errors.values())) << threads;
    EXPECT_EQ(many.steps, one.steps);
  }
}

TEST(FitByGroups, clocks_that_are_all_coupled_have_no_independent_groups) {
  const RingOfClocks ring(1'000, 499, 60'000);
  EXPECT_FALSE(fit_by_groups(ring.problem, 30'000).converged);
}

TEST(FitByGroups, without_constraints_nothing_moves) {
  RingOfClocks ring(30, 1, 0);
  const CausalFit fit = fit_by_groups(ring.problem, 30'000);
  ASSERT_TRUE(fit.converged);
  EXPECT_EQ(fit.active, 0u);
  EXPECT_TRUE(std::ranges::all_of(fit.errors.values(), [](double e) { return e == 0; }));
}

TEST(FitByGroups, can_be_interrupted) {
  struct Impatient : Progress {
    void begin(std::string_view, std::uint64_t, std::string_view) override {}
    void advance(std::uint64_t) override {}
    [[nodiscard]] bool cancelled() const override { return ++asked > 20; }
    mutable int asked = 0;
  } impatient;
  RingOfClocks ring(200, 2, 40'000);
  ring.problem.progress = &impatient;
  EXPECT_FALSE(fit_by_groups(ring.problem, 30'000).converged);
  EXPECT_LT(impatient.asked, 100);
}

TEST(FitAllClocks, goes_by_groups_where_clocks_are_many) {
  RingOfClocks ring(4'100, 1, 5'000);
  const CausalFit fit = fit_all_clocks(ring.problem, 30'000);
  const CausalFit groups = fit_by_groups(ring.problem, 30'000);
  ASSERT_TRUE(fit.converged);
  EXPECT_TRUE(std::ranges::equal(fit.errors.values(), groups.errors.values()));
  RingOfClocks few(20, 1, 2'000);
  EXPECT_EQ(fit_all_clocks(few.problem, 30'000).log_evidence,
            fit_causal(few.problem, 30'000).log_evidence);
}

}  // namespace
}  // namespace entrain::causal
