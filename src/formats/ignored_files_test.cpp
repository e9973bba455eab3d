// SPDX-License-Identifier: BSD-3-Clause
#include "formats/recording.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace entrain::formats {
namespace {

using Files = std::vector<std::filesystem::path>;

TEST(IgnoredFiles, of_many_files_the_first_ones_are_named) {
  EXPECT_EQ(names_of(Files{}), "");
  EXPECT_EQ(names_of(Files{"x/a.json", "y/b.json", "c.json"}), "a.json, b.json, c.json");
  EXPECT_EQ(names_of(Files{"a.json", "b.json", "c.json", "d.json"}), "a.json, b.json, c.json, ...");
}

TEST(IgnoredFiles, one_file_and_many_are_named) {
  EXPECT_EQ(note_of_ignored(Files{"x/a.json"}, " of x"),
            "1 of the files of x holds no events and is left out: a.json");
  EXPECT_EQ(note_of_ignored(Files{"a.json", "b.json"}, ""),
            "2 of the files hold no events and are left out: a.json, b.json");
}

}  // namespace
}  // namespace entrain::formats
