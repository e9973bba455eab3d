// SPDX-License-Identifier: BSD-3-Clause
#include "record/base/journal.hpp"

#include <gtest/gtest.h>

#include <set>

#include "record/base/scratch_testing.hpp"

namespace entrain::record {
namespace {

TEST(Journal, lines_are_in_the_file_at_once) {
  const ScratchFolder scratch;
  const std::string path = scratch / "0.journal";
  Journal journal;
  journal.add({"before", "1"});
  ASSERT_TRUE(journal.open(path));
  EXPECT_EQ(content_of(path), "before\t1\n");
  journal.add_all({{"a"}, {"b", "", "c"}});
  EXPECT_EQ(content_of(path), "before\t1\na\nb\t\tc\n");
  EXPECT_EQ(journal.text(), content_of(path));
  Journal second;
  EXPECT_FALSE(second.open(path));  // it exists
  journal.remove();
  EXPECT_FALSE(std::filesystem::exists(path));
  journal.add({"after"});  // no file, no harm
}

TEST(Journal, words_are_cleaned) {
  EXPECT_EQ(clean_word("a\tb\nc\rd"), "a b c d");
  EXPECT_EQ(clean_word(""), "");
}

TEST(Journal, keys_stay_short) {
  EXPECT_EQ(short_key("world:0/1:0"), "world:0/1:0");
  std::string key = "world:0", other = "world:1";
  std::set<std::string> keys;
  for (int i = 0; i < 2000; ++i) {
    key = short_key(key + "/0:0");
    other = short_key(other + "/0:0");
    EXPECT_LE(key.size(), 120u);
    keys.insert(key);
    keys.insert(other);
  }
  EXPECT_EQ(keys.size(), 4000u);
}

}  // namespace
}  // namespace entrain::record
