// SPDX-License-Identifier: BSD-3-Clause
#include "base/record_sorter.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "base/temp_folder_testing.hpp"

namespace entrain {
namespace {

struct Row {
  SortKey key;
  std::string text;
};

std::vector<Row> random_rows(std::size_t count) {
  RandomStream random(1, 2);
  std::vector<Row> rows;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t size = random.below(50) == 0 ? 3000 : random.below(20);
    rows.push_back({{static_cast<std::int64_t>(random.below(30)) - 10,
                     static_cast<std::int64_t>(random.below(3))},
                    std::to_string(i) + std::string(size, 'x')});
  }
  return rows;
}

std::vector<std::string> sorted(RecordSorter& sorter, const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    EXPECT_TRUE(sorter.add(row.key, {row.text.substr(0, 1), row.text.substr(1)}));
  }
  std::vector<std::string> seen;
  EXPECT_TRUE(sorter.for_each([&](std::string_view record) -> Result<void> {
    seen.emplace_back(record);
    return {};
  }));
  return seen;
}

TEST(RecordSorter, gives_the_same_order_in_memory_and_in_files) {
  const TempFolder folder;
  for (const std::size_t count : {0, 1, 500}) {
    const std::vector<Row> rows = random_rows(count);
    std::vector<Row> expected = rows;
    std::stable_sort(expected.begin(), expected.end(),
                     [](const Row& a, const Row& b) { return a.key < b.key; });
    for (const std::size_t most : {std::size_t{1} << 30, std::size_t{20000}, std::size_t{1}}) {
      const auto spill = folder / "spill";
      {
        RecordSorter sorter(spill, most);
        const std::vector<std::string> seen = sorted(sorter, rows);
        ASSERT_EQ(seen.size(), rows.size());
        for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(seen[i], expected[i].text);
        const bool spills = most < 100000 && count > (most > 1 ? 1 : 0);
        EXPECT_EQ(std::filesystem::exists(spill), spills) << count;
      }
      EXPECT_FALSE(std::filesystem::exists(spill));
    }
  }
}

TEST(RecordSorter, ends_with_the_error_of_the_receiver) {
  const TempFolder folder;
  RecordSorter sorter(folder / "spill", 1);
  ASSERT_TRUE(sorter.add({1, 1}, {"a"}));
  const auto result = sorter.for_each(
      [](std::string_view) -> Result<void> { return fail(ErrorKind::interrupted, "stop"); });
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::interrupted);
}

TEST(RecordSorter, tells_of_a_file_that_cannot_be_made) {
  const TempFolder folder;
  RecordSorter sorter(folder / "none" / "spill", 1);
  EXPECT_FALSE(sorter.add({1, 1}, {"a"}));
}

}  // namespace
}  // namespace entrain
