// SPDX-License-Identifier: BSD-3-Clause
#include "base/file_stamp.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "base/temp_folder_testing.hpp"

namespace entrain {
namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<std::uint8_t>;

TEST(FileStamp, of_a_file_and_of_a_link_to_it_are_of_one_file) {
  const TempFolder folder;
  const fs::path file = folder.put("x", Bytes{1, 2, 3});
  fs::create_symlink("x", folder / "link");
  fs::create_hard_link(file, folder / "hard");
  const FileStamp stamp = stamp_of(file), link = stamp_of(folder / "link");
  EXPECT_EQ(stamp.size, 3);
  EXPECT_TRUE(stamp.named && !stamp.link);
  EXPECT_TRUE(link.named && link.link);
  EXPECT_EQ(link.size, 3);
  for (const char* name : {"x", "link", "hard"}) EXPECT_TRUE(leads_to(folder / name, stamp));
  EXPECT_FALSE(leads_to(folder.put("y", Bytes{1, 2, 3}), stamp));
  EXPECT_FALSE(leads_to(folder / "none", stamp));
  EXPECT_FALSE(leads_to(folder / "none", FileStamp()));
}

TEST(FileStamp, tells_a_name_that_leads_nowhere_from_none) {
  const TempFolder folder;
  fs::create_symlink("nowhere", folder / "link");
  EXPECT_EQ(stamp_of(folder / "none"), FileStamp());
  EXPECT_EQ(stamp_of(folder.put("x", Bytes{}) / "inside"), FileStamp());
  const FileStamp link = stamp_of(folder / "link");
  EXPECT_TRUE(link.named && link.link);
  EXPECT_EQ(link.size, -1);
  EXPECT_FALSE(leads_to(folder / "link", link));
}

}  // namespace
}  // namespace entrain
