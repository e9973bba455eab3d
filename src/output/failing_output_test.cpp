// SPDX-License-Identifier: BSD-3-Clause
//
// Outputs on disks and file systems that refuse what an output wants of them.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/failing_calls_testing.hpp"
#include "base/temp_folder_testing.hpp"
#include "output/outputs_testing.hpp"

namespace entrain {
namespace {

namespace fs = std::filesystem;
using namespace testing_outputs;
using testing::HasSubstr;
using testing::Not;

#ifdef SYS_rename
constexpr std::uint32_t k_plain_rename = SYS_rename, k_make_folder = SYS_mkdir;
#else
constexpr std::uint32_t k_plain_rename = SYS_renameat, k_make_folder = SYS_mkdirat;
#endif

struct FailingSystem : testing::Test {
  void SetUp() override {
    if (!run_while_failing({}, [] {})) GTEST_SKIP() << "the kernel has no filters of calls";
  }
  /// The message names the output as the user did, and no hidden folder; nothing hidden is left.
  void expect_refused(const Result<void>& result, const std::string& reason,
                      std::ptrdiff_t entries_left = 0) const {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, ErrorKind::output);
    EXPECT_THAT(result.error().message, HasSubstr((root / "out").string()));
    EXPECT_THAT(result.error().message, HasSubstr(reason));
    EXPECT_THAT(result.error().message, Not(HasSubstr("partial")));
    EXPECT_EQ(entries(root.path()), entries_left);
  }
  TempFolder root;
};

/// Some file systems know no flags of renames (NFS), some only those that exchange nothing.
struct FailingRenames : FailingSystem, testing::WithParamInterface<FailingCall> {};

INSTANTIATE_TEST_SUITE_P(Flags, FailingRenames,
                         testing::Values(FailingCall{SYS_renameat2, EINVAL},
                                         FailingCall{SYS_renameat2, EINVAL, 4, RENAME_EXCHANGE}),
                         [](const auto& which) { return which.index == 0 ? "none" : "some"; });

TEST_P(FailingRenames, a_file_appears_and_is_replaced) {
  Result<void> made, refused, replaced;
  ASSERT_TRUE(run_while_failing({GetParam()}, [&] {
    made = make_file(root / "out", "1");
    refused = make_file(root / "out", "2");
    replaced = make_file(root / "out", "3", true);
  }));
  EXPECT_TRUE(made) << made.error().message;
  EXPECT_FALSE(refused);
  EXPECT_TRUE(replaced) << replaced.error().message;
  EXPECT_EQ(content_of(root / "out").back(), '3');
  EXPECT_EQ(entries(root.path()), 1);
}

TEST_P(FailingRenames, a_folder_appears_and_is_replaced) {
  Result<void> made, refused, replaced;
  ASSERT_TRUE(run_while_failing({GetParam()}, [&] {
    made = make_folder(root / "out", "a");
    refused = make_folder(root / "out", "b");
    replaced = make_folder(root / "out", "c", true);
  }));
  EXPECT_TRUE(made) << made.error().message;
  EXPECT_FALSE(refused);
  EXPECT_TRUE(replaced) << replaced.error().message;
  EXPECT_TRUE(fs::exists(root / "out" / "c"));
  EXPECT_FALSE(fs::exists(root / "out" / "a"));
  EXPECT_EQ(entries(root.path()), 1);
}

TEST_P(FailingRenames, what_appeared_meanwhile_stays) {
  for (const bool force : {false, true}) {
    const OutputRule rule{.force = force, .inputs = {}};
    auto file = OutputFile::create(root / "out", rule);
    auto folder = OutputFolder::create(root / "folder", rule);
    ASSERT_TRUE(file && folder);
    put(folder->path() / "a");
    put(root / "out", "mine");
    fs::create_directory(root / "folder");
    put(root / "folder" / "mine");
    Result<void> named, folder_named;
    ASSERT_TRUE(run_while_failing({GetParam()}, [&] {
      named = file->commit();
      folder_named = folder->commit();
    }));
    EXPECT_FALSE(named);
    EXPECT_FALSE(folder_named);
    EXPECT_EQ(content_of(root / "out"), "mine");
    EXPECT_TRUE(fs::exists(root / "folder" / "mine"));
    EXPECT_EQ(entries(root / "folder"), 1);
    fs::remove_all(root / "folder");
    fs::remove(root / "out");
  }
}

TEST_P(FailingRenames, an_empty_folder_that_appeared_meanwhile_is_replaced_with_force_only) {
  for (const bool force : {false, true}) {
    auto folder = OutputFolder::create(root / "out", {.force = force, .inputs = {}});
    ASSERT_TRUE(folder);
    put(folder->path() / "a");
    fs::create_directory(root / "out");
    Result<void> named;
    ASSERT_TRUE(run_while_failing({GetParam()}, [&] { named = folder->commit(); }));
    EXPECT_EQ(named.has_value(), force);
    EXPECT_EQ(fs::exists(root / "out" / "a"), force);
  }
}

TEST_P(FailingRenames, of_two_files_none_appears_alone) {
  for (const bool replaces : {false, true}) {
    if (replaces) {
      ASSERT_TRUE(make_file(root / "first", "old"));
    }
    const OutputRule rule{.force = true, .inputs = {}};
    auto first = OutputFile::create(root / "first", rule);
    auto second = OutputFile::create(root / "second", rule);
    ASSERT_TRUE(first && first->write("new") && second);
    put(root / "second", "mine");
    Result<void> named;
    ASSERT_TRUE(
        run_while_failing({GetParam()}, [&] { named = OutputFile::commit_both(*first, *second); }));
    EXPECT_FALSE(named);
    EXPECT_EQ(fs::exists(root / "first"), replaces);
    EXPECT_EQ(content_of(root / "first").ends_with("old"), replaces);
    EXPECT_EQ(content_of(root / "second"), "mine");
    fs::remove(root / "second");
  }
}

TEST_F(FailingSystem, a_name_that_is_refused_leaves_nothing) {
  Result<void> file, folder;
  ASSERT_TRUE(run_while_failing({{SYS_renameat2, EPERM}}, [&] {
    file = make_file(root / "out", "1");
    folder = make_folder(root / "out", "a");
  }));
  expect_refused(file, "cannot give the result its name");
  expect_refused(folder, "Operation not permitted");
}

TEST_F(FailingSystem, an_old_result_stays_where_the_new_one_gets_no_name) {
  ASSERT_TRUE(make_file(root / "out", "old"));
  Result<void> file;
  ASSERT_TRUE(run_while_failing({{SYS_renameat2, EPERM, 4, RENAME_EXCHANGE}},
                                [&] { file = make_file(root / "out", "new", true); }));
  expect_refused(file, "Operation not permitted", 1);
  EXPECT_TRUE(content_of(root / "out").ends_with("old"));
  // Nor can it be set aside.
  ASSERT_TRUE(
      run_while_failing({{SYS_renameat2, EINVAL, 4, RENAME_EXCHANGE}, {k_plain_rename, EPERM}},
                        [&] { file = make_file(root / "out", "new", true); }));
  expect_refused(file, "Operation not permitted", 1);
  EXPECT_TRUE(content_of(root / "out").ends_with("old"));
}

TEST_F(FailingSystem, a_full_disk_leaves_nothing) {
  Result<void> file, folder;
  ASSERT_TRUE(run_while_failing({{SYS_write, ENOSPC}}, [&] {
    file = make_file(root / "out", "1");
    folder = make_folder(root / "out", "a");
  }));
  expect_refused(file, "No space left");
  expect_refused(folder, "No space left");
}

TEST_F(FailingSystem, a_disk_that_fills_up_leaves_the_old_result) {
  ASSERT_TRUE(make_file(root / "out", "old"));
  const auto fails_with = [&](FailingCall call, const auto& step) {
    Result<void> result;
    {
      auto file = OutputFile::create(root / "out", {.force = true, .inputs = {}});
      ASSERT_TRUE(file && file->write(file_mark() + "new"));
      ASSERT_TRUE(run_while_failing({call}, [&] { result = step(*file); }));
    }
    expect_refused(result, "No space left", 1);
    EXPECT_TRUE(content_of(root / "out").ends_with("old"));
  };
  const auto commit = [](OutputFile& file) { return file.commit(); };
  fails_with({SYS_write, ENOSPC}, [](OutputFile& file) { return file.write("more"); });
  fails_with({SYS_close, ENOSPC}, commit);  // only then some file systems say so
  fails_with({SYS_pwrite64, ENOSPC}, commit);
  fails_with({SYS_fsync, ENOSPC}, commit);
  fails_with({SYS_openat, ENOSPC, 2, O_CREAT}, commit);  // the note that it replaces another
}

TEST_F(FailingSystem, what_does_not_get_onto_the_disk_has_no_name) {
  Result<void> file, folder;
  ASSERT_TRUE(run_while_failing({{SYS_fsync, EIO}}, [&] {
    file = make_file(root / "out", "1");
    folder = make_folder(root / "out", "a");
  }));
  expect_refused(file, "to the disk");
  expect_refused(folder, "to the disk");
}

TEST_F(FailingSystem, a_folder_that_takes_nothing_new_is_named) {
  for (const auto& [call, reason] : {std::pair(FailingCall{k_make_folder, EROFS}, "Read-only"),
                                     {{SYS_openat, EDQUOT, 2, O_CREAT}, "quota"}}) {
    Result<void> file, folder;
    ASSERT_TRUE(run_while_failing({call}, [&] {
      file = make_file(root / "out", "1");
      folder = make_folder(root / "out", "a");
    }));
    expect_refused(file, reason);
    expect_refused(folder, reason);
  }
}

TEST_F(FailingSystem, without_locks_nothing_of_others_is_removed) {
  const fs::path left = left_by_killed_process(root / "out");
  std::uint64_t removed = 1;
  Result<void> made;
  ASSERT_TRUE(run_while_failing({{SYS_flock, ENOLCK}}, [&] {
    removed = removed_for(root / "out");
    made = make_folder(root / "out", "a");
  }));
  EXPECT_EQ(removed, 0u);
  EXPECT_TRUE(made) << made.error().message;
  EXPECT_TRUE(fs::exists(left / "a"));
}

TEST_F(FailingSystem, what_cannot_be_removed_does_not_count_as_removed) {
  const fs::path left = left_by_killed_process(root / "out");
  std::uint64_t removed = 1;
  ASSERT_TRUE(run_while_failing({{SYS_unlinkat, EBUSY}}, [&] {
    const auto output = OutputFolder::create(root / "out", {});
    removed = output ? output->leftovers_removed() : 1;
  }));
  EXPECT_EQ(removed, 0u);
  EXPECT_TRUE(fs::exists(left / "a"));
}

TEST_F(FailingSystem, a_taken_file_has_no_mark_where_there_are_no_attributes) {
  Result<void> made;
  ASSERT_TRUE(run_while_failing({{SYS_setxattr, EOPNOTSUPP}}, [&] {
    auto file = OutputFile::create(root / "out", {});
    if (!file) return;
    fs::create_directory(file->workshop());
    put(file->workshop() / "any", "taken");
    made = file->take(file->workshop() / "any");
    if (made) made = file->commit();
  }));
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(content_of(root / "out"), "taken");
  EXPECT_FALSE(make_file(root / "out", "1", true));
  EXPECT_EQ(content_of(root / "out"), "taken");
}

TEST_F(FailingSystem, a_file_that_cannot_be_taken_is_refused) {
  Result<void> taken;
  {
    auto file = OutputFile::create(root / "out", {});
    ASSERT_TRUE(file);
    fs::create_directory(file->workshop());
    put(file->workshop() / "any");
    ASSERT_TRUE(run_while_failing({{k_plain_rename, EXDEV}},
                                  [&] { taken = file->take(file->workshop() / "any"); }));
  }
  expect_refused(taken, "cannot give the result its name");
}

/// What somebody else does at the worst moment.
struct Meddled : FailingSystem {
  void SetUp() override {
    if (!run_while_meddling(
            SYS_renameat2, [] { return 0; }, [] {})) {
      GTEST_SKIP() << "calls cannot be interrupted here";
    }
  }
  /// Runs `commit` while somebody does `act` before its rename number `turn`, counted from 1.
  template <class Commit>
  Result<void> before_rename(int turn, const std::function<void()>& act, const Commit& commit) {
    Result<void> result;
    int renames = 0;
    const auto meddle = [&] {
      if (++renames == turn) act();
      return 0;
    };
    EXPECT_TRUE(run_while_meddling(SYS_renameat2, meddle, [&] { result = commit(); }));
    EXPECT_GE(renames, turn);
    return result;
  }
};

TEST_F(Meddled, what_takes_the_place_of_an_old_result_goes_back_to_it) {
  const OutputRule rule{.force = true, .inputs = {}};
  ASSERT_TRUE(make_file(root / "file", "old"));
  ASSERT_TRUE(make_folder(root / "folder", "old"));
  {
    auto file = OutputFile::create(root / "file", rule);
    auto folder = OutputFolder::create(root / "folder", rule);
    ASSERT_TRUE(file && folder);
    // The first rename finds something there, the second one exchanges.
    const auto refused = before_rename(
        2, [&] { put(root / "file", "mine"); }, [&] { return file->commit(); });
    EXPECT_FALSE(refused);
    EXPECT_EQ(content_of(root / "file"), "mine");
    const auto folder_refused = before_rename(
        2, [&] { put(root / "folder" / "mine"); }, [&] { return folder->commit(); });
    EXPECT_FALSE(folder_refused);
    EXPECT_TRUE(fs::exists(root / "folder" / "mine"));
    EXPECT_TRUE(fs::exists(root / "folder" / "old"));
  }
  EXPECT_EQ(entries(root.path()), 2);
}

TEST_F(Meddled, an_old_result_that_vanishes_is_missed) {
  ASSERT_TRUE(make_file(root / "out", "old"));
  Result<void> refused;
  {
    auto file = OutputFile::create(root / "out", {.force = true, .inputs = {}});
    ASSERT_TRUE(file);
    refused = before_rename(
        2, [&] { fs::remove(root / "out"); }, [&] { return file->commit(); });
  }
  expect_refused(refused, "cannot give the result its name");
}

TEST_F(Meddled, a_name_that_two_files_give_back_is_taken_from_nobody) {
  for (const bool replaces : {false, true}) {
    fs::remove(root / "first");
    if (replaces) {
      ASSERT_TRUE(make_file(root / "first", "old"));
    }
    put(root / "second", "theirs");
    {
      const OutputRule rule{.force = true, .inputs = {}};
      fs::rename(root / "second", root / "aside");
      auto first = OutputFile::create(root / "first", rule);
      auto second = OutputFile::create(root / "second", rule);
      ASSERT_TRUE(first && second);
      fs::rename(root / "aside", root / "second");
      const auto refused = before_rename(
          replaces ? 4 : 3,
          [&] {
            fs::remove(root / "first");
            put(root / "first", "mine");
          },
          [&] { return OutputFile::commit_both(*first, *second); });
      EXPECT_FALSE(refused);
    }
    EXPECT_EQ(content_of(root / "first"), "mine");
    EXPECT_EQ(content_of(root / "second"), "theirs");
    EXPECT_EQ(entries(root.path()), 2);
  }
}

TEST_F(Meddled, an_old_folder_that_gets_something_new_stays_aside) {
  ASSERT_TRUE(make_folder(root / "out", "old"));
  auto folder = OutputFolder::create(root / "out", {.force = true, .inputs = {}});
  ASSERT_TRUE(folder);
  put(folder->path() / "new");
  const fs::path hidden = folder->path();
  const auto meddle = [&] {
    if (fs::exists(hidden / "old")) put(hidden / "mine");
    return 0;
  };
  Result<void> result;
  ASSERT_TRUE(run_while_meddling(SYS_fsync, meddle, [&] { result = folder->commit(); }));
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("is complete, and its old result got something"));
  EXPECT_THAT(result.error().message, HasSubstr("is now " + hidden.string()));
  EXPECT_TRUE(fs::exists(root / "out" / "new"));
  EXPECT_TRUE(fs::exists(hidden / "mine"));
}

