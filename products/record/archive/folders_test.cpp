// SPDX-License-Identifier: BSD-3-Clause
#include "record/archive/folders.hpp"

#include <gmock/gmock.h>

#include "record/base/scratch_testing.hpp"

namespace entrain::record {
namespace {

using testing::HasSubstr;

TEST(Folders, paths_lie_in_the_folder_or_beside_it) {
  EXPECT_EQ(anchor_path("/a/t"), "/a/t/traces.otf2");
  EXPECT_EQ(truth_folder("/a/t"), "/a/t.truth");
  EXPECT_EQ(journal_path("/a/t", 3), "/a/t/unfinished/3.journal");
  EXPECT_EQ(buffer_path("/a/t", (std::uint64_t{1} << 32) + 3), "/a/t/unfinished/4294967299.buffer");
}

TEST(Folders, are_made_with_those_above_them) {
  const ScratchFolder scratch;
  const std::string folder = scratch / "some/where/trace";
  EXPECT_EQ(make_archive_folders(folder), "");
  EXPECT_TRUE(std::filesystem::is_directory(unfinished_folder(folder)));
}

TEST(Folders, an_archive_is_not_overwritten) {
  const ScratchFolder scratch;
  put_file(anchor_path(scratch / "whole"), "");
  EXPECT_THAT(make_archive_folders(scratch / "whole"), HasSubstr("holds an archive already"));
  ASSERT_EQ(make_archive_folders(scratch / "begun"), "");
  EXPECT_THAT(make_archive_folders(scratch / "begun"),
              HasSubstr("holds an unfinished archive already"));
  put_file(scratch / "mine/traces.def", "");
  EXPECT_THAT(make_archive_folders(scratch / "mine"), HasSubstr("holds traces.def already"));
  std::filesystem::create_directory(scratch / "empty");
  EXPECT_EQ(make_archive_folders(scratch / "empty"), "");
  std::filesystem::create_directory(scratch / "other");
  std::filesystem::create_directory_symlink("other", scratch / "link");
  EXPECT_THAT(make_archive_folders(scratch / "link"), HasSubstr("is a symbolic link"));
  put_file(scratch / "file", "");
  EXPECT_THAT(make_archive_folders(scratch / "file/trace"), HasSubstr("cannot make the folder"));
}

}  // namespace
}  // namespace entrain::record
