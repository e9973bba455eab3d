// SPDX-License-Identifier: BSD-3-Clause
#include <limits>

#include <gtest/gtest.h>

#include "formats/json/strings.hpp"

namespace entrain::json {
namespace {

TEST(Decimal, numbers_have_as_many_decimals_as_they_need) {
  EXPECT_EQ(decimal_text(0, 1000), "0");
  EXPECT_EQ(decimal_text(1500, 1000), "1.5");
  EXPECT_EQ(decimal_text(-2000, 1000), "-2");
  EXPECT_EQ(decimal_text(7, 1000), "0.007");
  EXPECT_EQ(decimal_text(1020, 1000), "1.02");
  EXPECT_EQ(decimal_text(12, 1), "12");
  EXPECT_EQ(decimal_text(1'000'001, 1'000'000), "1.000001");
  EXPECT_EQ(decimal_text(std::numeric_limits<std::int64_t>::min(), 1000), "-9223372036854775.808");
}

}  // namespace
}  // namespace entrain::json
