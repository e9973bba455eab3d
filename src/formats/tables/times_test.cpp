// SPDX-License-Identifier: BSD-3-Clause
#include "formats/tables/times.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace entrain::tables {
namespace {

using testing::HasSubstr;

/// Ticks of a text, or why there are none.
std::string read(std::string_view text, std::uint64_t hz = 1'000'000'000,
                 Unit unit = Unit::unnamed) {
  std::uint64_t ticks = 0;
  std::string why;
  const Notation notation = Times(hz, unit).parse(text, ticks, why);
  return notation == Notation::none ? why : std::to_string(ticks);
}

TEST(Times, take_every_notation_without_losing_a_digit) {
  EXPECT_EQ(read("1700000000.123456"), "1700000000123456000");
  EXPECT_EQ(read("1700000000123456789"), "1700000000123456789");
  EXPECT_EQ(read("0.000000001"), "1");
  EXPECT_EQ(read("1.5000000000000"), "1500000000");
  EXPECT_THAT(read("1700000000.123456789012"), HasSubstr("has digits below a tick"));
  EXPECT_EQ(read("0.123456789012", 1'000'000'000'000), "123456789012");
  EXPECT_EQ(read("0.5", 2'400'000'001, Unit::s),
            "\"0.5\" has digits below a tick; name more ticks per second");
  EXPECT_EQ(read("0.5", 2'400'000'000), "1200000000");
  EXPECT_EQ(read("12.5", 1'000'000'000, Unit::us), "12500");
  EXPECT_EQ(read("7", 1'000'000'000, Unit::ms), "7000000");
  EXPECT_EQ(read("7", 1000, Unit::ticks), "7");
  EXPECT_EQ(read("2025-10-09T08:53:20.1Z"), "1760000000100000000");
  EXPECT_EQ(read("2025-10-09 10:53:20,100+02:00"), "1760000000100000000");
  EXPECT_EQ(read("2025-10-08T23:53:20-0900"), "1760000000000000000");
  EXPECT_EQ(read("2025-10-09T08:53:20"), "1760000000000000000");
  EXPECT_EQ(read("1970-01-01T00:00:00-01"), "3600000000000");
  for (const char* text :
       {"2025/10/09 08:53:20.000000000", "2025-10-09 08:53:20 UTC", "2025-10-09 10:53:20.000 +0200",
        "09/Oct/2025:08:53:20.000 +0000", "[09/Oct/2025:10:53:20 +0200]", "09/Oct/2025:08:53:20"}) {
    EXPECT_EQ(read(text, 1'000'000'000, Unit::s), "1760000000000000000") << text;
  }
}

TEST(Times, say_why_they_are_none) {
  EXPECT_EQ(read("-0.5"), "\"-0.5\" is negative");
  EXPECT_EQ(read("4611686018427387904"), "4611686018427387904");
  EXPECT_EQ(read("4611686018427387905"), "\"4611686018427387905\" is too large");
  EXPECT_EQ(read("9223372037", 1'000'000'000, Unit::s), "\"9223372037\" is too large");
  EXPECT_EQ(read("9999-01-01T00:00:00Z"), "\"9999-01-01T00:00:00Z\" is too large");
  EXPECT_EQ(read("1969-12-31T23:59:59Z"), "\"1969-12-31T23:59:59Z\" is before 1970");
  EXPECT_EQ(read("1.5", 1000, Unit::ticks), "\"1.5\" is no whole number");
  for (const char* text : {"",
                           " 1",
                           "1.",
                           ".5",
                           "1e9",
                           "0x10",
                           "1.5.5",
                           "+1",
                           "nan",
                           "2025-02-30T00:00:00Z",
                           "2025-1-1T00:00:00Z",
                           "2025-10-09T24:00:00Z",
                           "2025-10-09",
                           "2025-10-09T08:53:61Z",
                           "2025-10-09T08:53:20+25:00",
                           "2025-10-09T08:53:20+2",
                           "1,500",
                           "2025-10-09T-8:53:20",
                           "2025-10/09T08:53:20",
                           "09/Okt/2025:08:53:20",
                           "2025-10-09T08:53:20+02:5"}) {
    EXPECT_THAT(read(text), HasSubstr("is neither a number nor a date")) << text;
  }
  EXPECT_THAT(read("09/10/2025 08:53:20"), HasSubstr("may have the day or the month first"));
  EXPECT_THAT(read("11/30/2025 08:53:20"), HasSubstr("has the year last"));
  for (const char* zone : {"EST", "Europe/Berlin"}) {
    EXPECT_THAT(read(std::string("2025-10-09 08:53:20 ") + zone),
                HasSubstr("has a time zone that"));
  }
  for (const char* text : {"2025-10-09T08:53:20X", "2025-10-09T08:53:20]", "2025-10-09 08:53:20 ",
                           "2025-10-09 08:53:20Z done", "2025-10-09 08:53:20 started"}) {
    EXPECT_THAT(read(text), HasSubstr("has text behind its time")) << text;
  }
  EXPECT_THAT(read("[09/Oct/2025:08:53:20 +0000"), HasSubstr("lacks its closing bracket"));
  EXPECT_THAT(read(std::string(400, '9')), HasSubstr("is too large"));
  EXPECT_THAT(read("0." + std::string(400, '1')), HasSubstr("has digits below a tick"));
  EXPECT_THAT(read("0." + std::string(400, '9')), HasSubstr("has digits below a tick"));
  EXPECT_EQ(read("1." + std::string(400, '0')), "1000000000");
  EXPECT_EQ(read("2016-12-31T23:59:60Z"),
            "\"2016-12-31T23:59:60Z\" is a leap second, which times do not count");
  EXPECT_THAT(read(std::string("1\0", 2)), HasSubstr("is neither"));
}

TEST(Times, take_distances_with_a_sign) {
  const Times times(1'000'000'000, Unit::unnamed);
  std::int64_t ticks = 0;
  std::string why;
  EXPECT_TRUE(times.parse_distance("-0.0035", ticks, why));
  EXPECT_EQ(ticks, -3'500'000);
  EXPECT_FALSE(times.parse_distance("--1", ticks, why));
  EXPECT_FALSE(times.parse_distance("4611686018427387904", ticks, why));
  EXPECT_FALSE(times.parse_distance("2025-10-09T08:53:20Z", ticks, why));
}

/// Any time in any notation is written back as it was, and a moved one by as much.
TEST(Times, are_written_in_the_notation_of_the_input) {
  std::mt19937_64 random(54);  // NOLINT: the same times every time
  const auto below = [&](std::uint64_t end) { return random() % end; };
  const std::vector<std::string> zones{"",    "Z",      "z",    "+02:00", "-0930",
                                       "+14", "+00:00", " UTC", " +0530"};
  const std::vector<std::uint64_t> rates{1'000'000'000, 1'000'000, 1'000'000'000'000};
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t hz = rates[below(2)];
    const auto unit = static_cast<Unit>(below(6));
    const Times times(hz, unit);
    const auto start = static_cast<std::int64_t>(below(hz * 4'000'000'000U));
    const std::string zone = zones[below(zones.size())];
    std::string like = "5";
    if (unit != Unit::ticks && below(2) == 0) like += "." + std::string(1 + below(9), '0');
    if (below(2) == 0) {
      const std::vector<std::string> days{"1970-01-02T", "1970-01-02 ",  "1970-01-02t",
                                          "1970/01/02 ", "02/Jan/1970:", "[02/Jan/1970:"};
      like = days[below(days.size())] + "14:00:00";
      if (below(2) == 0) like += ".,"[below(2)] + std::string(1 + below(9), '0');
      like += zone + (like[0] == '[' ? "]" : "");
    }
    const std::string text = times.written(start, like);
    std::uint64_t ticks = 0;
    std::string why;
    ASSERT_NE(times.parse(text, ticks, why), Notation::none) << text << ": " << why;
    EXPECT_EQ(times.written(static_cast<std::int64_t>(ticks), text), text);
  }
  EXPECT_EQ(Times(1'000'000'000, Unit::unnamed).written(-1'500'000'000, "0.000"), "-1.500");
  EXPECT_EQ(Times(1'000'000'000, Unit::unnamed).written(-1, "1970-01-01T00:00:00.000000000Z"),
            "1969-12-31T23:59:59.999999999Z");
  EXPECT_EQ(Times(1'000'000'000, Unit::s).written(1'499'999'999, "7"), "1");
  EXPECT_EQ(Times(1'000'000'000, Unit::s).written(1'499'999'999, "7", 1), "1.5");
}

TEST(Units, stand_at_the_end_of_a_name) {
  EXPECT_EQ(unit_of_column("send_us"), Unit::us);
  EXPECT_EQ(unit_of_column("time (ms)"), Unit::ms);
  EXPECT_EQ(unit_of_column("frame.time"), Unit::unnamed);
  EXPECT_EQ(unit_of_column("radius"), Unit::unnamed);
  EXPECT_FALSE(unit_named("min"));
}

}  // namespace
}  // namespace entrain::tables
