// SPDX-License-Identifier: BSD-3-Clause
#include "base/staging.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "base/temp_folder_testing.hpp"

namespace entrain {
namespace {

namespace fs = std::filesystem;

void put(const fs::path& path) { std::ofstream(path) << "content"; }

std::ptrdiff_t entries(const fs::path& folder) {
  return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
}

/// A rule that replaces everything but folders that hold a file "precious".
Result<void> unless_precious(const fs::path& existing) {
  if (!fs::exists(existing / "precious")) return {};
  return fail(ErrorKind::output, "precious");
}

TEST(Staging, appears_only_on_commit) {
  const TempFolder root;
  auto staged = StagedDirectory::create(root / "out", {});
  ASSERT_TRUE(staged) << staged.error().message;
  put(staged->path() / "a");
  EXPECT_FALSE(fs::exists(root / "out"));
  ASSERT_TRUE(staged->commit());
  EXPECT_TRUE(fs::exists(root / "out" / "a"));
  EXPECT_EQ(entries(root.path()), 1);
}

TEST(Staging, leaves_nothing_without_commit) {
  const TempFolder root;
  {
    auto staged = StagedDirectory::create(root / "deep" / "out", {});
    ASSERT_TRUE(staged);
    put(staged->path() / "a");
  }
  EXPECT_TRUE(fs::is_empty(root / "deep"));
}

TEST(Staging, refuses_an_existing_folder) {
  const TempFolder root;
  fs::create_directory(root / "out");
  const auto staged = StagedDirectory::create(root / "out", {});
  ASSERT_FALSE(staged);
  EXPECT_EQ(staged.error().kind, ErrorKind::output);
}

TEST(Staging, refuses_a_link_that_leads_nowhere) {
  const TempFolder root;
  fs::create_symlink("nowhere", root / "out");
  EXPECT_FALSE(StagedDirectory::check(root / "out", {}));
}

TEST(Staging, replaces_what_the_rule_accepts) {
  const TempFolder root;
  fs::create_directory(root / "out");
  put(root / "out" / "precious");
  const auto refused = StagedDirectory::create(root / "out", unless_precious);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "precious");
  fs::rename(root / "out" / "precious", root / "out" / "old");
  {
    auto staged = StagedDirectory::create(root / "out", unless_precious);
    ASSERT_TRUE(staged);
    put(staged->path() / "new");
    ASSERT_TRUE(staged->commit());
  }
  EXPECT_TRUE(fs::exists(root / "out" / "new"));
  EXPECT_FALSE(fs::exists(root / "out" / "old"));
  EXPECT_EQ(entries(root.path()), 1);
}

TEST(Staging, does_not_ask_the_rule_about_nothing) {
  const TempFolder root;
  const auto never = [](const fs::path&) { return Result<void>(fail(ErrorKind::output, "asked")); };
  EXPECT_TRUE(StagedDirectory::check(root / "out", never));
}

TEST(Staging, does_not_overwrite_a_folder_that_appeared_meanwhile) {
  const TempFolder root;
  auto staged = StagedDirectory::create(root / "out", {});
  ASSERT_TRUE(staged);
  fs::create_directory(root / "out");
  EXPECT_FALSE(staged->commit());
}

/// The folder that a process leaves which is killed before its commit.
fs::path left_by_killed_process(const fs::path& target) {
  const pid_t child = ::fork();
  if (child == 0) {
    auto staged = StagedDirectory::create(target, {});
    if (staged) put(staged->path() / "a");
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  for (const auto& entry : fs::directory_iterator(target.parent_path())) return entry.path();
  return {};
}

TEST(Staging, removes_what_a_killed_process_left) {
  const TempFolder root;
  const fs::path left = left_by_killed_process(root / "out");
  ASSERT_TRUE(fs::exists(left / "a"));
  EXPECT_EQ(StagedDirectory::create(root / "another", {})->leftovers_removed(), 0u);
  EXPECT_TRUE(fs::exists(left));
  EXPECT_EQ(StagedDirectory::create(root / "out", {})->leftovers_removed(), 1u);
  EXPECT_FALSE(fs::exists(left));
}

TEST(Staging, leaves_alone_what_may_be_in_use) {
  const TempFolder root;
  const fs::path left = left_by_killed_process(root / "out");
  const auto survives = [&] {
    return StagedDirectory::create(root / "out", {})->leftovers_removed() == 0;
  };
  {  // somebody holds it, as the process does that another machine calls by that number
    const File holder(::open(left.c_str(), O_RDONLY | O_DIRECTORY));
    ASSERT_EQ(::flock(holder.descriptor(), LOCK_EX | LOCK_NB), 0);
    EXPECT_TRUE(survives());
  }
  const std::string name = left.filename().string();
  const std::size_t host = name.find("partial-") + 8;
  std::string other = name;
  other[host] = other[host] == '0' ? '1' : '0';
  fs::rename(left, root / other);  // of another machine
  EXPECT_TRUE(survives());
  const std::size_t process = name.find('-', host) + 1;
  other = name.substr(0, process) + std::to_string(::getpid()) + "-99";
  fs::rename(*fs::directory_iterator(root.path()), root / other);  // of a living process
  EXPECT_TRUE(survives());
  fs::rename(root / other, root / (name + ".old"));  // the only archive, set aside
  EXPECT_TRUE(survives());
}

TEST(Staging, removes_what_was_set_aside_for_a_folder_that_is_there) {
  const TempFolder root;
  const fs::path left = left_by_killed_process(root / "out");
  const fs::path aside = left.string() + ".old";
  fs::rename(left, aside);
  EXPECT_EQ(StagedDirectory::create(root / "out", {})->leftovers_removed(), 0u);
  EXPECT_TRUE(fs::exists(aside / "a"));
  fs::create_directory(root / "out");
  const auto any = [](const fs::path&) { return Result<void>(); };
  EXPECT_EQ(StagedDirectory::create(root / "out", any)->leftovers_removed(), 1u);
  EXPECT_FALSE(fs::exists(aside));
}

TEST(Staging, an_attached_folder_stays_when_its_helper_ends) {
  const TempFolder root;
  auto staged = StagedDirectory::create(root / "out", {});
  ASSERT_TRUE(staged);
  { const auto view = StagedDirectory::attach(staged->path(), staged->target()); }
  EXPECT_TRUE(fs::exists(staged->path()));
}

}  // namespace
}  // namespace entrain
