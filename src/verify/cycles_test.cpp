// SPDX-License-Identifier: BSD-3-Clause
#include "verify/cycles.hpp"

#include <gtest/gtest.h>

#include "verify/testing.hpp"

namespace entrain::verify {
namespace {

using testing::count;
using testing::edges;
using testing::p2p;
using testing::TraceBuilder;
using K = trace::EventKind;
namespace op = trace::op;

/// Two messages that cross: each location receives at `first` and sends at `second`.
TraceBuilder crossing(std::uint64_t first, std::uint64_t second) {
  TraceBuilder b(2);
  for (LocationIndex l = 0; l < 2; ++l) {
    b.message(K::recv, l, first, 1 - l);
    b.message(K::send, l, second, 1 - l);
  }
  return b;
}

TEST(Cycles, equal_stamps_close_a_cycle_that_carries_no_latency) {
  const TraceBuilder b = crossing(100, 100);
  const CheckReport report = b.check({}, MuTicks{5, 5, 5});
  EXPECT_EQ(p2p(report).count, 2);
  EXPECT_EQ(p2p(report).violations, 0);
  EXPECT_EQ(p2p(report).below_latency, 0);
  EXPECT_EQ(report.skipped, (Counters{{"cyclic_components", 1}}));
}

TEST(Cycles, inside_a_cycle_the_clock_condition_stays_strict) {
  TraceBuilder b = crossing(100, 100);
  trace::testing::change_events(b.trace().locations[1], [](auto& events) {
    for (auto& event : events) event.time = 99;
  });
  const CheckReport report = b.check({}, MuTicks{5, 5, 5});
  EXPECT_EQ(p2p(report).violations, 1);  // 100 -> 99
  EXPECT_EQ(p2p(report).below_latency, 1);
}

TEST(Cycles, up_to_two_granules_are_timer_resolution) {
  const TraceBuilder b = crossing(100, 102);
  const CheckReport report = b.check();
  EXPECT_EQ(p2p(report).count, 2);
  EXPECT_EQ(p2p(report).violations, 2);
  EXPECT_EQ(report.skipped, (Counters{{"cyclic_components", 1}}));
}

TEST(Cycles, wider_ones_are_dropped_as_matching_errors) {
  TraceBuilder b = crossing(100, 103);
  const CheckReport report = b.check();
  EXPECT_EQ(p2p(report).count, 0);
  EXPECT_EQ(p2p(report).violations, 0);
  EXPECT_FALSE(p2p(report).worst);
  EXPECT_EQ(report.skipped,
            (Counters{{"cyclic_components", 1}, {"dropped_components", 1}, {"dropped_edges", 2}}));
  b.trace().locations[0].granule = 2;  // now 3 is no more than two granules,
  EXPECT_EQ(p2p(b.check()).count, 0);  // but not on location 1
  b.trace().locations[1].granule = 2;
  EXPECT_EQ(p2p(b.check()).count, 2);
}

TEST(Cycles, no_cycle_without_equal_stamps) {
  TraceBuilder b(2);
  for (std::uint64_t round = 0; round < 3; ++round) {  // ping-pong, clocks far apart
    b.message(K::send, 0, 100 + 10 * round, 1);
    b.message(K::recv, 1, 50 + 10 * round, 0);
    b.message(K::send, 1, 55 + 10 * round, 0);
    b.message(K::recv, 0, 105 + 10 * round, 1);
  }
  const CheckReport report = b.check();
  EXPECT_EQ(p2p(report).count, 6);
  EXPECT_EQ(p2p(report).violations, 3);
  EXPECT_TRUE(report.skipped.empty());
}

TEST(Cycles, call_of_length_zero_is_no_cycle) {
  TraceBuilder b(3);
  for (LocationIndex l = 0; l < 3; ++l) b.collective(l, 100, 100 + l, op::barrier);
  const CheckReport report = b.check({}, MuTicks{3, 3, 3});
  EXPECT_TRUE(report.skipped.empty());
  EXPECT_EQ(edges(report, EdgeKind::n_to_n).count, 6);
  EXPECT_EQ(edges(report, EdgeKind::n_to_n).below_latency, 6);
}

TEST(Cycles, collective_inside_a_cycle) {
  TraceBuilder b(3);
  // Locations 0 and 1 begin and end within a tick: each waits for the other.
  b.collective(0, 100, 100, op::barrier);
  b.collective(1, 100, 100, op::barrier);
  b.collective(2, 90, 104, op::barrier);
  const CheckReport report = b.check({}, MuTicks{5, 5, 5});
  const EdgeStatistics& e = edges(report, EdgeKind::n_to_n);
  EXPECT_EQ(e.count, 6);
  EXPECT_EQ(e.below_latency, 2);  // 100 -> 104 twice; the two edges of the cycle have no latency
  EXPECT_EQ(e.violations, 0);
  EXPECT_EQ(count(report.skipped, "cyclic_components"), 1);
}

TEST(Cycles, dropped_collective_keeps_its_other_edges) {
  TraceBuilder b(3);
  const auto pair = b.comm({0, 1});
  // A message that goes back behind its own barrier ties 0 and 1 together, 10 ticks wide.
  b.message(K::recv, 0, 90, 1);
  b.collective(0, 100, 110, op::barrier);
  b.collective(1, 100, 110, op::barrier, trace::k_root_none);
  b.message(K::send, 1, 120, 0);
  b.collective(2, 105, 115, op::barrier);
  b.collective(0, 200, 210, op::barrier, trace::k_root_none, pair);
  b.collective(1, 200, 210, op::barrier, trace::k_root_none, pair);
  const CheckReport report = b.check();
  // begin 0 -> end 1 and send -> receive lie in the cycle; the end of 0 and the begin of 1 not.
  EXPECT_EQ(edges(report, EdgeKind::n_to_n).count, 6 - 1 + 2);
  EXPECT_EQ(p2p(report).count, 0);
  EXPECT_EQ(count(report.skipped, "dropped_edges"), 2);
  EXPECT_EQ(report.violations, 0);
}

TEST(Cycles, scan_is_a_chain) {
  TraceBuilder b(3);
  for (LocationIndex l = 0; l < 3; ++l) b.collective(l, 100, 100, op::scan);
  EXPECT_TRUE(b.check().skipped.empty());  // all in one instant, but nothing leads down the ranks
  b.message(K::send, 2, 100, 0);
  trace::testing::change_events(b.trace().locations[0], [](auto& events) {
    events.insert(events.begin(), trace::Event{100, 0, 0, 2, 0, K::recv, 0, 0});
  });
  EXPECT_EQ(count(b.check().skipped, "cyclic_components"), 1);
  EXPECT_EQ(b.check({}, MuTicks{1, 1, 1}).below_latency, 0);
}

TEST(Cycles, init_finalize_takes_part_only_if_in_force) {
  TraceBuilder b(2);
  for (LocationIndex l = 0; l < 2; ++l) {
    b.add(l, 100, K::init_enter);
    b.add(l, 100, K::init_leave);
  }
  EXPECT_TRUE(b.check().skipped.empty());
  CheckOptions options;
  options.init_finalize = true;
  EXPECT_EQ(count(b.check(options).skipped, "cyclic_components"), 1);
}

TEST(Cycles, two_components_are_two) {
  TraceBuilder b(2);
  for (std::uint64_t time : {100U, 200U}) {
    for (LocationIndex l = 0; l < 2; ++l) {
      b.message(K::recv, l, time, 1 - l);
      b.message(K::send, l, time, 1 - l);
    }
  }
  EXPECT_EQ(b.check().skipped, (Counters{{"cyclic_components", 2}}));
  const std::vector<ClockMap> maps(2);
  Solo solo;
  const trace::Partition partition = trace::undivided(b.trace().definitions);
  const trace::Share share{solo, partition, b.trace()};
  const Cancel never(nullptr);
  const auto relation = Relation::build(share, maps, AlltoallvRule::ignore, {}, never);
  ASSERT_TRUE(relation);
  IntervalUnion ties(100);
  ties.add(100, 100);
  ties.add(200, 200);
  const Clusters clusters = merge_clusters(solo, std::move(ties));
  const auto cycles = Cycles::find(share, *relation, clusters, false, never);
  ASSERT_TRUE(cycles);
  ASSERT_EQ(cycles->dropped().size(), 2);
  const auto of = [&](LocationIndex l, std::uint32_t e) { return cycles->of({l, e}); };
  EXPECT_EQ(of(0, 0), of(1, 0));  // an instant goes by its first event
  EXPECT_EQ(of(0, 2), of(1, 2));
  EXPECT_NE(of(0, 0), of(0, 2));
}

// Whatever lies inside a component takes part, even where its edges close no cycle.
TEST(Cycles, edges_not_in_force_are_dropped_with_their_component) {
  TraceBuilder b(2);
  for (LocationIndex l = 0; l < 2; ++l) {
    b.message(K::recv, l, 100, 1 - l);
    b.add(l, 110, K::finalize_enter);
    b.add(l, 120, K::finalize_leave);
    b.message(K::send, l, 200, 1 - l);
  }
  const CheckReport report = b.check();
  EXPECT_EQ(edges(report, EdgeKind::init_finalize).count, 0);
  EXPECT_EQ(count(report.skipped, "dropped_edges"), 2);  // those not in force are not counted
}

}  // namespace
}  // namespace entrain::verify
