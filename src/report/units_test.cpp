// SPDX-License-Identifier: BSD-3-Clause
#include "report/units.hpp"

#include <limits>

#include <gtest/gtest.h>

namespace entrain::report {
namespace {

TEST(FormatDuration, chooses_the_unit_that_suits) {
  EXPECT_EQ(format_duration(0), "0 s");
  EXPECT_EQ(format_duration(1.25), "1.250 s");
  EXPECT_EQ(format_duration(0.0123), "12.30 ms");
  EXPECT_EQ(format_duration(-33.959e-6), "-33.96 us");
  EXPECT_EQ(format_duration(510e-9), "510 ns");
  EXPECT_EQ(format_duration(0.5e-9), "0.500 ns");
  EXPECT_EQ(format_duration(12345), "12,345 s");
}

TEST(FormatDuration, rounds_into_the_next_unit) {
  EXPECT_EQ(format_duration(999.96e-6), "1.000 ms");
  EXPECT_EQ(format_duration(0.99996), "1.000 s");
  EXPECT_EQ(format_duration(999.97), "1,000 s");
  EXPECT_EQ(format_duration(9.9996e-6), "10.00 us");
}

TEST(FormatDuration, never_shows_something_as_nothing) {
  EXPECT_EQ(format_duration(1e-15), "~0 s");
  EXPECT_EQ(format_duration(-1e-15), "~0 s");
  EXPECT_EQ(format_duration(-0.6e-12), "-0.001 ns");
  EXPECT_EQ(format_duration(std::numeric_limits<double>::infinity()), "n/a");
  EXPECT_EQ(format_duration(std::numeric_limits<double>::quiet_NaN()), "n/a");
}

TEST(FormatTicks, uses_the_resolution) {
  EXPECT_EQ(format_ticks(std::int64_t{-33959}, 1'000'000'000), "-33.96 us");
  EXPECT_EQ(format_ticks(std::int64_t{3}, 1000), "3.000 ms");
  EXPECT_EQ(format_ticks(7.0, 0), "7.000 s");
  EXPECT_EQ(format_ticks(std::numeric_limits<std::int64_t>::min(), 1'000'000'000),
            "-9,223,372,037 s");
}

TEST(FormatTime, keeps_every_digit_of_the_resolution) {
  EXPECT_EQ(format_time(1'700'000'000'123'456'789, 1'000'000'000), "1700000000.123456789 s");
  EXPECT_EQ(format_time(-1'500, 1'000), "-1.500 s");
  EXPECT_EQ(format_time(5, 1), "5 s");
  EXPECT_EQ(format_time(1, 3), "0.3 s");
  EXPECT_EQ(format_time(2'693'508'999, 2'693'509'000), "1.000000000 s");
  EXPECT_EQ(format_time(std::numeric_limits<std::int64_t>::min(), 1'000'000'000),
            "-9223372036.854775808 s");
}

TEST(FormatShare, never_rounds_to_nothing_or_everything) {
  EXPECT_EQ(format_share(0), "0 %");
  EXPECT_EQ(format_share(0.04246), "4.246 %");
  EXPECT_EQ(format_share(0.5), "50.00 %");
  EXPECT_EQ(format_share(1), "100 %");
  EXPECT_EQ(format_share(1e-9), "<0.0001 %");
  EXPECT_EQ(format_share(0.99999), ">99.9 %");
  EXPECT_EQ(format_share(12.5), "1,250 %");
  EXPECT_EQ(format_share(std::numeric_limits<double>::quiet_NaN()), "n/a");
}

TEST(FormatCount, separates_thousands) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1000), "1,000");
  EXPECT_EQ(format_count(std::numeric_limits<std::uint64_t>::max()), "18,446,744,073,709,551,615");
}

TEST(FormatBytes, uses_binary_units) {
  EXPECT_EQ(format_bytes(0), "0 bytes");
  EXPECT_EQ(format_bytes(1), "1 byte");
  EXPECT_EQ(format_bytes(1023), "1,023 bytes");
  EXPECT_EQ(format_bytes(137'573'171), "131.2 MiB");
}

TEST(FormatFrequency, keeps_what_a_timer_resolution_says) {
  EXPECT_EQ(format_frequency(1'000'000'000), "1 GHz");
  EXPECT_EQ(format_frequency(2'693'509'000), "2.693509 GHz");
  EXPECT_EQ(format_frequency(1000), "1 kHz");
  EXPECT_EQ(format_frequency(1), "1 Hz");
}

}  // namespace
}  // namespace entrain::report
