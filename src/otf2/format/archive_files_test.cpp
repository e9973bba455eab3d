// SPDX-License-Identifier: BSD-3-Clause
#include "otf2/format/archive_files.hpp"

#include <fstream>

#include <gmock/gmock.h>

#include "base/temp_folder_testing.hpp"

namespace entrain::otf2 {
namespace {

namespace fs = std::filesystem;

using ::testing::HasSubstr;

class ArchiveFiles : public ::testing::Test {
 protected:
  ArchiveFiles() { fs::create_directory(out_); }
  void put(const fs::path& name) const { std::ofstream(out_ / name) << "content"; }
  /// The entry that stands against replacing the folder; empty: nothing.
  [[nodiscard]] std::string refusal() const {
    const auto verdict = replaces_archives(true)(out_);
    return verdict ? "" : verdict.error().message;
  }

  TempFolder root_;
  fs::path out_ = root_ / "out";
};

TEST_F(ArchiveFiles, are_all_that_may_be_replaced) {
  EXPECT_EQ(refusal(), "");  // an empty folder
  put("thesis.tex");
  EXPECT_THAT(refusal(), HasSubstr("thesis.tex is no part of an OTF2 archive"));
  put("traces.otf2");
  EXPECT_THAT(refusal(), HasSubstr("thesis.tex"));
  fs::remove(out_ / "thesis.tex");
  fs::create_directory(out_ / "traces");
  for (const char* name : {"traces.def", "traces.marker", "traces.0.thumb", "traces/0.evt",
                           "traces/0.def", "traces/12.snap"}) {
    put(name);
  }
  EXPECT_EQ(refusal(), "");
}

TEST_F(ArchiveFiles, have_the_name_of_the_archive_or_a_number) {
  put("traces.otf2");
  put("other.def");
  EXPECT_THAT(refusal(), HasSubstr("other.def"));
  fs::remove(out_ / "other.def");
  fs::create_directory(out_ / "traces");
  put("traces/x.evt");
  EXPECT_THAT(refusal(), HasSubstr("out/traces is no part"));
  fs::rename(out_ / "traces/x.evt", out_ / "traces/1.txt");
  EXPECT_THAT(refusal(), HasSubstr("out/traces is no part"));
}

TEST_F(ArchiveFiles, of_two_archives_are_too_many) {
  put("a.otf2");
  put("b.otf2");
  EXPECT_NE(refusal(), "");
}

TEST_F(ArchiveFiles, are_not_looked_for_behind_links_and_in_files) {
  fs::create_directory_symlink(out_, root_ / "link");
  EXPECT_FALSE(replaces_archives(true)(root_ / "link"));
  put("file");
  EXPECT_FALSE(replaces_archives(true)(out_ / "file"));
}

TEST_F(ArchiveFiles, are_never_replaced_without_force) { EXPECT_FALSE(replaces_archives(false)); }

}  // namespace
}  // namespace entrain::otf2