TEST_F(Meddled, an_old_folder_stays_aside_until_the_name_of_the_new_one_is_on_the_disk) {
  ASSERT_TRUE(make_folder(root / "out", "old"));
  ASSERT_TRUE(make_file(root / "file", "old"));
  const OutputRule rule{.force = true, .inputs = {}};
  auto folder = OutputFolder::create(root / "out", rule);
  auto file = OutputFile::create(root / "file", rule);
  ASSERT_TRUE(folder && file && file->write("new"));
  put(folder->path() / "new");
  const auto meddle = [&, hidden = folder->path()] {
    return fs::exists(hidden / "old") || content_of(root / "file") == "new" ? EIO : 0;
  };
  Result<void> folder_named, named;
  ASSERT_TRUE(run_while_meddling(SYS_fsync, meddle, [&] {
    folder_named = folder->commit();
    if (fs::exists(folder->path() / "old")) fs::remove(folder->path() / "old");
    named = file->commit();
  }));
  ASSERT_FALSE(folder_named);
  EXPECT_THAT(folder_named.error().message, HasSubstr("a loss of power may undo it"));
  EXPECT_THAT(folder_named.error().message, HasSubstr("what stood there before is now"));
  EXPECT_TRUE(fs::exists(root / "out" / "new"));
  ASSERT_FALSE(named);
  EXPECT_THAT(named.error().message, HasSubstr("a loss of power may undo it"));
  EXPECT_EQ(content_of(root / "file"), "new");
}

