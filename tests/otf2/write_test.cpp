// SPDX-License-Identifier: BSD-3-Clause
// Archives written with other times, read by the OTF2 library: the times are those of the plan,
// everything else is as it was.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include <entrain/clock_map.hpp>

#include "formats/otf2/compare_rewritten.hpp"
#include "formats/otf2/read/archive.hpp"
#include "formats/otf2/retime.hpp"
#include "formats/otf2/testing.hpp"
#include "output/mark.hpp"
#include "support/compare_traces.hpp"
#include "support/files.hpp"
#include "support/oracle.hpp"
#include "support/otf2_print.hpp"
#include "support/random_events.hpp"
#include "support/test_archives.hpp"

namespace entrain::test {
namespace {

/// A monotone map with random knots from `first` on, none strictly inside a flush. Offsets stay
/// in 0 .. span, slopes in about +-0.5.
ClockMap random_map(Random& random, const trace::LocationSkeleton& skeleton) {
  if (skeleton.event_count == 0) return {};
  const std::uint64_t span = std::max<std::uint64_t>(skeleton.last - skeleton.first, 100);
  std::vector<ClockKnot> knots;
  std::uint64_t local = skeleton.first;
  auto offset = static_cast<std::int64_t>(random.below(span));
  while (knots.size() < 2 || local < skeleton.last) {
    const bool in_flush =
        std::any_of(skeleton.flushes.begin(), skeleton.flushes.end(),
                    [&](const auto& flush) { return flush.begin < local && local < flush.end; });
    if (!in_flush) knots.push_back({local, offset});
    const std::uint64_t step = 2 + random.below(span / 20 + 2);
    const auto change =
        static_cast<std::int64_t>(random.below(step)) - static_cast<std::int64_t>(step / 2);
    local += step;
    if (offset + change >= 0) offset += change;
  }
  const auto map = ClockMap::from_knots(std::move(knots));
  if (!map || !map->is_monotone()) throw std::runtime_error("the random map is not monotone");
  return *map;
}

class Write : public testing::TestWithParam<TestArchive> {
 protected:
  void SetUp() override {
    anchor_ = GetParam().make(scratch_.path());
    auto opened = otf2::Archive::open(anchor_);
    ASSERT_TRUE(opened) << opened.error().message;
    archive_ = std::move(*opened);
    for (LocationIndex i = 0; i < archive_->definitions().locations.size(); ++i) {
      auto skeleton = archive_->scan(i);
      ASSERT_TRUE(skeleton) << skeleton.error().message;
      skeletons_.push_back(std::move(*skeleton));
    }
    input_before_ = digest_tree(anchor_.parent_path());
  }
  void TearDown() override { EXPECT_EQ(digest_tree(anchor_.parent_path()), input_before_); }

  /// A plan of random maps, with the properties a correction sets.
  [[nodiscard]] otf2::WritePlan random_plan(std::uint64_t seed) const {
    Random random(seed);
    otf2::WritePlan plan;
    plan.first_time = std::numeric_limits<std::int64_t>::max();
    plan.last_time = 0;
    for (const auto& skeleton : skeletons_) {
      plan.maps.push_back(random_map(random, skeleton));
      if (skeleton.event_count == 0) continue;
      plan.first_time = std::min(plan.first_time, plan.maps.back()(skeleton.first));
      plan.last_time = std::max(plan.last_time, plan.maps.back()(skeleton.last));
    }
    const auto markers = otf2::read_marker_times(*archive_);
    for (const otf2::MarkerTime& marker : *markers) {
      plan.marker_times.push_back(marker_time(plan, marker.location, marker.time));
    }
    plan.properties = {{"ENTRAIN::TEST", "yes"}};
    return plan;
  }

  static std::int64_t marker_time(const otf2::WritePlan& plan, LocationIndex location,
                                  std::uint64_t time) {
    return plan.maps[location == k_none ? 0 : location](time) + (location == k_none ? 5 : 0);
  }

