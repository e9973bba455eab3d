// SPDX-License-Identifier: BSD-3-Clause
#include "clocks/rate_prior.hpp"

#include <gtest/gtest.h>

#include "trace/testing.hpp"

namespace entrain::clocks {
namespace {

RatePrior prior_of(std::uint64_t first_stamp, std::uint64_t hz,
                   const ClockPriorOption& option = {}) {
  trace::testing::TraceBuilder b(2);
  b.trace().definitions.clock.resolution_hz = hz;
  b.request(trace::EventKind::irecv_request, 1, first_stamp, 1);
  const trace::Partition whole = trace::undivided(b.trace().definitions);
  Solo solo;
  return rate_prior({solo, whole, b.trace()}, option);
}

TEST(RatePrior, stamps_of_this_century_are_those_of_a_wall_clock) {
  for (const std::uint64_t hz : {1u, 1'000'000u, 1'000'000'000u}) {
    EXPECT_EQ(prior_of(1'700'000'000 * hz, hz).kind, ClockKind::wall) << hz;
    EXPECT_EQ(prior_of(1'700'000'000 * hz, hz).mean_ppb, 500'000) << hz;
    EXPECT_EQ(prior_of(946'684'799 * hz, hz).kind, ClockKind::timer) << hz;
    EXPECT_EQ(prior_of(4'102'444'800 * hz, hz).kind, ClockKind::timer) << hz;
  }
  EXPECT_EQ(prior_of(5'000'000'000'000, 1'000'000'000).mean_ppb, 200'000);
}

/// A device counts from the start of the machine, hosts from 1970.
TEST(RatePrior, is_that_of_most_clocks) {
  for (const std::uint32_t hosts : {1U, 2U}) {
    trace::testing::TraceBuilder b(hosts + 1);
    b.trace().definitions.clock.resolution_hz = 1;
    b.request(trace::EventKind::irecv_request, 0, 86'400, 1);
    for (std::uint32_t h = 1; h <= hosts; ++h) {
      b.request(trace::EventKind::irecv_request, h, 1'700'000'000, 1);
    }
    const trace::Partition whole = trace::undivided(b.trace().definitions);
    Solo solo;
    EXPECT_EQ(rate_prior({solo, whole, b.trace()}, {}).kind,
              hosts == 2 ? ClockKind::wall : ClockKind::timer);
  }
}

TEST(RatePrior, the_user_decides) {
  constexpr std::uint64_t k_hz = 1'000'000'000, k_year_2020 = 1'600'000'000;
  const RatePrior timer =
      prior_of(k_year_2020 * k_hz, k_hz, {.kind = ClockKind::timer, .max_mean_rate_ppm = {}});
  EXPECT_EQ(timer.mean_ppb, 200'000);
  EXPECT_TRUE(timer.kind_given);
  const RatePrior wall = prior_of(1'000, k_hz, {.kind = ClockKind::wall, .max_mean_rate_ppm = {}});
  EXPECT_EQ(wall.kind, ClockKind::wall);
  EXPECT_EQ(wall.mean_ppb, 500'000);
  const RatePrior given = prior_of(1'000, k_hz, {.max_mean_rate_ppm = 20.5});
  EXPECT_EQ(given.mean_ppb, 20'500);
  EXPECT_TRUE(given.mean_given);
  const RatePrior off = prior_of(1'000, k_hz, {.max_mean_rate_ppm = {}, .any_mean_rate = true});
  EXPECT_FALSE(off.limited);
  EXPECT_EQ(off.mean_ppb, k_any_mean_ppb);
}

}  // namespace
}  // namespace entrain::clocks
