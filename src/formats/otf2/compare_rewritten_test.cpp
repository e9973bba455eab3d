// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/compare_rewritten.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/otf2/format/testing.hpp"
#include "formats/otf2/retime.hpp"
#include "formats/otf2/testing.hpp"

namespace entrain::otf2 {
namespace {

namespace fs = std::filesystem;
using testing::Bytes;
using testing::contents;
using ::testing::HasSubstr;
using testing::TempFolder;
using testing::write_archive;

/// lulesh-8 and a copy of it in which location 3 is 1000 ticks later.
class CompareRewritten : public ::testing::Test {
 protected:
  void SetUp() override {
    original_ = open(fs::path(ENTRAIN_EXAMPLES_DIR) / "traces" / "lulesh-8");
    plan_.maps.resize(original_->definitions().locations.size());
    plan_.maps[3] = ClockMap().shifted(1000);
    plan_.first_time = static_cast<std::int64_t>(original_->definitions().clock.global_offset);
    plan_.last_time = plan_.first_time;
    write();
  }

  static std::unique_ptr<Archive> open(const fs::path& path) {
    auto archive = Archive::open(path);
    EXPECT_TRUE(archive) << archive.error().message;
    return std::move(*archive);
  }

  void write() {
    plan_.rule.force = true;
    const auto anchor = write_archive(*original_, plan_, folder_ / "written");
    ASSERT_TRUE(anchor) << anchor.error().message;
    written_ = open(*anchor);
  }

  [[nodiscard]] Result<Rewritten> compare() const {
    const std::vector<LocationIndex> some{0, 3};
    return compare_rewritten({*original_, *written_, some, plan_.maps}, 1, nullptr);
  }

  /// Adds 1 to the byte of the event file of location 3 that lies `offset` bytes behind its first
  /// stamp's mark.
  void change_byte(std::size_t offset) const {
    const fs::path file = written_->event_file(3);
    Bytes bytes = contents(file);
    std::size_t at = k_chunk_header_size;
    while (bytes[at] != mark::stamp) ++at;
    ++bytes[at + offset];
    fs::remove(file);
    ASSERT_TRUE(write_file(file, bytes));
  }

  TempFolder folder_;
  WritePlan plan_;
  std::unique_ptr<Archive> original_, written_;
};

TEST_F(CompareRewritten, is_what_the_maps_say) {
  const auto result = compare();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(result->as_mapped);
}

TEST_F(CompareRewritten, is_not_when_a_stamp_is_another) {
  change_byte(1);
  const auto result = compare();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_FALSE(result->as_mapped);
}

TEST_F(CompareRewritten, is_refused_when_a_record_is_another) {
  change_byte(11);  // behind mark and stamp: type, length, first byte of the record
  const auto result = compare();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::output);
  EXPECT_THAT(result.error().message, HasSubstr("is not what was to be written"));
}

TEST_F(CompareRewritten, is_refused_when_its_end_is_missing) {
  fs::resize_file(written_->event_file(3), fs::file_size(written_->event_file(3)) - 1);
  const auto result = compare();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::output);
}

TEST_F(CompareRewritten, is_another_for_a_reader_when_clock_offsets_count) {
  plan_.clock_offsets.resize(plan_.maps.size());
  plan_.clock_offsets[3] = {{0, 0, 0.0}, {10, 5, 0.0}};
  write();
  const auto result = compare();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_FALSE(result->as_mapped);
  EXPECT_TRUE(result->has_clock_offsets);
}

TEST_F(CompareRewritten, is_nothing_for_a_reader_when_clock_offsets_are_out_of_order) {
  plan_.clock_offsets.resize(plan_.maps.size());
  plan_.clock_offsets[3] = {{10, 0, 0.0}, {5, 0, 0.0}};
  write();
  const auto result = compare();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_FALSE(result->as_mapped);
}

TEST_F(CompareRewritten, is_nothing_for_a_reader_when_time_runs_backward) {
  const auto skeleton = original_->scan(3);
  ASSERT_TRUE(skeleton);
  const std::uint64_t first = skeleton->first, last = skeleton->last;
  const std::int64_t far = 4 * static_cast<std::int64_t>(last - first);
  plan_.maps[3] = *ClockMap::from_knots({{first, far}, {last, far / 2}});
  write();
  const std::vector<LocationIndex> some{0, 3};
  const auto result = compare_rewritten({*original_, *written_, some, plan_.maps}, 1, nullptr);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_FALSE(result->as_mapped);
}

TEST_F(CompareRewritten, is_another_with_other_definitions) {
  plan_.maps.assign(plan_.maps.size(), {});
  written_ = open(fs::path(ENTRAIN_EXAMPLES_DIR) / "traces" / "lulesh-8.truth");
  const auto result = compare();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_FALSE(result->as_mapped);
}

}  // namespace
}  // namespace entrain::otf2
