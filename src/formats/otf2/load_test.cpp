// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/load.hpp"

#include <array>
#include <atomic>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace entrain::otf2 {
namespace {

using ::testing::HasSubstr;

/// Counts what it is told.
struct Counting : Progress {
  std::atomic<std::uint64_t> total = 0, done = 0;
  bool stop = false;
  void begin(std::string_view, std::uint64_t units, std::string_view) override { total = units; }
  void advance(std::uint64_t units) override { done += units; }
  [[nodiscard]] bool cancelled() const override { return stop; }
};

TEST(Load, reads_all_locations_whatever_the_number_of_threads) {
  const std::string path = ENTRAIN_EXAMPLES_DIR "/traces/allops-4";
  Counting progress;
  const auto one = load(path, 1, nullptr), four = load(path, 4, &progress);
  ASSERT_TRUE(one) << one.error().message;
  ASSERT_TRUE(four);
  EXPECT_EQ(one->trace.locations.size(), 4u);
  EXPECT_EQ(progress.total, one->reader->event_bytes(std::array<LocationIndex, 4>{0, 1, 2, 3}));
  EXPECT_EQ(progress.done, progress.total);
  for (std::size_t l = 0; l < 4; ++l) {
    EXPECT_GT(one->trace.locations[l].events.size(), 0u);
    EXPECT_EQ(one->trace.locations[l].event_count, four->trace.locations[l].event_count);
    EXPECT_EQ(one->trace.locations[l].last, four->trace.locations[l].last);
  }
}

TEST(Load, can_be_interrupted) {
  Counting progress;
  progress.stop = true;
  const auto refused = load(ENTRAIN_EXAMPLES_DIR "/traces/allops-4", 2, &progress);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::interrupted);
}

TEST(Load, a_missing_archive_is_named) {
  const auto refused = load("no/such/traces.otf2", 1, nullptr);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::input);
  EXPECT_THAT(refused.error().message, HasSubstr("no/such/traces.otf2"));
}

}  // namespace
}  // namespace entrain::otf2
