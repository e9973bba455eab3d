// SPDX-License-Identifier: BSD-3-Clause
#include "engine/timeline.hpp"

#include <filesystem>

#include <gtest/gtest.h>

#include "formats/registry/open.hpp"

namespace entrain::engine {
namespace {

const std::filesystem::path k_traces = std::filesystem::path(ENTRAIN_EXAMPLES_DIR) / "traces";

Result<Timeline> timeline_of(const std::filesystem::path& archive, const TimelineUse& use,
                             Presync presync = Presync::automatic) {
  trace::Workers workers(2);
  CheckOptions options;
  options.presync = presync;
  return find_timeline(workers, *formats::open({archive}, 1).value(), options, use, nullptr);
}

TEST(Timeline, a_check_needs_no_graph) {
  const auto timeline = timeline_of(k_traces / "allops-4", {});
  ASSERT_TRUE(timeline) << timeline.error().message;
  EXPECT_TRUE(timeline->graph.edges.empty());
  EXPECT_EQ(timeline->presync.maps, timeline->measured.maps);
  EXPECT_TRUE(timeline->domains.of.size() == timeline->loaded.trace.locations.size());
}

TEST(Timeline, bounds_need_the_graph) {
  const auto timeline = timeline_of(k_traces / "allops-4", {.purpose = Purpose::bounds});
  ASSERT_TRUE(timeline) << timeline.error().message;
  EXPECT_FALSE(timeline->graph.edges.empty());
  EXPECT_EQ(timeline->presync.maps, timeline->measured.maps);
}

TEST(Timeline, the_first_method_asked_for_is_the_one_reported) {
  const auto timeline = timeline_of(k_traces / "allops-4", {}, Presync::none);
  ASSERT_TRUE(timeline);
  EXPECT_EQ(timeline->report.presync, PresyncMethod::none);
  EXPECT_EQ(timeline->report.clock_domain, ClockDomain::automatic);
  EXPECT_EQ(timeline->report.clocks, timeline->domains.count());
}

TEST(Timeline, a_correction_knows_all_events) {
  const auto few = timeline_of(k_traces / "allops-4", {.purpose = Purpose::correction});
  const auto all =
      timeline_of(k_traces / "allops-4", {.purpose = Purpose::correction, .every_event = true});
  ASSERT_TRUE(few) << few.error().message;
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_LT(few->graph.node_count(), all->graph.node_count());
}

TEST(Timeline, shift_is_the_distance_from_the_measured_times) {
  trace::Workers workers(1);
  auto timeline = timeline_of(k_traces / "allops-4", {.purpose = Purpose::bounds});
  ASSERT_TRUE(timeline);
  measure_shift(workers, *timeline);
  EXPECT_EQ(timeline->report.shift_max_ticks, 0);
  timeline->presync.maps[1] = timeline->measured.maps[1].shifted(-7);
  measure_shift(workers, *timeline);
  EXPECT_EQ(timeline->report.shift_max_ticks, 7);
  EXPECT_GT(timeline->report.shift_mean_ticks, 0);
  EXPECT_LT(timeline->report.shift_mean_ticks, 7);
}

TEST(Timeline, a_missing_archive_is_an_input_error) {
  const auto refused = timeline_of("no/such/trace.otf2", {.purpose = Purpose::correction});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::input);
}

}  // namespace
}  // namespace entrain::engine
