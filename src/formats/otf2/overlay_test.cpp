// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/overlay.hpp"

#include <filesystem>
#include <fstream>
#include <utility>

#include <gtest/gtest.h>

#include "base/temp_folder_testing.hpp"
#include "formats/otf2/testing.hpp"

namespace entrain::otf2 {
namespace {

namespace fs = std::filesystem;

/// An overlay by hand of the example allops-4: its files, with the event files as links.
class OverlayOfExample : public ::testing::Test {
 protected:
  OverlayOfExample() {
    fs::create_directory(folder_ / "traces");
    for (const auto& entry : fs::recursive_directory_iterator(k_original)) {
      if (!entry.is_regular_file()) continue;
      const fs::path to = folder_ / fs::relative(entry.path(), k_original);
      if (entry.path().extension() == ".evt") {
        fs::create_symlink(fs::absolute(entry.path()), to);
      } else {
        fs::copy_file(entry.path(), to);
        fs::permissions(to, fs::perms::owner_write, fs::perm_options::add);
      }
    }
  }

  /// Expects the original to be as it was read.
  void expect_unchanged() {
    const trace::LoadedTrace again = testing::load_example("allops-4");
    for (std::size_t l = 0; l < again.trace.locations.size(); ++l) {
      const trace::LocationSkeleton &now = original_.trace.locations[l],
                                    &was = again.trace.locations[l];
      EXPECT_EQ(now.events.size(), was.events.size());
      EXPECT_EQ(now.event_count, was.event_count);
      EXPECT_EQ(now.clock_offsets.size(), was.clock_offsets.size());
      EXPECT_EQ(now.definition_file_missing, was.definition_file_missing);
    }
  }

  const fs::path k_original = fs::path(ENTRAIN_EXAMPLES_DIR) / "traces/allops-4";
  TempFolder folder_;
  trace::Workers workers_{2};
  trace::LoadedTrace original_ = testing::load_example("allops-4");
};

TEST_F(OverlayOfExample, borrows_the_skeletons_and_gives_them_back) {
  const std::size_t events = original_.trace.locations[0].events.size();
  {
    auto overlay = Overlay::open(workers_, std::vector<fs::path>{folder_.path()}, original_);
    ASSERT_TRUE(overlay) << overlay.error().message;
    const Overlay moved = *std::move(overlay);
    EXPECT_EQ(moved.written().trace.locations[0].events.size(), events);
    EXPECT_TRUE(original_.trace.locations[0].events.empty());
  }
  expect_unchanged();
}

TEST_F(OverlayOfExample, clock_offsets_are_those_of_the_overlay) {
  ASSERT_GE(original_.trace.locations[1].clock_offsets.size(), 1u);
  fs::remove(folder_ / "traces/1.def");
  {
    const auto overlay = Overlay::open(workers_, std::vector<fs::path>{folder_.path()}, original_);
    ASSERT_TRUE(overlay) << overlay.error().message;
    EXPECT_TRUE(overlay->written().trace.locations[1].clock_offsets.empty());
  }
  expect_unchanged();
}

TEST_F(OverlayOfExample, a_copy_of_an_event_file_is_read) {
  fs::remove(folder_ / "traces/2.evt");
  fs::copy_file(k_original / "traces/2.evt", folder_ / "traces/2.evt");
  {
    const auto overlay = Overlay::open(workers_, std::vector<fs::path>{folder_.path()}, original_);
    ASSERT_TRUE(overlay) << overlay.error().message;
    EXPECT_FALSE(overlay->written().trace.locations[2].events.empty());
  }
  expect_unchanged();
}

TEST_F(OverlayOfExample, an_error_gives_the_skeletons_back) {
  const auto missing =
      Overlay::open(workers_, std::vector<fs::path>{folder_ / "no.otf2"}, original_);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::input);
  expect_unchanged();
  std::ofstream(folder_ / "traces/3.def", std::ios::binary | std::ios::trunc) << "no definitions";
  const auto damaged = Overlay::open(workers_, std::vector<fs::path>{folder_.path()}, original_);
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error().kind, ErrorKind::input);
  expect_unchanged();
}

}  // namespace
}  // namespace entrain::otf2
