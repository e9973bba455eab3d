// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/overlay.hpp"

#include <gtest/gtest.h>

#include "base/file.hpp"
#include "base/temp_folder_testing.hpp"
#include "formats/otf2/format/definition_file.hpp"
#include "formats/otf2/format/format.hpp"

namespace entrain::otf2 {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t k_any_size = ~std::uint64_t{0};

/// Two archives: a copy of an example, and a second one whose event files are links to the first.
class Adopt : public ::testing::Test {
 protected:
  Adopt() {
    const fs::path example = fs::path(ENTRAIN_EXAMPLES_DIR) / "traces" / "allops-4";
    for (const char* name : {"original", "overlay"}) {
      fs::copy(example, folder_ / name, fs::copy_options::recursive);
      for (const auto& entry : fs::recursive_directory_iterator(folder_ / name)) {
        fs::permissions(entry, fs::perms::owner_write, fs::perm_options::add);
      }
    }
    original_ = *Archive::open(folder_ / "original");
    overlay_ = *Archive::open(folder_ / "overlay");
    fs::remove(overlay_->event_file(1));
    fs::create_hard_link(original_->event_file(1), overlay_->event_file(1));
    skeleton_.event_count = 7;  // a mark that it is not replaced
    skeleton_.clock_offsets = {{1, 2, 3.0}};
  }
  bool adopt() {
    const auto adopted = adopt_skeleton(*original_, *overlay_, 1, skeleton_);
    EXPECT_TRUE(adopted) << adopted.error().message;
    return adopted.value_or(false);
  }
  /// Appends a record to the local definitions of location 1 of the overlay.
  void add_definition(const DefinitionRecord& record) {
    const fs::path path = overlay_->definition_file(1);
    const std::uint64_t chunk_size = overlay_->anchor().definition_chunk_size;
    auto file = *read_definition_file(path, chunk_size);
    file.records.push_back(record);
    fs::remove(path);
    ASSERT_TRUE(write_file(path, *pack_definition_file(file, chunk_size, path)));
  }

  TempFolder folder_;
  std::unique_ptr<Archive> original_, overlay_;
  trace::LocationSkeleton skeleton_;
};

TEST_F(Adopt, takes_events_of_the_original_and_offsets_of_the_overlay) {
  const auto offsets = overlay_->scan(1)->clock_offsets;
  EXPECT_TRUE(adopt());
  EXPECT_EQ(skeleton_.event_count, 7u);
  ASSERT_EQ(skeleton_.clock_offsets.size(), offsets.size());
  EXPECT_FALSE(skeleton_.definition_file_missing);
}

TEST_F(Adopt, follows_symbolic_links) {
  fs::remove(overlay_->event_file(1));
  fs::create_symlink(original_->event_file(1), overlay_->event_file(1));
  EXPECT_TRUE(adopt());
}

TEST_F(Adopt, refuses_a_copy_of_the_events) {
  fs::remove(overlay_->event_file(1));
  fs::copy_file(original_->event_file(1), overlay_->event_file(1));
  EXPECT_FALSE(adopt());
  EXPECT_EQ(skeleton_.clock_offsets.size(), 1u);  // untouched
}

TEST_F(Adopt, other_clock_offsets_do_not_matter_but_other_definitions_do) {
  add_definition({def::local_clock_offset, std::vector<std::uint8_t>(24)});
  EXPECT_TRUE(adopt());
  add_definition({def::local_mapping_table, {mapping::region, 0, 0}});
  EXPECT_FALSE(adopt());
}

TEST_F(Adopt, a_location_without_events_in_both_is_the_same) {
  fs::remove(overlay_->event_file(1));
  EXPECT_FALSE(adopt());
  fs::remove(original_->event_file(1));
  EXPECT_TRUE(adopt());
}

TEST_F(Adopt, damaged_definitions_are_an_error) {
  const fs::path path = overlay_->definition_file(1);
  fs::resize_file(path, fs::file_size(path) / 2);
  const auto adopted = adopt_skeleton(*original_, *overlay_, 1, skeleton_);
  ASSERT_FALSE(adopted);
  EXPECT_EQ(adopted.error().kind, ErrorKind::input);
}

}  // namespace
}  // namespace entrain::otf2
