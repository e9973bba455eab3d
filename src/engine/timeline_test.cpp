// SPDX-License-Identifier: BSD-3-Clause
#include "engine/timeline.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include <gtest/gtest.h>

#include <entrain/entrain.hpp>

#include "base/random.hpp"
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

/// Five wall clocks end 200 calls together. The last one is slewed by 400 ppm to and fro, too
/// sharply for lines through ends: a fit of edges bends it, and the others stay.
TEST(Timeline, clocks_that_agree_stay_beside_one_that_a_fit_bends) {
  constexpr std::int64_t k_begin = 1'763'000'000'000'000'000, k_call = 20'000'000,
                         k_ns_per_us = 1'000;
  constexpr std::uint32_t k_clocks = 5;
  const auto shown = [](std::uint32_t clock, std::int64_t time) {
    constexpr std::int64_t k_way = 50 * k_call;  // until the slew turns
    const std::int64_t phase = time % (2 * k_way);
    const std::int64_t slew = std::min(phase, 2 * k_way - phase) / 2'500;
    return static_cast<std::uint64_t>(k_begin + time + (clock + 1 == k_clocks ? slew : 0));
  };
  Clocks clocks;
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    clocks.clocks.push_back({.name = name, .kind = ClockKind::wall});
  }
  std::vector<CollectiveInstance> instances;
  std::vector<InstanceMember> members;
  RandomStream random(7, 5);
  for (std::int64_t call = 0; call < 200; ++call) {
    instances.push_back(
        {.ends_coincide = true, .first = members.size(), .begins = k_clocks, .ends = k_clocks});
    const std::int64_t end = call * k_call + static_cast<std::int64_t>(random.below(k_call / 2));
    for (std::uint32_t c = 0; c < k_clocks; ++c) {
      const auto early =
          static_cast<std::int64_t>(random.below(20)) * k_ns_per_us + 5 * k_ns_per_us;
      members.push_back({.clock = c, .time = shown(c, end - early)});
    }
    for (std::uint32_t c = 0; c < k_clocks; ++c) {
      const auto late = static_cast<std::int64_t>(random.below(2'000));
      members.push_back({.clock = c, .time = shown(c, end + late)});
    }
  }
  Edges edges;
  edges.instances = instances;
  edges.members = members;
  const auto aligned = entrain::align(clocks, edges, {});
  ASSERT_TRUE(aligned) << aligned.error().message;
  EXPECT_EQ(aligned->report.after.violations, 0);
  for (std::int64_t time = 0; time < 200 * k_call; time += k_call) {
    for (std::uint32_t c = 0; c < k_clocks; ++c) {
      const std::int64_t error = aligned->maps[c](shown(c, time)) - k_begin - time;
      EXPECT_LT(std::abs(error), (c + 1 < k_clocks ? 10 : 100) * k_ns_per_us)
          << c << " at " << time;
    }
  }
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
