// SPDX-License-Identifier: BSD-3-Clause
#include "base/unfinished.hpp"

#include <unistd.h>

#include <optional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/temp_folder_testing.hpp"

namespace entrain {
namespace {

namespace fs = std::filesystem;

void fill(const TempFolder& root, const fs::path& folder) {
  fs::create_directories(root / folder / "traces");
  for (int i = 0; i < 300; ++i) {
    root.put(folder / "traces" / ("location-" + std::to_string(i) + ".evt"), {});
  }
  root.put(folder / "traces.otf2", {});
}

TEST(RemoveTree, removes_files_and_folders_and_follows_no_link) {
  const TempFolder root;
  fill(root, "a");
  fill(root, "other");
  fs::create_directory_symlink(root / "other", root / "a" / "link");
  remove_tree((root / "a").c_str());
  EXPECT_FALSE(fs::exists(root / "a"));
  EXPECT_TRUE(fs::exists(root / "other" / "traces" / "location-299.evt"));
  remove_tree(root.put("x", {}).c_str());
  EXPECT_FALSE(fs::exists(root / "x"));
  remove_tree((root / "none").c_str());
}

/// remove_all() is for the end of a process, so a process of its own calls it and ends.
template <class Body>
void in_child(Body body) {
  EXPECT_EXIT(body(), testing::ExitedWithCode(0), "");
}

TEST(UnfinishedDeathTest, is_removed_and_nothing_else) {
  const TempFolder root;
  for (const char* name : {"marked", "moved", "done", "other"}) fill(root, name);
  in_child([&] {
    const Unfinished marked(root / "marked");
    Unfinished first(root / "moved");
    const Unfinished moved = std::move(first);
    Unfinished done(root / "done");
    done.take_away();
    Unfinished::remove_all();
    ::_exit(0);
  });
  EXPECT_FALSE(fs::exists(root / "marked"));
  EXPECT_FALSE(fs::exists(root / "moved"));
  EXPECT_TRUE(fs::exists(root / "done" / "traces.otf2"));
  EXPECT_TRUE(fs::exists(root / "other" / "traces.otf2"));
}

TEST(UnfinishedDeathTest, gives_no_final_name_to_what_is_being_removed) {
  const TempFolder root;
  fill(root, "work");
  in_child([&] {
    Unfinished work(root / "work");
    Unfinished::remove_all();
    std::thread([&] {
      work.take_away();  // never returns
      ::_exit(1);
    }).detach();
    ::usleep(20'000);
    ::_exit(0);
  });
}

TEST(Unfinished, are_not_too_many) {
  const TempFolder root;
  std::vector<std::optional<Unfinished>> marks(40);
  for (auto& mark : marks) mark.emplace(root / "none");
  marks.clear();
  const Unfinished long_name(fs::path(std::string(10'000, 'x')));
}

TEST(NotedResult, is_the_last_one) {
  note_result("/a/traces");
  note_result("/b/traces");
  EXPECT_STREQ(noted_result(), "/b/traces");
}

}  // namespace
}  // namespace entrain
