// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/read/archive.hpp"

#include <gmock/gmock.h>

#include <atomic>

#include "base/temp_folder_testing.hpp"

namespace entrain::otf2 {
namespace {

namespace fs = std::filesystem;

class Counter final : public Progress {
 public:
  explicit Counter(bool cancelled = false) : cancelled_(cancelled) {}
  void begin(std::string_view, std::uint64_t total, std::string_view) override { total_ = total; }
  void advance(std::uint64_t bytes) override { done_ += bytes; }
  [[nodiscard]] bool cancelled() const override { return cancelled_; }
  [[nodiscard]] std::uint64_t total() const { return total_; }
  [[nodiscard]] std::uint64_t done() const { return done_; }

 private:
  bool cancelled_;
  std::uint64_t total_ = 0;
  std::atomic<std::uint64_t> done_ = 0;
};

fs::path example(const char* name) { return fs::path(ENTRAIN_EXAMPLES_DIR) / "traces" / name; }

TEST(ScanAll, one_skeleton_per_location_named_in_that_order) {
  const auto archive = Archive::open(example("allops-4"));
  ASSERT_TRUE(archive);
  const std::vector<LocationIndex> some{3, 1, 1};
  Counter counter;
  const auto skeletons = (*archive)->scan_all(some, 3, &counter);
  ASSERT_TRUE(skeletons) << skeletons.error().message;
  ASSERT_EQ(skeletons->size(), some.size());
  for (std::size_t i = 0; i < some.size(); ++i) {
    const auto alone = (*archive)->scan(some[i]);
    ASSERT_TRUE(alone);
    EXPECT_EQ((*skeletons)[i].event_count, alone->event_count) << i;
    EXPECT_EQ((*skeletons)[i].events.size(), alone->events.size()) << i;
    EXPECT_EQ((*skeletons)[i].first, alone->first) << i;
  }
  EXPECT_EQ(counter.total(), (*archive)->event_bytes(some));
  EXPECT_EQ(counter.done(), counter.total());
}

TEST(ScanAll, of_no_locations_is_empty) {
  const auto archive = Archive::open(example("allops-4"));
  ASSERT_TRUE(archive);
  const auto skeletons = (*archive)->scan_all({}, 2, nullptr);
  ASSERT_TRUE(skeletons);
  EXPECT_TRUE(skeletons->empty());
}

TEST(ScanAll, missing_files_are_anomalies_and_damaged_ones_errors) {
  const TempFolder folder;
  fs::copy(example("allops-4"), folder / "x", fs::copy_options::recursive);
  const auto archive = Archive::open(folder / "x");
  ASSERT_TRUE(archive);
  fs::remove((*archive)->event_file(0));
  const std::vector<LocationIndex> all{0, 1, 2, 3};
  const auto missing = (*archive)->scan_all(all, 2, nullptr);
  ASSERT_TRUE(missing) << missing.error().message;
  EXPECT_TRUE((*missing)[0].event_file_missing);
  EXPECT_FALSE((*missing)[1].event_file_missing);
  fs::remove((*archive)->event_file(2));
  folder.put("x/traces/2.evt", std::vector<std::uint8_t>(100, 0x77));
  for (const unsigned threads : {1u, 2u}) {
    const auto damaged = (*archive)->scan_all(all, threads, nullptr);
    ASSERT_FALSE(damaged);
    EXPECT_THAT(damaged.error().message, ::testing::HasSubstr("2.evt is damaged"));
  }
}

TEST(ScanAll, can_be_cancelled) {
  const auto archive = Archive::open(example("allops-4"));
  ASSERT_TRUE(archive);
  Counter counter(true);
  const auto skeletons = (*archive)->scan_all(std::vector<LocationIndex>{0}, 1, &counter);
  ASSERT_FALSE(skeletons);
  EXPECT_EQ(skeletons.error().kind, ErrorKind::interrupted);
}

}  // namespace
}  // namespace entrain::otf2
