// SPDX-License-Identifier: BSD-3-Clause
#include "clc/forward.hpp"

#include <gtest/gtest.h>

#include "clc/testing.hpp"

namespace entrain::clc {
namespace {

using testing::k_gamma_09;
using testing::k_gamma_099;
using testing::k_gamma_1;

TEST(Decay, example) {
  const Decay decay{50, 960};
  EXPECT_EQ(decay.at(1160, k_gamma_099), 48);
  EXPECT_EQ(decay.at(1161, k_gamma_099), 48);
  EXPECT_EQ(decay.at(5959, k_gamma_099), 1);
  EXPECT_EQ(decay.at(5960, k_gamma_099), 0);
}

TEST(Decay, falls_by_one_minus_gamma_and_is_read_rounded_up) {
  const Decay decay{10, 100};
  EXPECT_EQ(decay.at(100, k_gamma_09), 10);
  EXPECT_EQ(decay.at(109, k_gamma_09), 10);  // 9.1
  EXPECT_EQ(decay.at(110, k_gamma_09), 9);
  EXPECT_EQ(decay.at(111, k_gamma_09), 9);  // 8.9
  EXPECT_EQ(decay.at(199, k_gamma_09), 1);  // 0.1
  EXPECT_EQ(decay.at(200, k_gamma_09), 0);
  EXPECT_EQ(decay.at(1'000'000, k_gamma_09), 0);
  EXPECT_EQ(decay.at(1'000'000, k_gamma_1), 10);
}

TEST(Decay, stays_exact_at_times_since_the_epoch) {
  const std::int64_t since = 1'700'000'000'000'000'000;  // nanoseconds: no double holds them
  const Decay decay{1'000, since};
  EXPECT_EQ(decay.at(since + 1, {0}), 999);
  EXPECT_EQ(decay.at(since + 999, {0}), 1);
  EXPECT_EQ(decay.at(-since, k_gamma_1), 1'000);
}

}  // namespace
}  // namespace entrain::clc
