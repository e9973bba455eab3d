// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/write_archive.hpp"

#include <gmock/gmock.h>

#include "base/temp_folder_testing.hpp"
#include "formats/otf2/format/testing.hpp"
#include "formats/otf2/testing.hpp"

namespace entrain::otf2 {
namespace {

namespace fs = std::filesystem;

using testing::contents;
using ::testing::HasSubstr;
using testing::write_archive;

class WriteArchive : public ::testing::Test {
 protected:
  WriteArchive() {
    fs::copy(fs::path(ENTRAIN_EXAMPLES_DIR) / "traces/allops-4", folder_ / "in",
             fs::copy_options::recursive);
    archive_ = *Archive::open(folder_ / "in");
    plan_.maps.resize(archive_->definitions().locations.size());
    plan_.first_time = static_cast<std::int64_t>(archive_->definitions().clock.global_offset);
    plan_.last_time = plan_.first_time;
  }

  TempFolder folder_;
  std::unique_ptr<Archive> archive_;
  WritePlan plan_;
};

TEST_F(WriteArchive, with_identities_repeats_the_events) {
  const auto anchor = write_archive(*archive_, plan_, folder_ / "out");
  ASSERT_TRUE(anchor) << anchor.error().message;
  const auto written = Archive::open(*anchor);
  ASSERT_TRUE(written);
  for (LocationIndex l = 0; l < plan_.maps.size(); ++l) {
    EXPECT_EQ(contents((*written)->event_file(l)), contents(archive_->event_file(l))) << l;
  }
}

TEST_F(WriteArchive, appears_only_when_it_is_committed) {
  {
    const auto staged = stage_archive(*archive_, plan_, folder_ / "out");
    ASSERT_TRUE(staged);
    EXPECT_TRUE(fs::exists(staged->anchor()));
    EXPECT_EQ(text_of(staged->links), "");
    EXPECT_FALSE(fs::exists(staged->final_anchor()));
  }
  EXPECT_FALSE(fs::exists(folder_ / "out"));
}

TEST_F(WriteArchive, overlay_links_the_events) {
  plan_.mode = WriteMode::overlay;
  plan_.link = LinkKind::hard;
  const auto staged = stage_archive(*archive_, plan_, folder_ / "out");
  ASSERT_TRUE(staged) << staged.error().message;
  EXPECT_EQ(text_of(staged->links), "hard link");
  const auto written = Archive::open(staged->anchor());
  ASSERT_TRUE(written);
  EXPECT_TRUE(fs::equivalent((*written)->event_file(2), archive_->event_file(2)));
}

TEST_F(WriteArchive, over_another_archive_only_by_force) {
  ASSERT_TRUE(write_archive(*archive_, plan_, folder_ / "out"));
  EXPECT_FALSE(write_archive(*archive_, plan_, folder_ / "out"));
  plan_.rule.force = true;
  EXPECT_TRUE(write_archive(*archive_, plan_, folder_ / "out"));
  folder_.put("out/notes", {});
  EXPECT_FALSE(write_archive(*archive_, plan_, folder_ / "out"));
}

TEST_F(WriteArchive, missing_event_files_stay_missing) {
  fs::remove(archive_->event_file(1));
  const auto anchor = write_archive(*archive_, plan_, folder_ / "out");
  ASSERT_TRUE(anchor) << anchor.error().message;
  const auto written = Archive::open(*anchor);
  EXPECT_FALSE(fs::exists((*written)->event_file(1)));
  EXPECT_TRUE(fs::exists((*written)->event_file(0)));
}

TEST_F(WriteArchive, leaves_nothing_of_a_failure) {
  plan_.maps.assign(plan_.maps.size(), ClockMap().shifted(-(std::int64_t{1} << 60)));
  const auto refused = write_archive(*archive_, plan_, folder_ / "out");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::input);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()), 1);
}

}  // namespace
}  // namespace entrain::otf2
