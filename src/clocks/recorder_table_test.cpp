// SPDX-License-Identifier: BSD-3-Clause
#include "clocks/recorder_table.hpp"

#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace entrain::clocks {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Table : public ::testing::Test {
 protected:
  ~Table() override { std::filesystem::remove(path_); }

  Result<void> read(const std::string& text) {
    std::ofstream(path_, std::ios::binary) << text;
    return read_existing();
  }
  Result<void> read_existing() {
    rows_.clear();
    return read_recorder_table(path_, {"a,b", "this is no row", "do without"},
                               [&](RecorderRow words) -> std::string_view {
                                 rows_.emplace_back(words[0]).append(",").append(words[1]);
                                 return words[1] == "bad" ? "this is bad" : "";
                               });
  }

  std::filesystem::path path_ =
      std::filesystem::path(::testing::TempDir()) /
      (std::string("recorder_table_") +
       ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".csv");
  std::vector<std::string> rows_;
};

TEST_F(Table, gives_rows_without_comments_and_columns) {
  ASSERT_TRUE(read("# by the recorder\na,b\n1,2\n# more\n3,4\n"));
  EXPECT_THAT(rows_, ElementsAre("1,2", "3,4"));
}

TEST_F(Table, may_have_no_rows_but_must_have_columns) {
  EXPECT_TRUE(read("a,b\n"));
  EXPECT_THAT(rows_, IsEmpty());
  EXPECT_FALSE(read(""));
  EXPECT_FALSE(read("# only a comment\n"));
  EXPECT_THAT(read("a,c\n").error().message, HasSubstr("line 1: these are not the columns"));
}

TEST_F(Table, refuses_a_row_with_file_line_and_remedy) {
  for (const auto& [row, why] :
       {std::pair("3,bad", "this is bad"), {"3", "this is no row"}, {"3,4,5", "this is no row"}}) {
    const auto refused = read(fmt::format("# x\na,b\n1,2\n{}\n5,6\n", row));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::input);
    EXPECT_EQ(refused.error().message,
              fmt::format("{}, line 4: {}; do without", path_.string(), why));
    EXPECT_NE(rows_.back(), "5,6") << "nothing is read after it";
  }
}

TEST_F(Table, reads_numbers) {
  std::uint64_t size = 0;
  std::int64_t offset = 0;
  const std::vector<std::string_view> words{"7", "-3"};
  EXPECT_TRUE(read_numbers(words, size, offset));
  EXPECT_EQ(size, 7u);
  EXPECT_EQ(offset, -3);
  for (const std::vector<std::string_view>& bad :
       {std::vector<std::string_view>{"-7", "3"}, {"7", "3 "}, {"", "3"}, {"7", "x"}}) {
    EXPECT_FALSE(read_numbers(bad, size, offset));
  }
}

TEST_F(Table, that_is_not_there_is_refused) {
  const auto refused = read_existing();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "cannot open " + path_.string() + ": No such file or directory; do without");
}

TEST_F(Table, needs_no_end_of_its_last_line) {
  ASSERT_TRUE(read("a,b\n1,2\n3,4"));
  EXPECT_THAT(rows_, ElementsAre("1,2", "3,4"));
}

TEST_F(Table, may_be_longer_than_what_is_read_at_a_time) {
  std::string text = "a,b\n";
  const int count = 100'000;
  for (int i = 0; i < count; ++i) text += std::to_string(i) + ",7\n";
  ASSERT_TRUE(read(text));
  ASSERT_EQ(rows_.size(), std::size_t{count});
  for (int i = 0; i < count; ++i)
    ASSERT_EQ(rows_[static_cast<std::size_t>(i)], std::to_string(i) + ",7");
}

TEST_F(Table, of_no_end_is_refused) {
  ASSERT_TRUE(read("a,b\n"));
  std::filesystem::resize_file(path_, std::uint64_t{1} << 40);
  EXPECT_EQ(read_existing().error().message,
            path_.string() +
                " has 1099511627776 bytes, more than the 68719476736 that such a file may have; do "
                "without");
  std::filesystem::resize_file(path_, std::uint64_t{1} << 30);
  EXPECT_EQ(read_existing().error().message,
            path_.string() + " has a line of more than 65536 bytes; do without");
  std::filesystem::remove(path_);
  std::filesystem::create_symlink("/dev/zero", path_);
  EXPECT_EQ(read_existing().error().message, path_.string() + " is not a regular file; do without");
}

}  // namespace
}  // namespace entrain::clocks
