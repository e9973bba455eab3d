// SPDX-License-Identifier: BSD-3-Clause
#include "cli/values.hpp"

#include <gtest/gtest.h>

namespace entrain::cli {
namespace {

std::int64_t billionths(std::string_view text, std::int64_t most = 1000) {
  const auto value = parse_decimal9(text, most);
  return value ? value->billionths : -1;
}

TEST(ParseDecimal9, is_exact) {
  EXPECT_EQ(billionths("0.99999"), 999'990'000);
  EXPECT_EQ(billionths("0.01"), 10'000'000);
  EXPECT_EQ(billionths("0.000000001"), 1);
  EXPECT_EQ(billionths("0.123456789"), 123'456'789);
  EXPECT_EQ(billionths("1"), 1'000'000'000);
  EXPECT_EQ(billionths("1."), 1'000'000'000);
  EXPECT_EQ(billionths(".5"), 500'000'000);
  EXPECT_EQ(billionths("0.50000000000000"), 500'000'000);
  EXPECT_EQ(billionths("1000"), 1'000'000'000'000);
}

TEST(ParseDecimal9, refuses_what_it_cannot_hold) {
  for (const char* text :
       {"", ".", "-1", "+1", "0", "0.0", "1e-3", "0.1234567891", "1000.000000001",
        "99999999999999999999", "0x1", " 1", "1 ", "1,5", "1.2.3", "inf", "nan"})
    EXPECT_EQ(billionths(text), -1) << text;
}

TEST(ParseDuration, needs_a_unit) {
  EXPECT_DOUBLE_EQ(*parse_duration("250us"), 250e-6);
  EXPECT_DOUBLE_EQ(*parse_duration("1 ms"), 1e-3);
  EXPECT_DOUBLE_EQ(*parse_duration("0.5s"), 0.5);
  EXPECT_DOUBLE_EQ(*parse_duration("7ns"), 7e-9);
  for (const char* text : {"", "1", "ms", "-1ms", "1h", "nans", "1e13s"}) {
    EXPECT_FALSE(parse_duration(text).has_value()) << text;
  }
}

TEST(OrAuto, takes_auto_or_what_the_parser_takes) {
  const auto parse = or_auto(decimal9(1));
  EXPECT_FALSE(parse("auto")->has_value());
  EXPECT_EQ(parse("1.0")->value().billionths, 1'000'000'000);
  EXPECT_FALSE(parse("1.000000001").has_value());
  EXPECT_EQ(parse("2").error().kind, ErrorKind::usage);
  EXPECT_EQ(
      parse("2").error().message,
      "is neither auto nor a decimal number above 0 and at most 1, with at most 9 decimals and "
      "no exponent");
}

TEST(ParseMu, takes_words_and_seconds) {
  EXPECT_EQ(parse_mu("auto")->source, MuSource::automatic);
  EXPECT_EQ(parse_mu("delays")->source, MuSource::delays);
  EXPECT_EQ(parse_mu("rtt")->source, MuSource::round_trip);
  EXPECT_EQ(parse_mu("1tick")->source, MuSource::one_tick);
  EXPECT_EQ(parse_mu("1e-6")->source, MuSource::fixed);
  EXPECT_EQ(parse_mu("1e-6")->seconds, 1e-6);
  EXPECT_FALSE(std::signbit(parse_mu("-0")->seconds));
  EXPECT_FALSE(parse_mu("2tick").has_value());
  EXPECT_FALSE(parse_mu("1e4").has_value());
}

TEST(ParseNumber, keeps_to_its_range) {
  EXPECT_EQ(*parse_number("0.25", 0, 1, "seconds"), 0.25);
  EXPECT_EQ(*parse_number("1", 0, 1, "seconds"), 1);
  for (const char* text : {"1.1", "-0.1", "nan", "inf", "", "1s", " 1", "1e999"})
    EXPECT_FALSE(parse_number(text, 0, 1, "seconds").has_value()) << text;
}

TEST(ParseShare, takes_fractions_and_percent) {
  EXPECT_EQ(parse_share("0").value(), 0);
  EXPECT_EQ(parse_share("1").value(), 1);
  EXPECT_EQ(parse_share("0.001").value(), 0.001);
  EXPECT_DOUBLE_EQ(parse_share("0.1%").value(), 0.001);
  EXPECT_EQ(parse_share("100%").value(), 1);
  for (const char* text : {"", "%", "1.1", "-0.1", "101%", "0.1 %", "nan", "0.1x"}) {
    EXPECT_FALSE(parse_share(text)) << text;
  }
}

TEST(ParseCount, keeps_to_its_range) {
  EXPECT_EQ(*parse_count("4096", 0, 4096), 4096u);
  for (const char* text : {"4097", "-1", "1.0", "", "99999999999999999999"})
    EXPECT_FALSE(parse_count(text, 0, 4096).has_value()) << text;
}

TEST(ParseSize, has_units) {
  EXPECT_EQ(*parse_size("1"), 1u);
  EXPECT_EQ(*parse_size("500M"), 500u << 20);
  EXPECT_EQ(*parse_size("16G"), std::uint64_t{16} << 30);
  EXPECT_EQ(*parse_size("1024T"), std::uint64_t{1} << 50);
  for (const char* text : {"", "M", "0", "0K", "-1", "1.5G", "12m", "1025T", "5GB", " 5", "5 G"}) {
    EXPECT_FALSE(parse_size(text).has_value()) << text;
  }
}

TEST(ParsePercent, is_a_share_with_or_without_its_sign) {
  EXPECT_DOUBLE_EQ(*parse_percent("50"), 0.5);
  EXPECT_DOUBLE_EQ(*parse_percent("99.5%"), 0.995);
  EXPECT_DOUBLE_EQ(*parse_percent("12.5 %"), 0.125);
  EXPECT_EQ(*parse_percent("0"), 0);
  EXPECT_EQ(*parse_percent("100%"), 1);
  for (const char* text : {"", "%", " %", "-1", "100.1", "101%", "half", "5%%", "% 5", "nan"}) {
    EXPECT_FALSE(parse_percent(text).has_value()) << text;
  }
}

TEST(ParseChoice, names_what_is_available) {
  const Choices<Presync> choices{
      {"auto", Presync::automatic}, {"none", Presync::none}, {"linear", Presync::linear}};
  EXPECT_EQ(*parse_choice("auto", choices), Presync::automatic);
  EXPECT_EQ(*parse_choice("linear", choices), Presync::linear);
  EXPECT_EQ(parse_choice("foo", choices).error().message, "is not auto, none or linear");
  EXPECT_EQ(parse_choice<bool>("maybe", {{"on", true}, {"off", false}}).error().message,
            "is not on or off");
}

}  // namespace
}  // namespace entrain::cli
