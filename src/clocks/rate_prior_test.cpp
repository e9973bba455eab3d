// SPDX-License-Identifier: BSD-3-Clause
#include "clocks/rate_prior.hpp"

#include <gtest/gtest.h>

#include "trace/testing.hpp"

namespace entrain::clocks {
namespace {

RatePrior prior_of(std::uint64_t first_stamp, std::uint64_t hz) {
  trace::testing::TraceBuilder b(2);
  b.trace().definitions.clock.resolution_hz = hz;
  b.request(trace::EventKind::irecv_request, 1, first_stamp, 1);
  const trace::Partition whole = trace::undivided(b.trace().definitions);
  Solo solo;
  return rate_prior({solo, whole, b.trace()});
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

}  // namespace
}  // namespace entrain::clocks
