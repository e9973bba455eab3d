// SPDX-License-Identifier: BSD-3-Clause
// The generator itself: what it calls true must be true.
#include "support/random_trace.hpp"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "support/reference_clc.hpp"

namespace entrain::test {
namespace {

std::uint64_t violations(const RandomTrace& trace) {
  const ReferenceProblem problem = reference_problem(trace);
  ReferenceCycles none;
  for (std::uint32_t i = 0; i < problem.nodes(); ++i) none.component.push_back(i);
  none.dropped.assign(problem.pairs.size(), false);
  return reference_violations(problem, none, problem.c);
}

TracePlan rich(std::uint64_t seed) {
  TracePlan plan;
  plan.seed = seed;
  plan.processes = 6;
  plan.threads = 3;
  plan.sub_comms = 2;
  plan.inter_comms = 2;
  plan.steps = 300;
  plan.init_finalize = true;
  plan.unmatched = seed % 2 == 0;
  return plan;
}

TEST(RandomTrace, perfect_clocks_show_no_violation) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    TracePlan plan = rich(seed);
    plan.granule_ticks = seed % 3 == 0 ? 50 : 1;
    EXPECT_EQ(violations(random_trace(plan)), 0u) << plan;
  }
}

TEST(RandomTrace, stamps_never_decrease_and_edges_name_events) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    TracePlan plan = rich(seed);
    plan.offset_ticks = 5000;
    plan.drift_ppm = 50'000;
    plan.wander_ppm = 100'000;
    plan.granule_ticks = 7;
    const RandomTrace trace = random_trace(plan);
    std::vector<std::set<std::uint64_t>> stamps(trace.trace.locations.size());
    for (std::size_t l = 0; l < stamps.size(); ++l) {
      const auto& events = trace.trace.locations[l].events;
      EXPECT_TRUE(std::is_sorted(events.begin(), events.end(), [](const auto& a, const auto& b) {
        return a.time < b.time;
      })) << plan;
      for (const auto& event : events) {
        EXPECT_EQ(event.time % 7, 0u);
        stamps[l].insert(event.time);
      }
    }
    for (const TrueEdge& edge : trace.edges) {
      EXPECT_NE(edge.send_location, edge.receive_location);
      EXPECT_TRUE(stamps[edge.send_location].contains(edge.send_stamp)) << edge;
      EXPECT_TRUE(stamps[edge.receive_location].contains(edge.receive_stamp)) << edge;
    }
  }
}

TEST(RandomTrace, every_kind_of_edge_occurs) {
  std::set<EdgeKind> kinds;
  for (const TrueEdge& edge : random_trace(rich(1)).edges) kinds.insert(edge.kind);
  EXPECT_EQ(kinds.size(), k_edge_kinds);
}

TEST(RandomTrace, most_receives_can_be_violated) {
  TracePlan plan;
  plan.seed = 5;
  plan.processes = 8;
  plan.steps = 2000;
  plan.mix = {10, 10, 0, 0, 0, 0, 0, 0};
  plan.downhill = 0.97;
  plan.offset_ticks = 100'000;
  const RandomTrace trace = random_trace(plan);
  EXPECT_GT(trace.edges.size(), 400u);
  EXPECT_GT(static_cast<double>(violations(trace)), 0.9 * static_cast<double>(trace.edges.size()));
}

TEST(RandomTrace, coarse_timers_close_cycles) {
  std::uint64_t kept = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    TracePlan plan = rich(seed);
    plan.granule_ticks = 100;
    kept += reference_cycles(reference_problem(random_trace(plan))).kept_components;
  }
  EXPECT_GT(kept, 10u);
}

TEST(RandomTrace, good_measurements_remove_most_violations) {
  TracePlan plan = rich(3);
  plan.offset_ticks = 20'000;
  plan.drift_ppm = 100;
  const std::uint64_t raw = violations(random_trace(plan));
  plan.presync_sessions = 3;
  const std::uint64_t synchronised = violations(random_trace(plan));
  EXPECT_GT(raw, 100u);
  EXPECT_LT(synchronised, raw / 10);
}

TEST(RandomTrace, depends_on_the_plan_alone) {
  const RandomTrace a = random_trace(rich(9)), b = random_trace(rich(9));
  EXPECT_EQ(a.edges, b.edges);
  EXPECT_NE(a.edges, random_trace(rich(10)).edges);
}

TEST(RandomTrace, permutation_and_back_is_the_same) {
  const RandomTrace trace = random_trace(rich(4));
  const auto count = static_cast<LocationIndex>(trace.trace.locations.size());
  std::vector<LocationIndex> there(count), back(count);
  for (LocationIndex i = 0; i < count; ++i) there[i] = (i * 5 + 2) % count;
  for (LocationIndex i = 0; i < count; ++i) back[there[i]] = i;
  const RandomTrace moved = permuted(trace, there);
  EXPECT_NE(moved.edges, trace.edges);
  EXPECT_EQ(permuted(moved, back).edges, trace.edges);
}

TEST(RandomTrace, scales_to_hundreds_of_locations) {
  TracePlan plan = rich(2);
  plan.processes = 100;
  plan.steps = 100;
  EXPECT_EQ(random_trace(plan).trace.locations.size(), 300u);
}

}  // namespace
}  // namespace entrain::test
