// SPDX-License-Identifier: BSD-3-Clause
#include "base/link.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.hpp"
#include "base/temp_folder_testing.hpp"

namespace entrain {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using Bytes = std::vector<std::uint8_t>;

Bytes contents(const fs::path& path) { return read_file(path, 1 << 20).value(); }

/// An original and a staging folder whose content will be renamed to out/.
class Link : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"in", "staging"}) fs::create_directory(folder_ / name);
    from_ = folder_.put("in/0.evt", Bytes{1, 2, 3});
    to_ = folder_ / "staging/0.evt";
  }
  Result<LinkKind> link(LinkKind kind) { return Linker(folder_ / "out", kind).link(from_, to_); }
  void publish() { fs::rename(folder_ / "staging", folder_ / "out"); }

  TempFolder folder_;
  fs::path from_, to_;
};

TEST_F(Link, symbolic_links_are_relative_to_the_final_folder) {
  const auto kind = link(LinkKind::symbolic);
  ASSERT_TRUE(kind) << kind.error().message;
  EXPECT_EQ(*kind, LinkKind::symbolic);
  EXPECT_EQ(fs::read_symlink(to_), fs::path("../in/0.evt"));
  publish();
  EXPECT_EQ(contents(folder_ / "out/0.evt"), (Bytes{1, 2, 3}));
  fs::rename(folder_ / "in", folder_ / "moved");
  EXPECT_FALSE(fs::exists(folder_ / "out/0.evt"));
}

TEST_F(Link, many_links_are_as_one) {
  fs::create_directory(folder_ / "in/deep");
  fs::create_symlink("1.evt", folder_ / "in/link.evt");
  for (const char* name : {"in/1.evt", "in/2.evt", "in/deep/3.evt"}) {
    folder_.put(name, Bytes{4});
  }
  for (const LinkKind kind : {LinkKind::symbolic, LinkKind::automatic}) {
    Linker linker(folder_ / "out", kind);
    for (const char* name : {"0.evt", "1.evt", "link.evt", "2.evt", "deep/3.evt"}) {
      const fs::path from = folder_ / "in" / name, to = folder_ / "staging" / from.filename();
      const auto made = linker.link(from, to);
      ASSERT_TRUE(made) << made.error().message;
      const fs::path alone = folder_ / "staging/alone";
      ASSERT_EQ(*made, *Linker(folder_ / "out", kind).link(from, alone));
      if (*made == LinkKind::symbolic) {
        EXPECT_EQ(fs::read_symlink(to), fs::read_symlink(alone));
      }
      fs::remove(to);
      fs::remove(alone);
    }
    EXPECT_FALSE(linker.link(folder_ / "in/none.evt", to_));
  }
}

TEST_F(Link, of_an_origin_known_as_plain_is_the_same) {
  fs::create_directory(folder_ / "in/deep");
  folder_.put("in/deep/1.evt", Bytes{4});
  for (const LinkKind kind : {LinkKind::symbolic, LinkKind::automatic, LinkKind::hard}) {
    Linker linker(folder_ / "out", kind);
    for (const char* name : {"0.evt", "0.evt", "deep/1.evt"}) {
      const fs::path from = folder_ / "in" / name, alone = folder_ / "staging/alone";
      const auto made = linker.link(from, to_, Linker::Origin::plain);
      ASSERT_TRUE(made) << made.error().message;
      ASSERT_EQ(*made, *Linker(folder_ / "out", kind).link(from, alone));
      if (*made == LinkKind::symbolic) {
        EXPECT_EQ(fs::read_symlink(to_), fs::read_symlink(alone));
      }
      fs::remove(to_);
      fs::remove(alone);
    }
  }
  folder_.put("staging/0.evt", Bytes{5});  // the name is taken
  const auto refused =
      Linker(folder_ / "out", LinkKind::symbolic).link(from_, to_, Linker::Origin::plain);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "cannot make a symbolic link to " + from_.string() + ": File exists");
}