/// Takes the rights of another user, who may do nothing special, until the end of the scope.
class AnotherUser {
 public:
  AnotherUser() { is_changed_ = ::geteuid() == 0 && ::seteuid(k_nobody) == 0; }
  ~AnotherUser() {
    if (is_changed_ && ::seteuid(0) != 0) std::abort();
  }
  AnotherUser(const AnotherUser&) = delete;
  AnotherUser& operator=(const AnotherUser&) = delete;
  [[nodiscard]] bool is_changed() const { return is_changed_; }

 private:
  static constexpr uid_t k_nobody = 65534;
  bool is_changed_ = false;
};

TEST(OutputRights, what_may_not_be_looked_at_is_not_replaced) {
  const TempFolder root;
  ASSERT_TRUE(make_folder(root / "out", "a"));
  fs::permissions(root.path(), fs::perms::none);
  Result<void> refused;
  {
    const AnotherUser other;
    refused = OutputFolder::check(root / "out", {.force = true, .inputs = {}});
  }
  fs::permissions(root.path(), fs::perms::owner_all);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("cannot look at " + (root / "out").string()));
}

TEST(OutputRights, a_folder_of_another_user_is_not_replaced) {
  const TempFolder root;
  ASSERT_TRUE(make_folder(root / "out", "a"));
  ASSERT_TRUE(make_file(root / "file", ""));
  fs::permissions(root.path(), fs::perms::all);
  const AnotherUser other;
  if (!other.is_changed()) GTEST_SKIP() << "only root can become another user";
  const auto refused = make_folder(root / "out", "b", true);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("because it is another user's"));
  EXPECT_TRUE(make_file(root / "file", "", true));  // which needs no right but that of the folder
}

TEST(OutputRights, what_another_user_left_stays) {
  const TempFolder root;
  const fs::path left = left_by_killed_process(root / "out");
  fs::permissions(root.path(), fs::perms::all);
  fs::permissions(left, fs::perms::all);
  const AnotherUser other;
  if (!other.is_changed()) GTEST_SKIP() << "only root can become another user";
  EXPECT_EQ(removed_for(root / "out"), 0u);
  EXPECT_TRUE(fs::exists(left / "a"));
}

TEST(OutputRights, what_may_not_be_read_has_no_mark) {
  const TempFolder root;
  fs::permissions(root.path(), fs::perms::all);
  ASSERT_TRUE(make_file(root / "out", ""));
  fs::permissions(root / "out", fs::perms::none);
  const AnotherUser other;
  const auto refused = make_file(root / "out", "", true);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("because it cannot be read"));
}

}  // namespace
}  // namespace entrain
