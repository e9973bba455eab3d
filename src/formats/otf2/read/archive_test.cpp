// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/read/archive.hpp"

#include <array>

#include <gtest/gtest.h>

#include "base/file.hpp"
#include "base/temp_folder_testing.hpp"

namespace entrain::otf2 {
namespace {

namespace fs = std::filesystem;

constexpr std::array<LocationIndex, 4> k_all{0, 1, 2, 3};

/// A copy of an example whose files have been noted.
class NotedArchive : public ::testing::Test {
 protected:
  NotedArchive() {
    fs::copy(fs::path(ENTRAIN_EXAMPLES_DIR) / "traces" / "allops-4", folder_ / "a",
             fs::copy_options::recursive);
    for (const auto& entry : fs::recursive_directory_iterator(folder_ / "a")) {
      fs::permissions(entry, fs::perms::owner_write, fs::perm_options::add);
    }
    archive_ = *Archive::open(folder_ / "a");
  }
  void note() { archive_->note_files(k_all, 2); }
  [[nodiscard]] std::string refusal() const {
    const auto unchanged = archive_->check_unchanged();
    return unchanged ? "" : unchanged.error().message;
  }

  TempFolder folder_;
  std::unique_ptr<Archive> archive_;
};

TEST_F(NotedArchive, knows_its_files_as_one_that_asks_each_time) {
  fs::remove(archive_->event_file(2));
  fs::create_symlink("nowhere", archive_->event_file(2));
  fs::remove(archive_->definition_file(3));
  const auto asking = *Archive::open(folder_ / "a");
  note();
  for (const LocationIndex l : k_all) {
    for (const LocationFile file :
         {LocationFile::events, LocationFile::definitions, LocationFile::snapshots}) {
      EXPECT_EQ(archive_->stamp(l, file), asking->stamp(l, file)) << archive_->name_of(l, file);
    }
    EXPECT_EQ(archive_->event_bytes({&l, 1}), asking->event_bytes({&l, 1}));
  }
  EXPECT_TRUE(archive_->has(2, LocationFile::events));
  EXPECT_FALSE(archive_->has(3, LocationFile::definitions));
  EXPECT_FALSE(archive_->has(0, LocationFile::snapshots));
}

TEST_F(NotedArchive, keeps_small_definitions_and_reads_large_ones) {
  const std::uint64_t chunk_size = archive_->anchor().definition_chunk_size;
  auto large = *read_definition_file(archive_->definition_file(1), chunk_size);
  large.records.push_back({200, std::vector<std::uint8_t>(5000)});
  fs::remove(archive_->definition_file(1));
  ASSERT_TRUE(
      write_file(archive_->definition_file(1), *pack_definition_file(large, chunk_size, "1.def")));
  fs::remove(archive_->definition_file(3));
  const auto asking = *Archive::open(folder_ / "a");
  note();
  for (const LocationIndex l : k_all) {
    const auto kept = archive_->local_file(l), read = asking->local_file(l);
    ASSERT_TRUE(kept && read);
    ASSERT_EQ(kept->has_value(), l != 3);
    ASSERT_EQ(read->has_value(), l != 3);
    if (l == 3) continue;
    EXPECT_TRUE(same_records(**kept, **read, 0));
    ASSERT_TRUE(archive_->copy_definitions(l, folder_ / "copy"));
    const auto limit = File::k_any_size;
    EXPECT_EQ(*read_file(folder_ / "copy", limit), *read_file(archive_->definition_file(l), limit));
    fs::remove(folder_ / "copy");
  }
}

TEST_F(NotedArchive, damaged_small_definitions_are_an_error_that_names_the_file) {
  const fs::path path = archive_->definition_file(1);
  fs::resize_file(path, fs::file_size(path) / 2);
  note();
  const auto local = archive_->local_definitions(1);
  ASSERT_FALSE(local);
  EXPECT_EQ(local.error().message,
            Archive::open(folder_ / "a").value()->local_definitions(1).error().message);
}

TEST_F(NotedArchive, sees_files_that_appear_vanish_or_become_links) {
  note();
  EXPECT_EQ(refusal(), "");
  const fs::path snapshot = archive_->snapshot_file(2);
  ASSERT_TRUE(write_file(snapshot, {}));
  EXPECT_TRUE(refusal().starts_with(snapshot.string() + " has changed"));
  fs::remove(snapshot);
  EXPECT_EQ(refusal(), "");
  const fs::path events = archive_->event_file(1);
  fs::rename(events, folder_ / "elsewhere");
  EXPECT_TRUE(refusal().starts_with(events.string() + " has changed"));
  fs::create_symlink(folder_ / "elsewhere", events);
  EXPECT_TRUE(refusal().starts_with(events.string() + " has changed"));
}

}  // namespace
}  // namespace entrain::otf2