  std::filesystem::path write(otf2::WritePlan plan, WriteMode mode, const char* name,
                              LinkKind link = LinkKind::automatic) {
    plan.mode = mode;
    plan.link = link;
    plan.threads = 1;
    const auto written = otf2::testing::write_archive(*archive_, plan, scratch_ / name);
    if (!written) throw std::runtime_error(written.error().message);
    return *written;
  }

  TempFolder scratch_;
  std::filesystem::path anchor_;
  std::unique_ptr<otf2::Archive> archive_;
  std::vector<trace::LocationSkeleton> skeletons_;
  std::map<std::string, std::uint64_t> input_before_;
};

/// The times that a plan demands.
std::vector<LocationTimes> planned(const otf2::WritePlan& plan, std::vector<LocationTimes> times) {
  for (std::size_t i = 0; i < times.size(); ++i) {
    const auto move = [&](std::uint64_t& time) {
      time = static_cast<std::uint64_t>(plan.maps[i](time));
    };
    std::for_each(times[i].times.begin(), times[i].times.end(), move);
    std::for_each(times[i].flush_stops.begin(), times[i].flush_stops.end(), move);
  }
  return times;
}

/// Without the text of a hundred thousand numbers.
void expect_same_times(const std::vector<LocationTimes>& actual,
                       const std::vector<LocationTimes>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const auto& a = actual[i].times;
    const auto& e = expected[i].times;
    ASSERT_EQ(a.size(), e.size()) << "location " << i;
    const auto [at, other] = std::mismatch(a.begin(), a.end(), e.begin());
    if (at != a.end()) {
      ADD_FAILURE() << "location " << i << " event " << at - a.begin() << ": " << *at
                    << " instead of " << *other;
    }
    EXPECT_EQ(actual[i].flush_stops, expected[i].flush_stops) << "location " << i;
  }
}

TEST_P(Write, both_modes_give_the_planned_times) {
  const auto plan = random_plan(11);
  const auto expected = planned(plan, library_times(anchor_, false));
  {
    SCOPED_TRACE("rewrite");
    const auto rewritten = write(plan, WriteMode::rewrite, "rewrite");
    expect_same_times(library_times(rewritten), expected);
    expect_same_times(library_times(rewritten, false), expected);  // stored, not only computed
  }
  SCOPED_TRACE("overlay");
  expect_same_times(library_times(write(plan, WriteMode::overlay, "overlay")), expected);
}

TEST_P(Write, a_rewritten_archive_is_the_original_under_the_maps) {
  const auto plan = random_plan(17);
  const auto compare = [&](const std::filesystem::path& anchor) {
    const auto written = otf2::Archive::open(anchor);
    EXPECT_TRUE(written);
    std::vector<LocationIndex> all(skeletons_.size());
    std::iota(all.begin(), all.end(), LocationIndex{0});
    return otf2::compare_rewritten({*archive_, **written, all, plan.maps}, 2, nullptr);
  };
  const auto same = compare(write(plan, WriteMode::rewrite, "rewrite"));
  ASSERT_TRUE(same) << same.error().message;
  EXPECT_TRUE(same->as_mapped);
  auto moved = plan;
  const auto with_events = std::find_if(skeletons_.begin(), skeletons_.end(),
                                        [](const auto& s) { return s.event_count > 0; });
  if (with_events == skeletons_.end()) return;
  const auto l = static_cast<std::size_t>(with_events - skeletons_.begin());
  moved.maps[l] = moved.maps[l].shifted(1);
  const auto other = compare(write(moved, WriteMode::rewrite, "moved"));
  ASSERT_TRUE(other) << other.error().message;
  EXPECT_FALSE(other->as_mapped);
}

TEST_P(Write, rewrite_can_store_new_clock_offsets) {
  auto plan = random_plan(14);
  Random random(15);
  for (const auto& skeleton : skeletons_) {
    plan.clock_offsets.emplace_back();
    const ClockMap map = random_map(random, skeleton);
    for (const auto& knot : map.knots()) {
      plan.clock_offsets.back().push_back({knot.local, knot.offset, 0.5});
    }
  }
  const auto written = write(plan, WriteMode::rewrite, "offsets");
  expect_same_times(library_times(written, false), planned(plan, library_times(anchor_, false)));
  const auto trace = library_trace(written);
  for (std::size_t i = 0; i < trace.locations.size(); ++i) {
    const auto& stored = trace.locations[i].clock_offsets;
    ASSERT_EQ(stored.size(), plan.clock_offsets[i].size());
    for (std::size_t k = 0; k < stored.size(); ++k) {
      EXPECT_EQ(stored[k].time, plan.clock_offsets[i][k].time);
      EXPECT_EQ(stored[k].offset, plan.clock_offsets[i][k].offset);
      EXPECT_EQ(stored[k].stddev, 0.5);
    }
  }
}

TEST_P(Write, otf2_print_shows_nothing_but_other_times) {
  const bool strict = print_archive(anchor_, true).exit_code == 0;
  const auto before = print_archive(anchor_, strict);
  const auto plan = random_plan(12);
  for (const auto mode : {WriteMode::rewrite, WriteMode::overlay}) {
    SCOPED_TRACE(mode == WriteMode::rewrite ? "rewrite" : "overlay");
    const auto after =
        print_archive(write(plan, mode, mode == WriteMode::rewrite ? "r" : "o"), strict);
    EXPECT_EQ(after.exit_code, before.exit_code) << after.errors;
    EXPECT_EQ(after.definitions, before.definitions);
    ASSERT_EQ(after.events.size(), before.events.size());
    for (const auto& [location, lines] : before.events) {
      EXPECT_TRUE(after.events.at(location) == lines) << "location " << location;
    }
  }
}

TEST_P(Write, clock_properties_cover_the_times) {
  const auto plan = random_plan(13);
  const auto old = archive_->definitions().clock;
  for (const auto mode : {WriteMode::rewrite, WriteMode::overlay}) {
    const auto written = write(plan, mode, mode == WriteMode::rewrite ? "r" : "o");
    const auto clock = library_trace(written).definitions.clock;
    EXPECT_EQ(clock.resolution_hz, old.resolution_hz);
    for (const auto& location : library_times(written)) {
      for (const auto time : location.times) {
        ASSERT_GE(time, clock.global_offset);
        ASSERT_LE(time - clock.global_offset, clock.length);
      }
    }
    if (old.realtime_ns == ~std::uint64_t{0}) {
      EXPECT_EQ(clock.realtime_ns, old.realtime_ns);
    } else {
      const double moved_s = static_cast<double>(old.global_offset - clock.global_offset) /
                             static_cast<double>(clock.resolution_hz);
      EXPECT_NEAR(static_cast<double>(old.realtime_ns - clock.realtime_ns), moved_s * 1e9, 2);
    }
  }
}

TEST_P(Write, properties_are_set_and_the_others_stay) {
  const auto written = write(random_plan(16), WriteMode::rewrite, "r");
  auto expected = archive_->definitions().properties;
  expected.push_back({"ENTRAIN::TEST", "yes"});
  const auto actual = library_trace(written).definitions.properties;
  ASSERT_EQ(actual.size(), expected.size());
  for (const auto& property : expected) {
    EXPECT_TRUE(std::any_of(actual.begin(), actual.end(), [&](const auto& other) {
      return other.name == property.name && other.value == property.value;
    })) << property.name;
  }
}

TEST_P(Write, an_identity_plan_copies_byte_for_byte) {
  otf2::WritePlan plan;
  for (const auto& skeleton : skeletons_) {
    plan.maps.emplace_back();
    plan.clock_offsets.push_back(skeleton.clock_offsets);
  }
  plan.first_time = static_cast<std::int64_t>(archive_->definitions().clock.global_offset);
  plan.last_time = plan.first_time;
  const auto old_marker = otf2::read_marker_times(*archive_);
  for (const otf2::MarkerTime& marker : *old_marker) {
    plan.marker_times.push_back(static_cast<std::int64_t>(marker.time));
  }
  const auto written = write(plan, WriteMode::rewrite, "copy");
  auto expected = input_before_;
  std::erase_if(expected, [&](const auto& entry) {  // other things in the folder
    return !entry.first.starts_with(archive_->name() + "/") &&
           !entry.first.starts_with(archive_->name() + ".");
  });
  auto actual = digest_tree(scratch_ / "copy");
  // Local definitions are packed anew, which only shows where a file has no shortest form.
  const auto is_local = [](const auto& entry) {
    return entry.first.find('/') != std::string::npos && entry.first.ends_with(".def");
  };
  std::erase_if(expected, is_local);
  std::erase_if(actual, is_local);
  actual.erase(k_folder_mark);
  EXPECT_EQ(actual, expected);
  const auto before = library_trace(anchor_), after = library_trace(written);
  for (std::size_t i = 0; i < before.locations.size(); ++i) {
    EXPECT_EQ(difference(after.locations[i], before.locations[i]), "") << "location " << i;
  }
}

TEST_P(Write, an_overlay_with_the_old_clock_offsets_copies_byte_for_byte) {
  std::error_code error;
  fs::create_hard_link(anchor_, scratch_ / "link", error);
  if (error) GTEST_SKIP() << "temporary files are on another file system: " << error.message();
  otf2::WritePlan plan;
  for (const auto& skeleton : skeletons_) {
    std::vector<ClockKnot> knots;
    for (const auto& offset : skeleton.clock_offsets) knots.push_back({offset.time, offset.offset});
    plan.maps.push_back(*ClockMap::from_knots(std::move(knots)));
  }
  plan.first_time = static_cast<std::int64_t>(archive_->definitions().clock.global_offset);
  plan.last_time = plan.first_time;
  write(plan, WriteMode::overlay, "copy", LinkKind::hard);
  for (const auto& [file, digest] : digest_tree(scratch_ / "copy")) {
    if (file == k_folder_mark) continue;
    if (file.ends_with(".snap")) continue;  // has no ClockOffset of its own: its times move
    EXPECT_EQ(digest, input_before_.at(file)) << file;
  }
}

TEST_P(Write, markers_and_snapshots_move_with_their_location) {
  const auto plan = random_plan(17);
  const auto& locations = archive_->definitions().locations;
  const auto position = [&](std::uint64_t id) -> LocationIndex {
    for (LocationIndex i = 0; i < locations.size(); ++i) {
      if (locations[i].id == id) return i;
    }
    return k_none;
  };
  auto markers = library_markers(anchor_);
  for (auto& marker : markers) {
    const auto at = marker.scope == 1 ? position(marker.scope_ref) : k_none;
    const auto end =
        static_cast<std::uint64_t>(marker_time(plan, at, marker.time + marker.duration));
    marker.time = static_cast<std::uint64_t>(marker_time(plan, at, marker.time));
    marker.duration = end - marker.time;
  }
  auto snapshots = library_snapshots(anchor_);
  for (auto& record : snapshots) {
    const auto& map = plan.maps[position(record.location)];
    record.time = static_cast<std::uint64_t>(map(record.time));
    record.original = static_cast<std::uint64_t>(map(record.original));
  }
  for (const auto mode : {WriteMode::rewrite, WriteMode::overlay}) {
    const auto written = write(plan, mode, mode == WriteMode::rewrite ? "r" : "o");
    EXPECT_EQ(library_markers(written), markers);
    EXPECT_EQ(library_snapshots(written), snapshots);
  }
}

INSTANTIATE_TEST_SUITE_P(Archives, Write, testing::ValuesIn(test_archives()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace entrain::test
