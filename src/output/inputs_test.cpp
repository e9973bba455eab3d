// SPDX-License-Identifier: BSD-3-Clause
#include "output/inputs.hpp"

#include <fstream>

#include <gtest/gtest.h>

#include "base/temp_folder_testing.hpp"

namespace entrain {
namespace {

namespace fs = std::filesystem;

/// A folder "run" with the file "a", and "other" with "b".
struct Inputs_ : testing::Test {
  Inputs_() {
    for (const char* folder : {"run", "run/inner", "other"}) fs::create_directory(root / folder);
    std::ofstream(root / "run" / "a") << "a";
    std::ofstream(root / "other" / "b") << "b";
  }
  [[nodiscard]] bool apart(const fs::path& target) const {
    return inputs.check_apart(target).has_value();
  }
  TempFolder root;
  Inputs inputs;
};

TEST_F(Inputs_, a_file_keeps_itself_and_the_folders_around_it) {
  inputs.add_file(root / "run" / "a");
  EXPECT_FALSE(apart(root / "run" / "a"));
  EXPECT_FALSE(apart(root / "run"));
  EXPECT_FALSE(apart(root.path()));
  EXPECT_FALSE(apart("/"));
  EXPECT_TRUE(apart(root / "run" / "beside"));
  EXPECT_TRUE(apart(root / "other"));
  EXPECT_TRUE(apart(root / "other" / "b"));
}

TEST_F(Inputs_, a_folder_keeps_all_that_is_in_it) {
  inputs.add_folder((root / "run").string() + "/");
  for (const char* path : {"run", "run/", "run/a", "run/new", "run/inner/new", "run/x/y/z"}) {
    EXPECT_FALSE(apart(root / path)) << path;
  }
  EXPECT_FALSE(apart(root.path()));
  EXPECT_TRUE(apart(root / "running"));
}

TEST_F(Inputs_, links_and_other_spellings_lead_nowhere_else) {
  inputs.add_folder(root / "run");
  fs::create_directory_symlink("run", root / "link");
  fs::create_hard_link(root / "run" / "a", root / "hard");
  EXPECT_FALSE(apart(root / "link" / "new"));
  EXPECT_FALSE(apart(root / "link"));
  EXPECT_FALSE(apart(root / "other" / ".." / "run" / "new"));
  Inputs file;
  file.add_file(root / "run" / "a");
  EXPECT_FALSE(file.check_apart(root / "hard"));
}

TEST_F(Inputs_, an_input_that_is_a_link_keeps_both_ends) {
  fs::create_symlink(root / "other" / "b", root / "run" / "link");
  inputs.add_file(root / "run" / "link");
  EXPECT_FALSE(apart(root / "other" / "b"));
  EXPECT_FALSE(apart(root / "other"));
  EXPECT_FALSE(apart(root / "run"));
}

TEST_F(Inputs_, what_does_not_exist_is_ignored) {
  inputs.add_file(root / "none" / "a");
  inputs.add_folder("");
  EXPECT_TRUE(apart(root / "run"));
}

}  // namespace
}  // namespace entrain
