// SPDX-License-Identifier: BSD-3-Clause
#include "accuracy/sums.hpp"

#include <gtest/gtest.h>

namespace entrain::accuracy {
namespace {

constexpr std::int64_t k_end = 1'024'000;

/// A location with an event every 100 ticks, and errors 5 + slope * time.
CommonError location(std::int64_t slope_ppm, std::int64_t begin = 0, std::int64_t end = k_end) {
  CommonError one(0, k_end);
  for (std::int64_t t = begin; t <= end; t += 100) one.add(t, 5 + t * slope_ppm / 1'000'000);
  return one;
}

TEST(CommonError, is_the_mean_over_locations_at_each_moment) {
  CommonError all(0, k_end);
  EXPECT_EQ(all.at(500), 0);
  all.merge(location(1'000));
  all.merge(location(3'000));
  for (const std::int64_t t : {10'000, 500'000, 1'000'000}) {
    EXPECT_NEAR(all.at(t), 5 + static_cast<double>(t) * 0.002, 2) << t;
  }
}

TEST(CommonError, locations_count_also_where_they_have_no_events) {
  CommonError all(0, k_end);
  all.merge(location(0));
  CommonError gap(0, k_end);
  for (const std::int64_t t : {200'000, 200'100, 600'000, 600'100}) {
    gap.add(t, t < 400'000 ? 1'005 : 3'005);
  }
  all.merge(gap);
  all.merge(CommonError(0, k_end));  // without events it counts nothing
  EXPECT_NEAR(all.at(0), 505, 1);
  EXPECT_NEAR(all.at(400'000), 1'005, 5);
  EXPECT_NEAR(all.at(k_end), 1'505, 1);
}

TEST(CommonError, errors_far_from_0_keep_their_digits) {
  constexpr std::int64_t k_far = std::int64_t{1} << 52;
  CommonError one(0, k_end), all(0, k_end);
  for (std::int64_t t = 0; t < k_end; t += 10) one.add(t, k_far + t % 2);
  all.merge(one);
  EXPECT_EQ(all.at(k_end / 2), static_cast<double>(k_far));
}

}  // namespace
}  // namespace entrain::accuracy
