// SPDX-License-Identifier: BSD-3-Clause
#include "formats/tables/reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "base/memory_room.hpp"
#include "base/temp_folder_testing.hpp"
#include "base/text.hpp"

namespace entrain::tables {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Texts = std::vector<std::string>;

constexpr std::array<std::string_view, 3> k_columns{"a", "b", "c"};

class ReaderTest : public testing::Test {
 protected:
  /// Reads a file; the result equals that of the text itself.
  Texts read(std::string_view text) {
    const auto path = folder_.path() / "table";
    std::ofstream(path, std::ios::binary) << text;
    Texts rows = read_source(path);
    EXPECT_EQ(read_source({"the table", std::string_view(text)}), rows);
    return rows;
  }

  /// The cells of all rows with their lines, as "1: x|y|z"; or the error's sentence alone.
  static Texts read_source(const Source& source) {
    Texts rows;
    const auto done = [&]() -> Result<void> {
      auto reader = Reader::open(source, k_columns);
      if (!reader) return tl::unexpected<Error>(reader.error());
      for (;;) {
        const auto pieces = reader->next(2);
        if (!pieces) return tl::unexpected<Error>(pieces.error());
        if (*pieces == 0) return {};
        for (std::size_t i = 0; i < *pieces; ++i) {
          const auto read = reader->rows(i, [&](const Row& row, Problem&) {
            rows.push_back(std::to_string(row.line) + ": " + std::string(row.cells[0]) + "|" +
                           std::string(row.cells[1]) + "|" + std::string(row.cells[2]));
            return true;
          });
          if (!read) return read;
        }
      }
    }();
    if (!done) {
      const std::string& message = done.error().message;
      rows = {message.substr(message.find("table") + 5)};
    }
    return rows;
  }