TEST_F(Link, a_link_to_a_link_names_the_original) {
  fs::create_symlink("0.evt", folder_ / "in/link.evt");
  ASSERT_TRUE(Linker(folder_ / "out", LinkKind::symbolic).link(folder_ / "in/link.evt", to_));
  EXPECT_EQ(fs::read_symlink(to_), fs::path("../in/0.evt"));
}

TEST_F(Link, folders_behind_links_are_resolved) {
  // out lies in a folder that is a link to somewhere deeper.
  fs::create_directories(folder_ / "deep/er");
  fs::create_directory_symlink("deep/er", folder_ / "short");
  ASSERT_TRUE(Linker(folder_ / "short/out", LinkKind::symbolic).link(from_, to_));
  fs::rename(folder_ / "staging", folder_ / "short/out");
  EXPECT_EQ(contents(folder_ / "short/out/0.evt"), (Bytes{1, 2, 3}));
}

TEST_F(Link, hard_links_outlive_the_original) {
  const auto kind = link(LinkKind::hard);
  ASSERT_TRUE(kind) << kind.error().message;
  EXPECT_EQ(*kind, LinkKind::hard);
  EXPECT_TRUE(fs::equivalent(from_, to_));
  fs::remove(from_);
  EXPECT_EQ(contents(to_), (Bytes{1, 2, 3}));
}

TEST_F(Link, automatic_makes_what_works_here_and_says_so) {
  const auto kind = link(LinkKind::automatic);
  ASSERT_TRUE(kind) << kind.error().message;
  EXPECT_NE(*kind, LinkKind::automatic);
  EXPECT_EQ(fs::is_symlink(to_), *kind == LinkKind::symbolic);
  publish();
  EXPECT_EQ(contents(folder_ / "out/0.evt"), (Bytes{1, 2, 3}));
  EXPECT_EQ(contents(from_), (Bytes{1, 2, 3}));
}

TEST_F(Link, a_reflink_works_or_leaves_nothing_behind) {
  const auto kind = link(LinkKind::reflink);
  if (kind) {
    EXPECT_EQ(contents(to_), (Bytes{1, 2, 3}));
  } else {
    EXPECT_EQ(kind.error().kind, ErrorKind::output);
    EXPECT_THAT(kind.error().message, HasSubstr("cannot make a reflink"));
    EXPECT_FALSE(fs::exists(to_));
  }
}

TEST_F(Link, what_cannot_be_linked_is_named) {
  for (const LinkKind kind : {LinkKind::symbolic, LinkKind::hard, LinkKind::automatic}) {
    const auto missing = Linker(folder_ / "out", kind).link(folder_ / "in/none.evt", to_);
    ASSERT_FALSE(missing);
    EXPECT_THAT(missing.error().message, HasSubstr("none.evt"));
  }
  folder_.put("staging/0.evt", Bytes{9});
  for (const LinkKind kind : {LinkKind::symbolic, LinkKind::hard, LinkKind::reflink}) {
    EXPECT_FALSE(link(kind));
    EXPECT_EQ(contents(to_), (Bytes{9})) << "what was there is gone";
  }
}

TEST(LinkName, is_for_people) {
  EXPECT_STREQ(name_of(LinkKind::reflink), "reflink");
  EXPECT_STREQ(name_of(LinkKind::symbolic), "symbolic link");
  EXPECT_STREQ(name_of(LinkKind::hard), "hard link");
  EXPECT_STREQ(name_of(LinkKind::automatic), "");
}

TEST(LinkCounts, name_every_kind_that_was_made) {
  EXPECT_EQ(text_of({}), "");
  EXPECT_EQ(text_of({0, 0, 3, 0}), "symbolic link");
  EXPECT_EQ(text_of({0, 7, 0, 1}), "reflink (7), hard link (1)");
}

}  // namespace
}  // namespace entrain
