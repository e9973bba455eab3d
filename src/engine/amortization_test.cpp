// SPDX-License-Identifier: BSD-3-Clause
#include "engine/amortization.hpp"

#include <limits>

#include <gtest/gtest.h>

namespace entrain::engine {
namespace {

CorrectOptions with_mu(double seconds) {
  CorrectOptions options;
  options.check.mu.source = MuSource::fixed;
  options.check.mu.seconds = seconds;
  return options;
}

TEST(CorrectOptions, defaults_and_limits_are_accepted) {
  EXPECT_TRUE(check_options({}));
  CorrectOptions options = with_mu(0);
  options.gamma = Decimal9{1'000'000'000};
  options.delta_ticks = 0;
  EXPECT_TRUE(check_options(options));
  options.gamma.reset();
  options.epsilon_s = 0;
  options.max_slope = Decimal9{1};
  EXPECT_TRUE(check_options(options));
}

TEST(CorrectOptions, every_option_out_of_range_is_a_usage_error) {
  CorrectOptions gamma_zero, gamma_large, delta, slope, epsilon, epsilon_nan, both;
  gamma_zero.gamma = Decimal9{0};
  gamma_large.gamma = Decimal9{1'000'000'001};
  delta.delta_ticks = -1;
  slope.max_slope = Decimal9{0};
  epsilon.epsilon_s = -1e-9;
  epsilon_nan.epsilon_s = std::numeric_limits<double>::quiet_NaN();
  both.epsilon_s = 1e-6;
  both.gamma = Decimal9{900'000'000};
  for (const CorrectOptions& options :
       {gamma_zero, gamma_large, delta, slope, epsilon, epsilon_nan, both, with_mu(-1e-9),
        with_mu(std::numeric_limits<double>::quiet_NaN())}) {
    const auto refused = check_options(options);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::usage);
  }
}

TEST(CorrectOptions, mu_counts_only_where_it_is_given) {
  CorrectOptions options = with_mu(-1);
  options.check.mu.source = MuSource::one_tick;
  EXPECT_TRUE(check_options(options));
}

}  // namespace
}  // namespace entrain::engine
