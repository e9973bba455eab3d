// SPDX-License-Identifier: BSD-3-Clause
#include "base/staging.hpp"

#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>

namespace entrain {
namespace {

namespace fs = std::filesystem;

class Staging : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "entrain-staging-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
  }
  void TearDown() override { fs::remove_all(root_); }

  static void put(const fs::path& path) { std::ofstream(path) << "content"; }
  [[nodiscard]] std::size_t entries() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(root_), fs::directory_iterator()));
  }

  fs::path root_;
};

TEST_F(Staging, appears_only_on_commit) {
  auto staged = StagedDirectory::create(root_ / "out", false);
  ASSERT_TRUE(staged) << staged.error().message;
  put(staged->path() / "a");
  EXPECT_FALSE(fs::exists(root_ / "out"));
  ASSERT_TRUE(staged->commit());
  EXPECT_TRUE(fs::exists(root_ / "out" / "a"));
  EXPECT_EQ(entries(), 1u);
}

TEST_F(Staging, leaves_nothing_without_commit) {
  {
    auto staged = StagedDirectory::create(root_ / "deep" / "out", false);
    ASSERT_TRUE(staged);
    put(staged->path() / "a");
  }
  EXPECT_TRUE(fs::is_empty(root_ / "deep"));
}

TEST_F(Staging, refuses_an_existing_folder) {
  fs::create_directory(root_ / "out");
  const auto staged = StagedDirectory::create(root_ / "out", false);
  ASSERT_FALSE(staged);
  EXPECT_EQ(staged.error().kind, ErrorKind::output);
}

TEST_F(Staging, replaces_only_archives) {
  fs::create_directory(root_ / "out");
  put(root_ / "out" / "thesis.tex");
  EXPECT_FALSE(StagedDirectory::create(root_ / "out", true));
  put(root_ / "out" / "traces.otf2");
  EXPECT_FALSE(StagedDirectory::create(root_ / "out", true));
  fs::remove(root_ / "out" / "thesis.tex");
  fs::create_directory(root_ / "out" / "traces");
  put(root_ / "out" / "traces" / "0.evt");
  put(root_ / "out" / "traces" / "notes.txt");
  EXPECT_FALSE(StagedDirectory::create(root_ / "out", true));
  fs::remove(root_ / "out" / "traces" / "notes.txt");
  {
    auto staged = StagedDirectory::create(root_ / "out", true);
    ASSERT_TRUE(staged);
    put(staged->path() / "new");
    ASSERT_TRUE(staged->commit());
  }
  EXPECT_TRUE(fs::exists(root_ / "out" / "new"));
  EXPECT_FALSE(fs::exists(root_ / "out" / "traces.otf2"));
  EXPECT_EQ(entries(), 1u);
}

TEST_F(Staging, does_not_overwrite_what_appeared_meanwhile) {
  auto staged = StagedDirectory::create(root_ / "out", false);
  ASSERT_TRUE(staged);
  fs::create_directory(root_ / "out");
  EXPECT_FALSE(staged->commit());
}

}  // namespace
}  // namespace entrain
