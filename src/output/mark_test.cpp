// SPDX-License-Identifier: BSD-3-Clause
#include "output/mark.hpp"

#include <sys/stat.h>

#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/temp_folder_testing.hpp"
#include "output/outputs_testing.hpp"

namespace entrain {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using namespace testing_outputs;
using testing::HasSubstr;

TEST(Marks, say_that_a_verdict_was_unproven) {
  const TempFolder root;
  const auto is_unproven = [](const fs::path& path) { return any_unproven(std::array{path}); };
  for (const bool unproven : {false, true}) {
    const fs::path name = root / (unproven ? "doubtful" : "proven");
    auto output = OutputFolder::create(name, {});
    ASSERT_TRUE(output);
    put(output->path() / "file");
    ASSERT_TRUE(output->commit(unproven));
    EXPECT_EQ(is_unproven(name), unproven);
    EXPECT_EQ(is_unproven(name / "file"), unproven);
    EXPECT_TRUE(check_own_folder(name));

    put(root / "single");
    mark_file(root / "single", unproven);
    EXPECT_TRUE(check_own_file(root / "single"));
    EXPECT_EQ(is_unproven(root / "single"), unproven);
  }
  EXPECT_FALSE(is_unproven(root / "nowhere"));
  // What is no part of the result, or was changed, is none.
  put(root / "doubtful" / "other");
  EXPECT_FALSE(is_unproven(root / "doubtful" / "other"));
  mark_file(root / "doubtful" / "file");  // a later result in its place
  EXPECT_FALSE(is_unproven(root / "doubtful" / "file"));
  put(root / "single", "something else");
  EXPECT_FALSE(is_unproven(root / "single"));
}

TEST(Marks, of_folders_list_what_is_in_them_whatever_its_name) {
  const TempFolder root;
  const auto make = [&] {
    auto output = OutputFolder::create(root / "out", {.force = true, .inputs = {}});
    if (!output) return false;
    fs::create_directory(output->path() / "in");
    put(output->path() / "in" / "line\nbreak");
    put(output->path() / "back\\slash");
    fs::create_symlink("nowhere", output->path() / "link");
    return ::mkfifo((output->path() / "fifo").c_str(), 0600) == 0 && output->commit().has_value();
  };
  ASSERT_TRUE(make());
  EXPECT_TRUE(make());  // all of it is the result's
  const auto expect_other = [&](const char* old, const char* name) {
    fs::rename(root / "out" / old, root / "out" / name);
    const auto refused = check_own_folder(root / "out");
    ASSERT_FALSE(refused) << name;
    EXPECT_THAT(refused.error().message, HasSubstr("was added or changed"));
    fs::rename(root / "out" / name, root / "out" / old);
    EXPECT_TRUE(check_own_folder(root / "out"));
  };
  // Names that a line of the mark could take for the old ones.
  expect_other("in/line\nbreak", "in/line\\nbreak");
  expect_other("back\\slash", "back\\\\slash");
  expect_other("back\\slash", "slash");
  fs::remove(root / "out" / "link");
  fs::create_directory(root / "out" / "link");
  EXPECT_FALSE(check_own_folder(root / "out"));
}

TEST(Marks, hold_for_files_that_a_fast_clock_stamped) {
  const TempFolder root;
  auto output = OutputFolder::create(root / "out", {});
  ASSERT_TRUE(output);
  put(output->path() / "a");
  const auto late = fs::file_time_type::clock::now() + 1h;
  fs::last_write_time(output->path() / "a", late);
  ASSERT_TRUE(output->commit());
  EXPECT_TRUE(check_own_folder(root / "out"));
  fs::last_write_time(root / "out" / "a", late + 1s);
  EXPECT_FALSE(check_own_folder(root / "out"));
}

TEST(Marks, of_folders_are_refused_where_these_cannot_be_read) {
  const TempFolder root;
  for (const auto& result : {mark_finished(root / "none"), mark_unfinished(root / "none")}) {
    ASSERT_FALSE(result);
    EXPECT_THAT(result.error().message, HasSubstr((root / "none").string()));
  }
  const auto refused = check_own_folder(root / "none");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("no mark"));
}

TEST(Marks, of_files_are_whole_or_none) {
  const TempFolder root;
  const auto why = [&](const std::string& text) {
    put(root / "file", text);
    const auto result = check_own_file(root / "file");
    return result ? std::string() : result.error().message;
  };
  ASSERT_TRUE(make_file(root / "out", "text"));
  const std::string whole = content_of(root / "out");
  EXPECT_EQ(why(whole), "");  // a copy
  const std::string begin = "written by entrain ";
  for (const std::string& none :
       {begin, begin + "0.1.0", begin + "0.1.0 crc32 ", begin + "0.1.0 crc32 0123456",
        begin + "0.1.0 crc32 0123456G", begin + "0.1.0 crc32 0123456F",
        begin + std::string(33, '1') + " crc32 01234567", std::string(5000, ' ') + whole}) {
    EXPECT_THAT(why(none), HasSubstr("it has no mark")) << none;
  }
  EXPECT_THAT(why(begin + std::string(32, '1') + " crc32 01234567"), HasSubstr("it was changed"));
  EXPECT_THAT(why(whole + " "), HasSubstr("it was changed"));
  EXPECT_THAT(why(" " + whole), HasSubstr("it was changed"));
}

TEST(Marks, of_large_files_cover_all_of_them) {
  const TempFolder root;
  std::string text(std::size_t{5} << 19, 'x');  // two and a half blocks
  ASSERT_TRUE(make_file(root / "out", text));
  EXPECT_TRUE(check_own_file(root / "out"));
  std::string changed = content_of(root / "out");
  ++changed.back();
  put(root / "out", changed);
  EXPECT_FALSE(check_own_file(root / "out"));
}

TEST(Marks, of_what_is_no_file_are_none) {
  const TempFolder root;
  for (const fs::path& path : {root / "none", root.path()}) {
    const auto refused = check_own_file(path);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("it cannot be read"));
    EXPECT_FALSE(complete_mark(path));
  }
  mark_file(root / "none");  // does nothing
  EXPECT_FALSE(fs::exists(root / "none"));
}

}  // namespace
}  // namespace entrain
