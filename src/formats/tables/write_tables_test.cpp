// SPDX-License-Identifier: BSD-3-Clause
#include "formats/tables/write_tables.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "base/temp_folder_testing.hpp"
#include "formats/tables/read_clocks.hpp"

namespace entrain::tables {
namespace {

using testing::HasSubstr;

/// Two clocks, of which b runs 50 ticks late.
class MapTable : public testing::Test {
 protected:
  MapTable() : maps_{ClockMap(), ClockMap().shifted(50)} {
    for (const char* name : {"a", "b, \"the\" second\r\none"})
      clocks_.clocks.emplace_back().name = name;
  }

  std::string mapped(const std::string& text) {
    std::ofstream(folder_ / "t.csv", std::ios::binary) << text;
    AlignFiles files;
    files.apply = folder_ / "t.csv";
    files.time_column = "t";
    files.clock_column = "c";
    std::string result;
    const auto done = map_table(files, clocks_, maps_, wraps_, [&](std::string_view piece) {
      result += piece;
      return Result<void>{};
    });
    return done ? result : done.error().message;
  }

  /// Any of these texts.
  std::string any(const std::vector<std::string>& texts) {
    return texts[std::uniform_int_distribution<std::size_t>(0, texts.size() - 1)(random_)];
  }
  std::string row(std::uint64_t time, bool is_second, bool moved) {
    const std::string digits = std::to_string(time + (moved && is_second ? 50 : 0));
    return (is_second ? std::string("\"b, \"\"the\"\" second\r\none\",") : any_first_) +
           (quoted_ ? '"' + digits + '"' : digits) + ',' + rest_;
  }

  TempFolder folder_;
  Clocks clocks_;
  std::vector<ClockMap> maps_;
  std::vector<Wrap> wraps_{2};
  std::mt19937 random_{7};  // NOLINT: the same tables every time
  bool quoted_ = false;
  std::string any_first_, rest_;
};

TEST_F(MapTable, only_digits_of_one_column_change) {
  const std::vector<std::string> ends{"\n", "\r\n", "\n\n", "\r\n\r\n\n"};
  for (int table = 0; table < 500; ++table) {
    std::string before = any({"", "\xEF\xBB\xBF"}) + any({"", "\n", " \r\n"}) + "c,\"t\",x";
    before += any(ends);
    std::string after = before;
    const int rows = std::uniform_int_distribution(0, 8)(random_);
    for (int i = 0; i < rows; ++i) {
      const bool is_second = any({"a", "b"}) == "b";
      const auto time = std::uniform_int_distribution<std::uint64_t>(0, 1'000'000)(random_);
      quoted_ = any({"", "q"}) == "q";
      any_first_ = any({"a,", "\"a\","});
      rest_ = any({"", "\"\"", "17", "\"1\n2\"", "\"q\"\"q\"", " blank "});
      const std::string end = i + 1 == rows ? any({"", "\n", "\r\n"}) : any(ends);
      before += row(time, is_second, false) + end;
      after += row(time, is_second, true) + end;
    }
    ASSERT_EQ(mapped(before), after) << table;
  }
}

/// Times of any notation, in any kind of table: only the digits of moved ones change.
TEST_F(MapTable, times_keep_their_notation) {
  maps_[1] = ClockMap().shifted(50'000'000);
  clocks_.clocks[1].name = "b";
  for (const auto& [before, after] : std::vector<std::pair<std::string, std::string>>{
           {"1700000000.123456", "1700000000.173456"},
           {"1700000000.123456789", "1700000000.173456789"},
           {"1700000000.1", "1700000000.2"},
           {"5.00", "5.05"},
           {"2025-12-31T23:59:59.960Z", "2026-01-01T00:00:00.010Z"},
           {"2025-10-09 08:53:20,123+02:00", "2025-10-09 08:53:20,173+02:00"},
           {"2025-10-09T08:53:20", "2025-10-09T08:53:20"},
           {"100000000", "150000000"}}) {
    EXPECT_EQ(mapped("# c;t\nc\tt\tx\r\nb\t" + before + "\t1,5\r\na\t" + before + "\t\n#end"),
              "# c;t\nc\tt\tx\r\nb\t" + after + "\t1,5\r\na\t" + before + "\t\n#end");
  }
}

TEST_F(MapTable, times_of_another_unit_are_refused) {
  constexpr std::uint64_t k_begin = 1'763'000'000'000'000'000;
  clocks_.clocks[0].events = StampRange{k_begin, k_begin + 1'000'000'000};
  EXPECT_EQ(mapped("c,t\na,1763000000500000000\n"), "c,t\na,1763000000500000000\n");
  for (const char* const time : {"1763000001", "1763000000000000", "1774000000000000000"}) {
    EXPECT_THAT(mapped(std::string("c,t\na,") + time + "\n"), HasSubstr("more than 100 days from"));
  }
}

TEST_F(MapTable, counts_on_behind_a_wrap) {
  wraps_[1] = {.period = 1 << 20, .first = 1'000'000};
  clocks_.clocks[1].name = "b";
  EXPECT_EQ(mapped("c,t\nb,1000000\nb,5\n"), "c,t\nb,1000050\nb,1048631\n");
  EXPECT_EQ(maps_csv(clocks_, maps_, wraps_, Verdict::clean),
            "clock,tick,offset\na,0,0\nb,0,1048626\nb,999999,1048626\nb,1000000,50\n"
            "b,1048575,50\n");
  EXPECT_EQ(maps_csv(clocks_, maps_, wraps_, Verdict::unproven),
            "clock,tick,offset,verdict\na,0,0,unproven\nb,0,1048626,unproven\n"
            "b,999999,1048626,unproven\nb,1000000,50,unproven\nb,1048575,50,unproven\n");
  wraps_[1].repeats = true;
  EXPECT_THAT(mapped("c,t\nb,5\n"), HasSubstr("shows its stamps more than once"));
}

TEST_F(MapTable, pieces_of_large_tables_follow_each_other) {
  std::string before = "t,c\r\n";
  for (int i = 0; i < 700'000; ++i) {
    const std::string end = i % 3 == 0 ? ",a\r\n\r\n" : ",a\n";
    before += "0" + std::to_string(i) + end;
  }
  EXPECT_EQ(mapped(before), before);  // the clock keeps its times, and these their zeros
}

TEST(CheckNames, what_is_written_can_be_read) {
  Clocks clocks;
  clocks.name = "spans.json";
  clocks.clocks.emplace_back().name = std::string(65536, 'h');
  EXPECT_TRUE(check_names(clocks));
  const std::string text = clocks_csv(clocks);
  const std::vector<tables::Source> sources{{"clocks.csv", std::string_view(text)}};
  EXPECT_EQ(read_clocks(sources, 0).value().clocks.front().name, clocks.clocks.front().name);
  clocks.clocks.front().name += 'h';
  const auto refused = check_names(clocks);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message,
              HasSubstr("spans.json: clock 1 of 1 cannot stand in a table: the name is longer than "
                        "65536 bytes"));
}

}  // namespace
}  // namespace entrain::tables
