// SPDX-License-Identifier: BSD-3-Clause
#include "base/durable.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "base/temp_folder_testing.hpp"

namespace entrain {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

TEST(Durable, files_and_folders_are_and_what_is_missing_is_named) {
  const TempFolder folder;
  fs::create_directories(folder / "a/b");
  folder.put("a/x", {});
  folder.put("a/b/y", {});
  fs::create_symlink("nowhere", folder / "a/b/link");
  EXPECT_TRUE(make_tree_durable(folder.path()));
  EXPECT_TRUE(make_durable(folder / "a/x"));
  for (const auto& refused : {make_durable(folder / "z"), make_tree_durable(folder / "z")}) {
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::output);
    EXPECT_THAT(refused.error().message, HasSubstr((folder / "z").string()));
  }
}

TEST(Durable, several_files_are_at_once_and_the_first_missing_one_is_named) {
  const TempFolder folder;
  EXPECT_TRUE(make_durable(std::vector<fs::path>{}));
  std::vector<fs::path> files;
  for (int i = 0; i < 40; ++i) {
    folder.put(std::to_string(i), {});
    files.push_back(folder / std::to_string(i));
  }
  EXPECT_TRUE(make_durable(files));
  files[20] = folder / "none";
  const auto refused = make_durable(files);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr((folder / "none").string()));
}

TEST(Durable, a_folder_behind_a_link_is) {
  const TempFolder folder;
  fs::create_directory(folder / "a");
  fs::create_directory_symlink("a", folder / "link");
  EXPECT_TRUE(make_durable(folder / "link"));
}

TEST(Durable, a_name_is_or_the_sentence_says_that_all_is_there) {
  const TempFolder folder;
  fs::create_directories(folder / "a/b");
  EXPECT_TRUE(make_name_durable(folder / "a/b/x"));
  EXPECT_TRUE(make_name_durable("x"));
  const auto refused = make_name_durable(folder / "none/x");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message,
              HasSubstr((folder / "none/x").string() + " is complete, but a loss of power"));
}

}  // namespace
}  // namespace entrain