  TempFolder folder_;
};

TEST_F(ReaderTest, takes_columns_in_any_order_and_ignores_others) {
  EXPECT_THAT(read("c,x,a\n1,2,3\n"), ElementsAre("2: 3||1"));
}

TEST_F(ReaderTest, takes_quotes_line_ends_and_empty_lines_as_rfc4180_does) {
  EXPECT_THAT(read("\xEF\xBB\xBF"
                   "a,\"b\",c\r\n\"x, \"\"y\"\"\",\"two\r\nlines\",z\r\n\r\n,,\n1,2,3"),
              ElementsAre("2: x, \"y\"|two\r\nlines|z", "5: ||", "6: 1|2|3"));
}

TEST_F(ReaderTest, takes_json_lines) {
  EXPECT_THAT(read("{\"b\": 17, \"a\": \"\\u00e9\\\"\", \"x\": {\"y\": [1]}}\n\n"
                   "{\"a\": null, \"c\": true , \"b\": -1.5e3}\r\n"),
              ElementsAre("1: \xC3\xA9\"|17|", "3: |-1.5e3|true"));
}

/// Rows of a table with this naming, and its guesses.
Texts read_named(std::string_view text, const Naming& naming) {
  Texts all;
  auto reader = Reader::open({"t", std::string_view(text)}, k_columns, naming);
  if (!reader) return {reader.error().message};
  for (;;) {
    const auto pieces = reader->next(1);
    if (!pieces) return {pieces.error().message};
    if (*pieces == 0) break;
    const auto read = reader->rows(0, [&](const Row& row, Problem&) {
      all.push_back(std::string(row.cells[0]) + "|" + std::string(row.cells[1]));
      return true;
    });
    if (!read) return {read.error().message};
  }
  for (const std::string& guess : reader->guesses()) all.push_back(guess);
  return all;
}

TEST_F(ReaderTest, takes_columns_by_name_and_by_number) {
  EXPECT_THAT(read_named("x,y\n1,2\n", {.given = {{0, "y"}, {1, "x"}}}), ElementsAre("2|1"));
  EXPECT_THAT(read_named("x,y\n1,2\n", {.given = {{0, "2"}, {1, "1"}}}), ElementsAre("2|1"));
  EXPECT_THAT(read_named("7,8\n1,2\n", {.given = {{0, "2"}, {1, "1"}}}), ElementsAre("8|7", "2|1"));
  EXPECT_THAT(read_named("7,8\n1,2\n", {.given = {{0, "8"}}}), ElementsAre("2|"));
  EXPECT_THAT(read_named("b,y\n1,2\n", {.given = {{0, "b"}}}), ElementsAre("1|"));
  EXPECT_THAT(read_named("x\t1\t2\n", {.given = {{0, "2"}, {1, "1"}}}), ElementsAre("1|x"));
  EXPECT_THAT(read_named("x,y\n", {.given = {{0, "z"}}}),
              ElementsAre("t, line 1, column z: there is no such column"));
  EXPECT_THAT(read_named("x,y\n", {.given = {{0, "0"}}}), ElementsAre(HasSubstr("no such column")));
  EXPECT_THAT(read_named("x,y\n", {.given = {{0, "1"}, {1, "1"}}}),
              ElementsAre("t, line 1, column 1: is named twice"));
  EXPECT_THAT(read_named("{\"x\": 5, \"b\": 6}\n", {.given = {{0, "x"}}}), ElementsAre("5|6"));
}

TEST_F(ReaderTest, guesses_names_if_one_column_fits) {
  constexpr std::array<std::string_view, 2> k_others{"src from", "sent"};
  const Naming naming{.others = k_others};
  EXPECT_THAT(read_named("From,sent_us\n1,2\n", naming),
              ElementsAre("1|2", "a is From", "b is sent_us"));
  EXPECT_THAT(read_named("a,sent\n1,2\n", naming), ElementsAre("1|2", "b is sent"));
  EXPECT_THAT(read_named("sent_us,sent_ms\n1,2\n", naming), ElementsAre("|"));
  EXPECT_THAT(read_named("{\"src\": 5, \"b\": 6}\n", naming), ElementsAre("5|6", "a is src"));
}

TEST_F(ReaderTest, finds_delimiters_and_skips_comments) {
  EXPECT_THAT(read("# a;b\n\na;b;c\n1;\"2;\";3\n# it's \"\n4,;5;6\n"),
              ElementsAre("4: 1|2;|3", "6: 4,|5|6"));
  EXPECT_THAT(read("a\tb\tc\n1\t\t3\n"), ElementsAre("2: 1||3"));
  EXPECT_THAT(read("a,b,c\n\"#1\",2,3\n#"), ElementsAre("2: #1|2|3"));
  EXPECT_THAT(read("# nothing"), ElementsAre(HasSubstr(" is empty")));
}

TEST_F(ReaderTest, stands_hostile_tables) {
  std::string wide = "a";
  for (int i = 0; i < 1'000'000; ++i) wide += ",x";
  EXPECT_THAT(read(wide + "\n" + wide + "\n"), ElementsAre("2: a||"));
  EXPECT_THAT(read(std::string("a,b,c\n\0,\0\0,1\n", 13)), testing::SizeIs(1));
  EXPECT_THAT(read(std::string(3, '\0')), testing::SizeIs(0));
  EXPECT_THAT(read("a,b,c\n" + std::string(400, '9') + ",,\n"), testing::SizeIs(1));
  EXPECT_THAT(read("a,b,c\n\"" + std::string(std::size_t{17} << 20, 'x')),
              ElementsAre(HasSubstr("quote")));
}

TEST_F(ReaderTest, reads_pieces_of_large_tables_in_order) {
  std::string text = "a,b,c\n";
  std::vector<std::string> expected;
  for (int i = 0; i < 300'000; ++i) {
    text += std::to_string(i) + ",\"a long\nfield with a line end\",1\n";
  }
  const Texts rows = read(text);
  ASSERT_EQ(rows.size(), 300'000u);
  EXPECT_EQ(rows.back(), "600000: 299999|a long\nfield with a line end|1");
}

TEST_F(ReaderTest, names_line_and_column_of_damage) {
  EXPECT_THAT(read(""), ElementsAre(HasSubstr(" is empty")));
  EXPECT_THAT(read("a,a\n"), ElementsAre(", line 1, column a: stands twice in the header"));
  EXPECT_THAT(read("a,b\n1,2\n1,2,3\n"),
              ElementsAre(", line 3: the row has 3 fields, the header 2"));
  EXPECT_THAT(read("a,b\n1,\"2\n"), ElementsAre(", line 2: a quoted field does not end"));
  EXPECT_THAT(read("a,b\n1,2\"\n"), ElementsAre(HasSubstr(", line 2: a quote stands inside")));
  EXPECT_THAT(read("{\"a\": 1}\n{\"a\": 1\n"), ElementsAre(HasSubstr(", line 2")));
  EXPECT_THAT(read("{\"a\": 1}\n[1]\n"), ElementsAre(", line 2: this is no JSON object"));
  EXPECT_THAT(read("{\"a\": 1} {\"a\": 1}\n"), ElementsAre(", line 1: this is no JSON object"));
  EXPECT_THAT(read("{\"a\": [1]}\n"),
              ElementsAre(HasSubstr(", line 1, column a: this is neither")));
  EXPECT_THAT(read("{\"a\": 1, \"a\": 2}\n"), ElementsAre(HasSubstr("column a: the key stands")));
  EXPECT_THAT(read("{\"a\": \"\xFF\"}\n"), ElementsAre(", line 1: the line is no UTF-8"));
}

TEST_F(ReaderTest, names_the_file_that_there_is_no_memory_for) {
  const auto path = folder_.path() / "table";
  std::ofstream(path, std::ios::binary) << "a,b,c\n1,2,3\n";
  set_memory_room(std::uint64_t{4} << 20);
  const std::string kept(std::size_t{128} << 20, 'k');  // what a caller keeps of the rows before
  const Texts rows = read_source(path);
  set_memory_room(0);
  EXPECT_EQ(kept.back(), 'k');
  EXPECT_THAT(rows,
              ElementsAre(HasSubstr("what is read takes more memory than the 4194304 bytes")));
}

TEST(Values, say_why_they_are_none) {
  std::string why;
  std::uint64_t ticks = 0;
  EXPECT_TRUE(parse_ticks("4611686018427387904", ticks, why));
  EXPECT_EQ(ticks, 4611686018427387904u);
  for (const auto& [text, reason] : std::vector<std::pair<std::string, std::string>>{
           {"-5", "\"-5\" is negative"},
           {"4611686018427387905", "\"4611686018427387905\" is too large"},
           {"1.5", "\"1.5\" is no whole number"},
           {"1 ", "\"1 \" is no whole number"}}) {
    EXPECT_FALSE(parse_ticks(text, ticks, why));
    EXPECT_EQ(why, reason);
  }
  EXPECT_EQ(csv_field("a \"b\", c"), "\"a \"\"b\"\", c\"");
  EXPECT_EQ(csv_field("#a"), "\"#a\"");
  std::string line;
  append_json(line, "a\"\n\xFF");
  EXPECT_EQ(line, "\"a\\\"\\u000a\xEF\xBF\xBD\"");
}

}  // namespace
}  // namespace entrain::tables
