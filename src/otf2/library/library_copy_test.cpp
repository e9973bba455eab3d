// SPDX-License-Identifier: BSD-3-Clause
#include "otf2/library/library_copy.hpp"

#include <gmock/gmock.h>

#include "base/temp_folder_testing.hpp"

namespace entrain::otf2 {
namespace {

namespace fs = std::filesystem;

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(LibraryCopy, has_the_files_of_an_archive_until_it_ends) {
  const fs::path anchor = fs::path(ENTRAIN_EXAMPLES_DIR) / "traces/allops-4/traces.otf2";
  auto copy = LibraryCopy::make(anchor, "is unusual");
  if (!copy) GTEST_SKIP() << copy.error().message;  // a build without the library
  const fs::path folder = (*copy)->folder();
  EXPECT_TRUE(fs::exists(folder / "traces.def"));
  for (const char* name : {"0.evt", "1.evt", "2.evt", "3.evt"}) {
    EXPECT_TRUE(fs::exists(folder / "traces" / name)) << name;
  }
  copy->reset();
  EXPECT_FALSE(fs::exists(folder));
}

TEST(LibraryCopy, of_nothing_is_refused_with_the_anchor_and_the_reason) {
  const auto copy = LibraryCopy::make("/nowhere/traces.otf2", "is unusual");
  ASSERT_FALSE(copy);
  EXPECT_EQ(copy.error().kind, ErrorKind::input);
  EXPECT_THAT(copy.error().message, StartsWith("/nowhere/traces.otf2 is unusual"));
}

TEST(LibraryCopy, of_nonsense_is_refused) {
  const TempFolder folder;
  const fs::path anchor = folder.put("traces.otf2", std::vector<std::uint8_t>(200, 0x42));
  const auto copy = LibraryCopy::make(anchor, "is unusual");
  ASSERT_FALSE(copy);
  EXPECT_EQ(copy.error().kind, ErrorKind::input);
  EXPECT_THAT(copy.error().message, HasSubstr("convert"));
}

}  // namespace
}  // namespace entrain::otf2
