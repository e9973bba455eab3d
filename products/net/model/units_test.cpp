// SPDX-License-Identifier: BSD-3-Clause
#include "net/model/units.hpp"

#include <gtest/gtest.h>

namespace entrain::net {
namespace {

TEST(Units, times_are_exact) {
  EXPECT_EQ(parse_time("17ns")->count(), 17'000'000);
  EXPECT_EQ(parse_time("6.25 ns")->count(), 6'250'000);
  EXPECT_EQ(parse_time("0.000001ns")->count(), 1);
  EXPECT_EQ(parse_time(".5us")->count(), 500'000'000);
  EXPECT_EQ(parse_time("1000s")->count(), 1'000'000'000'000'000'000);
  EXPECT_EQ(parse_time("3.130000000ns")->count(), 3'130'000);
  EXPECT_EQ(parse_time("0fs")->count(), 0);
}

TEST(Units, what_is_no_time_is_refused) {
  for (const char* text : {"", "ns", ".", ".ns", "1.2.3ns", "17 parsecs", "1001s", "0.5fs", "1e3ns",
                           "99999999999999999999s", "17ns ", "0x1ns", "1,5ns"})
    EXPECT_FALSE(parse_time(text)) << text;
  EXPECT_EQ(parse_time("-17ns").error().message, "is negative");
  EXPECT_NE(parse_time("17").error().message.find("has no unit"), std::string::npos);
}

TEST(Units, rates_become_periods_of_a_flit) {
  EXPECT_EQ(parse_period("1.28Gbps", 1)->count(), 6'250'000);
  EXPECT_EQ(parse_period("640Mbps", 1)->count(), 12'500'000);
  EXPECT_EQ(parse_period("1.92Gbps", 1)->count(), 4'166'667);
  EXPECT_EQ(parse_period("0.4Tbps", 64)->count(), 1'280'000);
  EXPECT_EQ(parse_period("400 Gbps", 8)->count(), 160'000);
  EXPECT_EQ(parse_period("6.25ns", 8)->count(), 6'250'000);
  for (const char* text : {"0Gbps", "0bps", "1.28", "1.28 gbps", "-1Gbps", "Gbps", "2000Tbps"})
    EXPECT_FALSE(parse_period(text, 1)) << text;
}

TEST(Units, drifts_are_parts_per_billion) {
  EXPECT_EQ(*parse_drift_ppb("300ppm"), 300'000);
  EXPECT_EQ(*parse_drift_ppb("0.5ppm"), 500);
  EXPECT_EQ(*parse_drift_ppb("7ppb"), 7);
  for (const char* text : {"300", "-1ppm", "10001ppm", "0.5ppb", "ppm", "3e2ppm"})
    EXPECT_FALSE(parse_drift_ppb(text)) << text;
}

TEST(Units, decimals_are_rounded_or_cut) {
  const Femtoseconds us = std::chrono::microseconds(1);
  EXPECT_EQ(decimal_text(Femtoseconds(237'480'000), us, 3), "0.237");
  EXPECT_EQ(decimal_text(Femtoseconds(1'421'400'000), us, 2), "1.42");
  EXPECT_EQ(decimal_text(Femtoseconds(-1'500'000'000), us, 0), "-2");
  EXPECT_EQ(decimal_text(Femtoseconds(-1), us, 2), "0.00");
  EXPECT_EQ(ratio_text(1600, 1781, 2, true), "0.89");
  EXPECT_EQ(ratio_text(1600, 1781, 2, false), "0.90");
  EXPECT_EQ(ratio_text(1600, 1603, 1, false), "1.0");
  EXPECT_EQ(ratio_text(7, 2, 0, false), "4");
}

}  // namespace
}  // namespace entrain::net
