// SPDX-License-Identifier: BSD-3-Clause
// The correction against the reference model, and conditions that must hold after it
// (docs/method.md, section 6).
#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "property/corrected.hpp"
#include "verify/testing.hpp"

namespace entrain::test {
namespace {

clc::Options any_options() {
  clc::Options options;
  options.keep_times = true;
  options.gamma = Decimal9{*any_gamma()};
  options.delta_ticks = *rc::gen::element<std::int64_t>(0, 0, 1, 10, 100'000);
  options.max_slope = Decimal9{*any_slope()};
  options.mu_ticks = *any_mu();
  return options;
}

/// The same with what the reference model does not have.
clc::Options any_further_options() {
  clc::Options options = any_options();
  options.separate = *flag();
  if (*flag()) options.ramp = RampShape::paper;
  return options;
}

/// Locations that an edge in force touches. The others follow the first one of their process, and
/// which one is first depends on the order of definition.
std::vector<bool> connected_locations(const Corrected& c) {
  std::vector<bool> connected(c.problem.locations(), false);
  for (std::size_t k = 0; k < c.problem.pairs.size(); ++k) {
    if (c.cycles.dropped[k]) continue;
    for (LocationIndex l = 0; l < c.problem.locations(); ++l) {
      for (const NodeIndex end : {c.problem.pairs[k].send, c.problem.pairs[k].receive}) {
        if (end >= c.problem.first_node[l] && end < c.problem.first_node[l + 1]) {
          connected[l] = true;
        }
      }
    }
  }
  return connected;
}

RC_GTEST_PROP(Clc, forward_is_the_reference, ()) {
  const TracePlan plan = *skewed_plan();
  clc::Options options = any_options();
  options.backward = *flag();
  const Corrected c = correct(plan, options);
  const ReferenceForward reference =
      reference_forward(c.problem, c.cycles, options.gamma->billionths, options.delta_ticks);
  RC_ASSERT(c.result.presync == c.problem.c);
  RC_ASSERT(c.result.forward == reference.time);
  RC_ASSERT(c.result.gamma.billionths == options.gamma->billionths);
  RC_ASSERT(c.result.passes.size() == 1u);
  RC_ASSERT(c.result.passes[0].chosen);
  RC_ASSERT(c.result.passes[0].error_ticks == reference.error);
}

/// Clocks as they are: presynchronised time runs within some ppm of local time, and a trace is
/// long against the noise of its measurements.
rc::Gen<TracePlan> realistic_plan() {
  return rc::gen::map(skewed_plan(), [](TracePlan plan) {
    plan.drift_ppm = std::min(plan.drift_ppm, 50.0);
    plan.wander_ppm = std::min(plan.wander_ppm, 50.0);
    plan.gap_ticks = std::max<std::int64_t>(plan.gap_ticks, 1000);
    plan.presync_noise_ticks = std::min<std::int64_t>(plan.presync_noise_ticks, 1);
    return plan;
  });
}

/// Clocks of any sort, stamps taken as they are.
rc::Gen<TracePlan> uncorrected_plan() {
  return rc::gen::map(skewed_plan(), [](TracePlan plan) {
    plan.presync_sessions = 0;
    return plan;
  });
}

/// Clock maps are built of the natural bends of the result: between them rounding may move a node
/// by a tick for each of the three roundings involved (presync, displacement, bend).
constexpr std::int64_t k_rounding = 3;

void expect_near(const Corrected& c, std::span<const std::int64_t> reference) {
  const std::vector<bool> connected = connected_locations(c);
  for (LocationIndex l = 0; l < c.problem.locations(); ++l) {
    if (!connected[l]) continue;
    for (NodeIndex i = c.problem.first_node[l]; i < c.problem.first_node[l + 1]; ++i) {
      RC_ASSERT(c.result.corrected[i] >= reference[i] - k_rounding);
      RC_ASSERT(c.result.corrected[i] <= reference[i] + k_rounding);
    }
  }
}

RC_GTEST_PROP(Clc, backward_is_the_reference, ()) {
  const TracePlan plan = *rc::gen::oneOf(realistic_plan(), uncorrected_plan());
  const Corrected c = correct(plan, any_options());
  const ReferenceForward forward =
      reference_forward(c.problem, c.cycles, c.options.gamma->billionths, c.options.delta_ticks);
  expect_near(c, reference_backward(c.problem, c.cycles, forward, c.options.max_slope.billionths));
}

RC_GTEST_PROP(Clc, without_backward_the_result_is_forward, ()) {
  const TracePlan plan = *realistic_plan();
  clc::Options options = any_options();
  options.backward = false;
  const Corrected c = correct(plan, options);
  expect_near(c, c.result.forward);
  RC_ASSERT(reference_violations(c.problem, c.cycles, c.result.corrected) == 0u);
}

RC_GTEST_PROP(Clc, maps_hold_the_result, ()) {
  const TracePlan plan = *realistic_plan();
  clc::Options options = any_options();
  options.backward = *flag();
  const Corrected c = correct(plan, options);
  RC_ASSERT(c.result.maps.size() == c.problem.locations());
  for (LocationIndex l = 0; l < c.problem.locations(); ++l) {
    const ClockMap& map = c.result.maps[l];
    const trace::LocationSkeleton& skeleton = c.random.trace.locations[l];
    std::int64_t previous = 0;
    for (NodeIndex i = c.problem.first_node[l]; i < c.problem.first_node[l + 1]; ++i) {
      const std::int64_t time = map(c.problem.stamp[i]);
      RC_ASSERT(time == c.result.corrected[i]);
      if (i > c.problem.first_node[l]) RC_ASSERT(time >= previous);
      previous = time;
    }
    if (skeleton.event_count == 0) continue;
    RC_ASSERT(map.is_monotone());
    // No steep ramp is extrapolated after the last event.
    const std::int64_t last = map(skeleton.last) - static_cast<std::int64_t>(skeleton.last);
    const std::int64_t after =
        map(skeleton.last + 1'000'000) - static_cast<std::int64_t>(skeleton.last + 1'000'000);
    if (map != c.random.presync[l]) RC_ASSERT(after == last);
  }
}

RC_GTEST_PROP(Clc, what_must_hold_afterwards, ()) {
  const TracePlan plan = *skewed_plan();
  clc::Options options = any_further_options();
  if (*flag()) options.gamma.reset();
  const Corrected c = correct(plan, options);
  RC_ASSERT(reference_violations(c.problem, c.cycles, c.result.corrected) == 0u);
  for (std::size_t i = 0; i < c.result.corrected.size(); ++i) {
    const bool pushed = c.result.forward[i] > c.result.presync[i];
    RC_ASSERT(c.result.corrected[i] >= c.result.presync[i] - (pushed ? 0 : 1));
  }
}

RC_GTEST_PROP(Clc, second_run_changes_nothing, ()) {
  const TracePlan plan = *skewed_plan();
  const Corrected c = correct(plan, any_further_options());
  const auto again = clc::amortize(c.graph, c.random.trace, c.result.maps, c.options);
  RC_ASSERT(again.has_value());
  RC_ASSERT(again->jumps == 0u);
  RC_ASSERT(again->maps == c.result.maps);
  RC_ASSERT(again->corrected == c.result.corrected);
}

RC_GTEST_PROP(Clc, no_violation_no_change, ()) {
  TracePlan plan = *any_plan(8, 200);
  plan.offset_ticks = 0;
  plan.drift_ppm = plan.wander_ppm = 0;
  plan.presync_sessions = 0;
  clc::Options options = any_further_options();
  options.mu_ticks = {};
  const Corrected c = correct(plan, options);
  RC_ASSERT(c.result.jumps == 0u);
  RC_ASSERT(c.result.maps == c.random.presync);
  RC_ASSERT(c.result.corrected == c.problem.c);
}

RC_GTEST_PROP(Clc, untouched_locations_keep_their_maps, ()) {
  const TracePlan plan = *skewed_plan();
  const Corrected c = correct(plan, any_options());
  const ReferenceForward forward =
      reference_forward(c.problem, c.cycles, c.options.gamma->billionths, c.options.delta_ticks);
  const std::vector<bool> connected = connected_locations(c);
  for (LocationIndex l = 0; l < c.problem.locations(); ++l) {
    const auto begin = forward.jump.begin() + c.problem.first_node[l];
    const auto end = forward.jump.begin() + c.problem.first_node[l + 1];
    if (!connected[l] || std::find(begin, end, true) != end) continue;
    RC_ASSERT(c.result.maps[l] == c.random.presync[l]);
  }
}

RC_GTEST_PROP(Clc, order_of_locations_does_not_matter, ()) {
  const TracePlan plan = *skewed_plan();
  const Corrected c = correct(plan, any_options());
  std::vector<LocationIndex> position(c.random.trace.locations.size());
  std::iota(position.begin(), position.end(), 0u);
  std::rotate(position.begin(), position.begin() + static_cast<std::ptrdiff_t>(position.size() / 2),
              position.end());
  const RandomTrace moved = permuted(c.random, position);
  const auto result = clc::amortize(graph_of(moved, plan), moved.trace, moved.presync, c.options);
  RC_ASSERT(result.has_value());
  const std::vector<bool> connected = connected_locations(c);
  for (LocationIndex l = 0; l < position.size(); ++l) {
    if (!connected[l]) continue;
    RC_ASSERT(result->maps[position[l]] == c.result.maps[l]);
  }
}

RC_GTEST_PROP(Clc, wrong_edges_are_dropped_or_obeyed, ()) {
  TracePlan plan = *skewed_plan(5, 80);
  const clc::Options options = any_options();
  const RandomTrace random = random_trace(plan);
  match::Graph graph = graph_of(random, plan);
  std::vector<LocationIndex> location_of;
  for (LocationIndex l = 0; l < graph.location_count(); ++l) {
    location_of.insert(location_of.end(), graph.first_node[l + 1] - graph.first_node[l], l);
  }
  const auto nodes = static_cast<NodeIndex>(graph.node_count());
  RC_PRE(nodes > 1);
  for (int extra = *rc::gen::inRange(1, 6); extra > 0; --extra) {
    const NodeIndex s = *rc::gen::inRange<NodeIndex>(0, nodes);
    const NodeIndex r = *rc::gen::inRange<NodeIndex>(0, nodes);
    if (location_of[s] == location_of[r]) continue;
    graph.edges.push_back(
        {s, r, EdgeKind::p2p, graph.latency_class(location_of[s], location_of[r])});
  }
  std::stable_sort(
      graph.edges.begin(), graph.edges.end(),
      [](const match::Edge& a, const match::Edge& b) { return a.receive < b.receive; });
  const ReferenceProblem problem = reference_problem(graph, random.presync, options.mu_ticks);
  const ReferenceCycles cycles = reference_cycles(problem);
  const auto result = clc::amortize(graph, random.trace, random.presync, options);
  RC_ASSERT(result.has_value());
  RC_CLASSIFY(cycles.dropped_components > 0);
  RC_ASSERT(
      result->forward ==
      reference_forward(problem, cycles, options.gamma->billionths, options.delta_ticks).time);
  RC_ASSERT(reference_violations(problem, cycles, result->corrected) == 0u);
}

RC_GTEST_PROP(Clc, checker_finds_nothing_afterwards, ()) {
  const TracePlan plan = *skewed_plan();
  clc::Options options;
  options.keep_times = true;
  options.mu_ticks = *any_mu();
  const Corrected c = correct(plan, options);
  CheckOptions check_options;
  check_options.alltoallv = plan.dense_alltoallv ? AlltoallvRule::dense : AlltoallvRule::ignore;
  check_options.init_finalize = plan.init_finalize;
  const CheckReport report =
      verify::check(c.random.trace, {.maps = c.result.maps, .mu = options.mu_ticks}, check_options);
  RC_ASSERT(report.violations == 0u);
  RC_ASSERT(report.below_latency == 0u);
}

TEST(Clc, decays_follow_presynchronised_time) {
  // A clock that is measured to run twice too fast between two sessions: displacement falls half
  // as fast there in local ticks, and time must not run back at the knots.
  ReferenceProblem problem;
  problem.add_location({10'000});
  problem.add_location({5'000, 5'100, 5'300, 5'500, 9'000, 20'000});
  trace::Trace trace;
  trace.locations.resize(2);
  match::Graph graph;
  graph.first_node = problem.first_node;
  graph.stamp.assign(problem.stamp.begin(), problem.stamp.end());
  graph.edges = {{0, 1, EdgeKind::p2p, LatencyClass::other}};
  graph.process_of = graph.node_of = {0, 1};
  graph.granule = {1, 1};
  for (LocationIndex l = 0; l < 2; ++l) {
    trace.locations[l].event_count = 6;
    trace.locations[l].first = problem.stamp[problem.first_node[l]];
    trace.locations[l].last = problem.stamp[problem.first_node[l + 1] - 1];
  }
  const ClockMap map =
      *ClockMap::from_knots({{5'000, 0}, {5'200, -100}, {5'400, -100}, {5'600, -200}});
  const std::vector<ClockMap> presync{ClockMap(), map};
  problem = reference_problem(graph, presync);
  clc::Options options;
  options.keep_times = true;
  options.gamma = Decimal9{100'000'000};
  for (const bool backward : {false, true}) {
    options.backward = backward;
    const auto result = clc::amortize(graph, trace, presync, options);
    ASSERT_TRUE(result.has_value());
    const ReferenceForward forward =
        reference_forward(problem, reference_cycles(problem), options.gamma->billionths, 0);
    EXPECT_EQ(result->forward, forward.time);
    EXPECT_TRUE(result->maps[1].is_monotone());
    for (std::size_t i = 0; i < forward.time.size(); ++i) {
      EXPECT_NEAR(static_cast<double>(result->corrected[i] - forward.time[i]), 0, 2) << i;
    }
  }
}

TEST(Clc, hundreds_of_locations) {
  TracePlan plan;
  plan.seed = 7;
  plan.processes = 100;
  plan.threads = 3;
  plan.steps = 120;
  plan.shuffle_locations = true;
  plan.offset_ticks = 2000;
  plan.granule_ticks = 5;
  clc::Options options;
  options.keep_times = true;
  options.mu_ticks = {0, 1, 3};
  const Corrected c = correct(plan, options);
  EXPECT_GT(c.result.jumps, 100u);
  EXPECT_EQ(c.result.forward, reference_forward(c.problem, c.cycles, gammas_of(c), 0).time);
  EXPECT_EQ(reference_violations(c.problem, c.cycles, c.result.corrected), 0u);
}

}  // namespace
}  // namespace entrain::test
