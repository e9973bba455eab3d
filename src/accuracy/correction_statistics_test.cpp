// SPDX-License-Identifier: BSD-3-Clause
#include "accuracy/correction_statistics.hpp"

#include <gtest/gtest.h>

#include <fmt/ranges.h>

#include "trace/teams_testing.hpp"
#include "trace/testing.hpp"

namespace entrain::accuracy {
namespace {

using trace::testing::expect_by_teams;
using trace::testing::part_of;
using trace::testing::TraceBuilder;
using K = trace::EventKind;

/// A location with an event at every stamp.
trace::Trace at_stamps(const std::vector<std::uint64_t>& stamps) {
  TraceBuilder b(1);
  for (const std::uint64_t stamp : stamps) b.message(K::send, 0, stamp, 0);
  return b.trace();
}

std::string text_of(const Result<CorrectionStatistics>& result) {
  if (!result) return result.error().message;
  const CorrectionStatistics& s = *result;
  return fmt::format("{} {} {} {} {} {} {} {} {} {} {}", s.moved_events, s.compared_events,
                     s.mean_ticks, s.p99_ticks, s.max_ticks, s.intervals.histogram,
                     s.intervals.histogram_ticks, s.intervals.max_share, s.max_slope,
                     s.moved_backward, s.order_broken);
}

Result<CorrectionStatistics> alone(const TimedTrace& before, const TimedTrace& after) {
  Solo solo;
  const trace::Partition all = trace::undivided(before.trace.definitions);
  return correction_statistics(solo, all, before, after, Cancel(nullptr));
}

/// The statistics of one thread, which teams must get as well, each member with its part of the
/// traces.
Result<CorrectionStatistics> statistics_by_teams(const trace::Trace& before,
                                                 const std::vector<ClockMap>& before_maps,
                                                 const trace::Trace& after,
                                                 const std::vector<ClockMap>& after_maps) {
  auto result = alone({before, before_maps}, {after, after_maps});
  expect_by_teams(
      before.definitions, text_of(result), [&](Team& team, const trace::Partition& partition) {
        const trace::Trace own_before = part_of(before, partition, team.rank());
        const trace::Trace own_after = part_of(after, partition, team.rank());
        const TimedTrace here{own_before, before_maps}, there{own_after, after_maps};
        return text_of(correction_statistics(team, partition, here, there, Cancel(nullptr)));
      });
  return result;
}

CorrectionStatistics statistics(const std::vector<std::uint64_t>& before,
                                const std::vector<std::uint64_t>& after) {
  const std::vector<ClockMap> identity(1);
  return *statistics_by_teams(at_stamps(before), identity, at_stamps(after), identity);
}

TEST(Statistics, untouched_trace) {
  const auto s = statistics({100, 200, 200, 300}, {100, 200, 200, 300});
  EXPECT_EQ(s.compared_events, 3);  // distinct stamps
  EXPECT_EQ(s.moved_events, 0);
  EXPECT_EQ(s.mean_ticks, 0);
  EXPECT_EQ(s.max_ticks, 0);
  EXPECT_EQ(s.max_slope, 0);
  EXPECT_EQ(s.intervals.histogram, (std::array<std::uint64_t, 7>{2, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(s.intervals.histogram_ticks[0], 200);
}

TEST(Statistics, displacements) {
  const auto s = statistics({100, 200, 300, 400}, {100, 210, 330, 420});
  EXPECT_EQ(s.moved_events, 3);
  EXPECT_DOUBLE_EQ(s.mean_ticks, 20);
  EXPECT_EQ(s.max_ticks, 30);
  EXPECT_EQ(s.p99_ticks, 30);
  EXPECT_DOUBLE_EQ(s.max_slope, 0.2);  // 200 .. 300 became 210 .. 330
  EXPECT_DOUBLE_EQ(s.intervals.max_share, 0.2);
  EXPECT_EQ(s.moved_backward, 0);
  EXPECT_EQ(s.order_broken, 0);
}

TEST(Statistics, ninety_ninth_percentile_leaves_out_one_percent) {
  std::vector<std::uint64_t> before, after;
  for (std::uint64_t i = 1; i <= 200; ++i) {
    before.push_back(1000 * i);
    after.push_back(1000 * i + i);
  }
  EXPECT_EQ(statistics(before, after).p99_ticks, 198);
  EXPECT_EQ(statistics(before, after).max_ticks, 200);
}

TEST(Statistics, histogram_edges_belong_to_the_lower_bin) {
  // Intervals of 100,000 ticks, each one longer by: 0, 10 (0.01 %), 11, 100, 1,000, 10,000,
  // 100,000 (100 %), 100,001.
  std::vector<std::uint64_t> before{0}, after{0};
  for (const std::uint64_t change : {0, 10, 11, 100, 1'000, 10'000, 100'000, 100'001}) {
    before.push_back(before.back() + 100'000);
    after.push_back(after.back() + 100'000 + change);
  }
  const auto s = statistics(before, after);
  EXPECT_EQ(s.intervals.histogram, (std::array<std::uint64_t, 7>{1, 1, 2, 1, 1, 1, 1}));
  EXPECT_EQ(s.intervals.histogram_ticks[2], 200'000);
  EXPECT_DOUBLE_EQ(s.intervals.max_share, 1.00001);
}

TEST(Statistics, shorter_intervals_change_but_do_not_stretch) {
  const auto s = statistics({100, 200, 300}, {150, 200, 300});
  EXPECT_DOUBLE_EQ(s.intervals.max_share, 0.5);
  EXPECT_EQ(s.max_slope, 0);
  EXPECT_EQ(s.intervals.histogram, (std::array<std::uint64_t, 7>{1, 0, 0, 0, 0, 1, 0}));
}

TEST(Statistics, backward_moves_and_broken_order) {
  const auto s = statistics({100, 200, 300, 400}, {100, 199, 298, 297});
  EXPECT_EQ(s.moved_backward, 2);  // 199 is within a tick
  EXPECT_EQ(s.order_broken, 1);    // 298 > 297
  EXPECT_EQ(s.max_ticks, 103);
}

TEST(Statistics, events_move_backward_from_the_start_of_the_amortization) {
  const trace::Trace before = at_stamps({100, 200, 300}), after = at_stamps({95, 200, 305});
  const std::vector<ClockMap> identity(1);
  Solo solo;
  const trace::Partition all = trace::undivided(before.definitions);
  const auto backward = [&](std::int64_t start) {
    const std::vector<ClockMap> maps{*ClockMap::from_knots({{0, start}, {1000, start}})};
    const auto found = correction_statistics(solo, all, {before, identity}, {after, identity},
                                             Cancel(nullptr), maps);
    EXPECT_EQ(found->moved_events, 2u);  // whatever the start is
    return found->moved_backward;
  };
  EXPECT_EQ(backward(0), 1u);
  EXPECT_EQ(backward(-10), 0u);
  EXPECT_EQ(backward(10), 3u);
}

TEST(Statistics, events_of_one_instant_may_be_torn_apart_in_order_only) {
  EXPECT_EQ(statistics({100, 100}, {101, 102}).order_broken, 0);
  EXPECT_EQ(statistics({100, 100}, {102, 101}).order_broken, 1);
  EXPECT_EQ(statistics({100, 100}, {102, 101}).compared_events, 1);
}

TEST(Statistics, times_come_through_the_clock_maps) {
  const auto stamps = at_stamps({100, 200});
  const std::vector<ClockMap> late{*ClockMap::from_knots({{100, 1000}, {200, 1050}})};
  const std::vector<ClockMap> later{*ClockMap::from_knots({{100, 1000}, {200, 1080}})};
  const auto s = *statistics_by_teams(stamps, late, stamps, later);
  EXPECT_EQ(s.moved_events, 1);
  EXPECT_EQ(s.max_ticks, 30);
  EXPECT_DOUBLE_EQ(s.max_slope, 0.3);            // 30 in 100 local ticks
  EXPECT_DOUBLE_EQ(s.intervals.max_share, 0.2);  // 150 became 180
  EXPECT_EQ(s.intervals.histogram_ticks[5], 150);
}

TEST(Statistics, locations_are_kept_apart) {
  TraceBuilder before(2), after(2);
  before.message(K::send, 0, 1000, 1);
  after.message(K::send, 0, 1000, 1);
  before.message(K::recv, 1, 10, 0);
  after.message(K::recv, 1, 12, 0);
  const std::vector<ClockMap> maps(2);
  const auto s = *statistics_by_teams(before.trace(), maps, after.trace(), maps);
  EXPECT_EQ(s.compared_events, 2);
  EXPECT_EQ(s.moved_events, 1);
  EXPECT_EQ(s.order_broken, 0);
  EXPECT_EQ(s.intervals.histogram, (std::array<std::uint64_t, 7>{}));
}

TEST(Statistics, exact_over_many_locations_and_sizes) {
  TraceBuilder before(9), after(9);
  std::vector<std::int64_t> sizes;
  std::uint64_t state = 1;
  for (LocationIndex l = 0; l < 9; ++l) {
    for (std::uint64_t e = 1; e <= 300; ++e) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      const std::uint64_t moved = state >> (20 + state % 43);  // all magnitudes
      before.message(K::send, l, e << 45, l);
      after.message(K::send, l, (e << 45) + moved, l);
      if (moved > 0) sizes.push_back(static_cast<std::int64_t>(moved));
    }
  }
  const std::vector<ClockMap> maps(9);
  const auto s = *statistics_by_teams(before.trace(), maps, after.trace(), maps);
  std::sort(sizes.begin(), sizes.end());
  EXPECT_EQ(s.moved_events, sizes.size());
  EXPECT_EQ(s.p99_ticks, sizes[(sizes.size() * 99 - 1) / 100]);
  EXPECT_EQ(s.max_ticks, sizes.back());
}

TEST(Statistics, the_first_location_that_differs_is_named) {
  TraceBuilder before(6), after(6);
  for (const LocationIndex l : {2U, 4U}) before.message(K::send, l, 10, 0);
  const std::vector<ClockMap> maps(6);
  const auto result = statistics_by_teams(before.trace(), maps, after.trace(), maps);
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find("location 102"), std::string::npos);
}

TEST(Statistics, different_traces_are_refused) {
  const std::vector<ClockMap> maps(2);
  const auto count = statistics_by_teams(at_stamps({1, 2}), maps, at_stamps({1}), maps);
  ASSERT_FALSE(count);
  EXPECT_EQ(count.error().kind, ErrorKind::input);
  EXPECT_NE(count.error().message.find("location 100"), std::string::npos);
  trace::Trace other = at_stamps({1, 2});
  trace::testing::change_events(other.locations[0], [](auto& events) { events[1].kind = K::recv; });
  EXPECT_FALSE(statistics_by_teams(at_stamps({1, 2}), maps, other, maps));
  TraceBuilder more(2);
  EXPECT_FALSE(alone({at_stamps({}), maps}, {more.trace(), maps}));
}

}  // namespace
}  // namespace entrain::accuracy
