// SPDX-License-Identifier: BSD-3-Clause
#include "clc/amortize.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "clc/testing.hpp"
#include "trace/testing.hpp"

namespace entrain::clc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Optional;
using trace::testing::TraceBuilder;
using K = trace::EventKind;

ClockMap map_of(std::vector<ClockKnot> knots) { return *ClockMap::from_knots(std::move(knots)); }

Options fixed_gamma(std::int64_t billionths = 900'000'000) {
  Options options;
  options.keep_times = true;
  options.gamma = Decimal9{billionths};
  return options;
}

Result<Amortization> try_amortize(const TraceBuilder& b, const Options& options,
                                  std::vector<ClockMap> presync = {}) {
  presync.resize(b.trace().locations.size());
  return amortize(match::build_graph(b.trace(), {.every_event = true}), b.trace(), presync,
                  options);
}

Amortization amortize(const TraceBuilder& b, const Options& options = fixed_gamma(),
                      std::vector<ClockMap> presync = {}) {
  auto result = try_amortize(b, options, std::move(presync));
  if (!result) throw std::runtime_error(result.error().message);
  return *std::move(result);
}

/// Process 0 sends at 10,000; process 1 receives at 9,900: 100 ticks too early.
TraceBuilder one_violation(std::uint32_t processes = 2, std::uint32_t threads = 1) {
  TraceBuilder b(processes, threads);
  b.request(K::irecv_request, 0, 1'000, 9);
  b.message(K::send, 0, 10'000, 1);
  b.request(K::irecv_request, threads, 0, 9);
  b.message(K::recv, threads, 9'900, 0);
  b.request(K::irecv_request, threads, 20'000, 10);
  return b;
}

TEST(Amortize, jump_ramp_and_decay_of_one_violation) {
  const Amortization a = amortize(one_violation());
  EXPECT_EQ(a.jumps, 1u);
  EXPECT_THAT(a.presync, ElementsAre(1'000, 10'000, 0, 9'900, 20'000));
  EXPECT_THAT(a.forward, ElementsAre(1'000, 10'000, 0, 10'000, 20'000));
  EXPECT_THAT(a.corrected, ElementsAre(1'000, 10'000, 1, 10'000, 20'000));  // 100 - 0.01 * 9900
  // The ramp is cut off by the first event; the decay ends 100 / 0.1 ticks after the jump.
  EXPECT_THAT(a.maps[1].knots(),
              ElementsAre(ClockKnot{0, 1}, ClockKnot{9'900, 100}, ClockKnot{10'900, 0},
                          ClockKnot{20'000, 0}, ClockKnot{20'001, 0}));
}

TEST(Amortize, without_backward_the_jump_stays_a_jump) {
  Options options = fixed_gamma();
  options.backward = false;
  const Amortization a = amortize(one_violation(), options);
  EXPECT_EQ(a.corrected, a.forward);
  EXPECT_THAT(a.maps[1].knots(),
              ElementsAre(ClockKnot{0, 0}, ClockKnot{9'899, 0}, ClockKnot{9'900, 100},
                          ClockKnot{10'900, 0}, ClockKnot{20'000, 0}, ClockKnot{20'001, 0}));
}

TEST(Amortize, untouched_location_keeps_its_presync_map_verbatim) {
  const ClockMap presync = map_of({{5, 10}, {7'000, 17}, {90'000, -3}});
  const Amortization a = amortize(one_violation(), fixed_gamma(), {presync, {}});
  EXPECT_EQ(a.maps[0], presync);
  EXPECT_FALSE(a.maps[1].is_identity());
}

TEST(Amortize, without_violation_nothing_is_touched) {
  TraceBuilder b(2);
  b.message(K::send, 0, 100, 1);
  b.message(K::recv, 1, 100, 0);  // equal is enough
  const std::vector<ClockMap> presync{map_of({{0, 1}, {500, 2}}), map_of({{0, 3}, {500, 3}})};
  Options options;
  options.keep_times = true;
  options.delta_ticks = 1'000;
  const Amortization a = amortize(b, options, presync);
  EXPECT_EQ(a.maps, presync);
  EXPECT_EQ(a.jumps, 0u);
  EXPECT_EQ(a.passes.size(), 1u);
}

TEST(Amortize, an_edge_moves_its_receive_if_it_lacks_a_tick_and_no_earlier) {
  for (const std::int64_t slack : {-1, 0, 1}) {
    for (const std::int64_t delta : {0, 3}) {
      TraceBuilder b(3);
      b.message(K::send, 0, 10'000, 1);
      b.message(K::recv, 1, static_cast<std::uint64_t>(10'005 + slack), 0);
      for (LocationIndex l = 0; l < 3; ++l) {
        b.collective(l, 20'000 + l, static_cast<std::uint64_t>(20'007 + slack + l),
                     trace::op::barrier, trace::k_root_none);
      }
      Options options;
      options.mu_ticks = {5, 5, 5};
      options.delta_ticks = delta;
      const Amortization a = amortize(b, options);
      EXPECT_EQ(a.jumps > 0, slack < 0) << slack;
      ASSERT_FALSE(a.passes.empty());
      if (slack < 0) continue;
      EXPECT_EQ(a.passes.size(), 1u);
      EXPECT_EQ(a.passes[0].gamma, 0.99999);
      EXPECT_TRUE(a.passes[0].chosen);
      EXPECT_EQ(a.maps, std::vector<ClockMap>(3));
    }
  }
}

TEST(Amortize, a_receive_that_moves_is_separated_from_its_send) {
  Options options = fixed_gamma();
  EXPECT_EQ(amortize(one_violation(), options).corrected[3], 10'000);
  options.separate = true;
  const Amortization a = amortize(one_violation(), options);
  EXPECT_EQ(a.forward[3], 10'001);
  EXPECT_EQ(a.corrected[3], 10'001);
}

TEST(Amortize, separation_leaves_equal_times_of_a_clean_trace_alone) {
  TraceBuilder b(3);
  b.message(K::send, 0, 100, 1);
  b.message(K::recv, 1, 100, 0);
  b.collective(0, 200, 300, trace::op::barrier, trace::k_root_none);
  b.collective(1, 300, 301, trace::op::barrier, trace::k_root_none);
  b.collective(2, 200, 300, trace::op::barrier, trace::k_root_none);
  b.message(K::send, 0, 50'000, 2);
  b.message(K::recv, 2, 49'000, 0);
  Options options = fixed_gamma();
  options.separate = true;
  options.max_slope = Decimal9{1'000'000'000};
  const Amortization a = amortize(b, options);
  EXPECT_EQ(a.jumps, 1u);
  EXPECT_EQ(a.maps[0], ClockMap());
  EXPECT_EQ(a.maps[1], ClockMap());
  EXPECT_EQ(a.forward.back(), 50'001);
}

TEST(Amortize, no_send_is_moved_to_the_time_of_its_receive) {
  // Location 1 jumps at 10,000; the ramp would carry its send at 9,950 past 9,960.
  TraceBuilder b(3);
  b.message(K::send, 0, 11'000'000, 1);
  b.message(K::send, 1, 9'999'950, 2);
  b.message(K::recv, 1, 10'000'000, 0);
  b.message(K::recv, 2, 9'999'960, 1);
  Options options = fixed_gamma();
  EXPECT_EQ(amortize(b, options).corrected[1], 9'999'960);
  options.separate = true;
  EXPECT_EQ(amortize(b, options).corrected[1], 9'999'959);
}

TEST(Amortize, measured_delta_is_the_smallest_granule_of_a_process) {
  TraceBuilder b(2, 2);  // processes {0, 1}, {2, 3}
  for (LocationIndex l = 0; l < 4; ++l) b.trace().locations[l].granule = 10 + l;
  b.trace().locations[1].granule = 0;  // unknown
  b.message(K::send, 0, 10'000, 1);
  b.message(K::recv, 2, 9'000, 0);
  b.message(K::send, 2, 9'012, 0);  // 12 after it
  b.message(K::recv, 0, 30'000, 1);
  Options options = fixed_gamma(100'000'000);
  EXPECT_EQ(amortize(b, options).forward[3], 10'002);  // gamma alone: 12 become 1.2
  options.measure_delta = true;
  const Amortization a = amortize(b, options);
  EXPECT_THAT(a.measured_delta, Optional(ElementsAre(10, 12)));
  EXPECT_EQ(a.forward[3], 10'012);
}

TEST(Amortize, a_message_takes_at_least_the_latency_of_its_pair_of_machines) {
  TraceBuilder b(3);
  b.message(K::send, 0, 10'000, 1);
  b.message(K::send, 0, 20'000, 2);
  b.message(K::recv, 1, 10'010, 0);
  b.message(K::recv, 2, 20'010, 0);
  match::Graph graph = match::build_graph(b.trace(), {});
  trace::PairMu pairs;
  pairs.add(graph.node_of[0], graph.node_of[2], 25);
  Options options = fixed_gamma();
  options.mu_ticks = {0, 0, 10};
  match::set_pair_mu(graph, pairs, options.mu_ticks);
  const auto a = amortize(std::move(graph), b.trace(), std::vector<ClockMap>(3), options);
  ASSERT_TRUE(a);
  EXPECT_THAT(a->corrected, ElementsAre(10'000, 20'000, 10'010, 20'025));
}

TEST(Amortize, paper_ramps_follow_limits_from_the_start_of_the_interval) {
  // The jump of 1,000 at 100,000 begins at 0; the send at 40,500 may move by 50.
  TraceBuilder b(3);
  b.message(K::send, 0, 101'000, 1);
  b.request(K::irecv_request, 1, 0, 9);
  b.message(K::send, 1, 40'500, 2);
  b.message(K::send, 1, 70'500, 2);
  b.message(K::recv, 1, 100'000, 0);
  b.message(K::recv, 2, 40'550, 1);
  b.message(K::recv, 2, 70'800, 1);
  Options options = fixed_gamma();
  EXPECT_EQ(amortize(b, options).corrected[2], 40'500);
  options.ramp = RampShape::paper;
  const Amortization a = amortize(b, options);
  EXPECT_EQ(a.corrected[2], 40'550);
  EXPECT_EQ(a.corrected[3], 70'800);
  EXPECT_EQ(a.corrected[4], 101'000);
}

TEST(Amortize, location_without_edges_follows_its_process) {
  // Location 2 is process 1's first thread, location 3 a metric location without any event of the
  // skeleton, location 1 belongs to process 0.
  TraceBuilder b = one_violation(2, 2);
  for (const LocationIndex l : {1u, 3u}) {
    b.trace().locations[l].event_count = 2;
    b.trace().locations[l].first = 5'000;
    b.trace().locations[l].last = 15'000;
  }
  const Amortization a = amortize(b);
  EXPECT_TRUE(a.maps[1].is_identity());
  EXPECT_EQ(a.maps[3](9'900), 10'000);
  EXPECT_EQ(a.maps[3](9'900), a.maps[2](9'900));
  EXPECT_EQ(a.maps[3](5'000), a.maps[2](5'000));
  EXPECT_EQ(a.maps[3](15'000), 15'000);
  EXPECT_THAT(a.maps[3].knots(),
              ElementsAre(ClockKnot{5'000, 51}, ClockKnot{9'900, 100}, ClockKnot{10'900, 0},
                          ClockKnot{15'000, 0}, ClockKnot{15'001, 0}));
}

TEST(Amortize, thread_with_edges_of_its_own_follows_nobody) {
  // Location 3 sends to process 0 and is not violated, though its process is.
  TraceBuilder b = one_violation(2, 2);
  b.message(K::send, 3, 5'000, 0, 7);
  b.message(K::recv, 0, 50'000, 1, 7);
  const Amortization a = amortize(b);
  EXPECT_TRUE(a.maps[3].is_identity());
}

TEST(Amortize, location_of_one_event_gets_two_knots) {
  TraceBuilder b(2);
  b.message(K::send, 0, 100, 1);
  b.message(K::recv, 1, 40, 0);
  const Amortization a = amortize(b);
  EXPECT_THAT(a.maps[1].knots(), ElementsAre(ClockKnot{40, 60}, ClockKnot{41, 60}));
  EXPECT_TRUE(a.maps[0].is_identity());
}

TEST(Amortize, empty_locations_and_traces) {
  TraceBuilder b = one_violation(3);
  const ClockMap presync = map_of({{0, 4}, {1, 4}});
  const Amortization a = amortize(b, fixed_gamma(), {{}, {}, presync});
  EXPECT_EQ(a.maps[2], presync);
  EXPECT_EQ(a.maps.size(), 3u);
  EXPECT_TRUE(amortize(TraceBuilder(0)).maps.empty());
}

TEST(Amortize, times_may_be_negative_in_between) {
  // Both clocks are 50,000 ticks ahead of global time.
  const ClockMap early = map_of({{0, -50'000}, {1'000'000, -50'000}});
  const Amortization a = amortize(one_violation(), fixed_gamma(), {early, early});
  EXPECT_THAT(a.presync, ElementsAre(-49'000, -40'000, -50'000, -40'100, -30'000));
  EXPECT_THAT(a.corrected, ElementsAre(-49'000, -40'000, -49'999, -40'000, -30'000));
}

TEST(Amortize, a_limit_holds_back_the_ramp) {
  // Process 1 sends 20 ticks before its violated receive, and that message is just in time.
  TraceBuilder b(2);
  b.message(K::send, 0, 10'000, 1);
  b.message(K::recv, 0, 10'050, 1, 1);
  b.request(K::irecv_request, 1, 0, 1);
  b.message(K::send, 1, 9'880, 0, 1);
  b.message(K::recv, 1, 9'900, 0);
  Options options = fixed_gamma();
  options.mu_ticks = {100, 100, 100};
  const Amortization a = amortize(b, options);
  EXPECT_THAT(a.forward, ElementsAre(10'000, 10'050, 0, 9'880, 10'100));
  EXPECT_EQ(a.corrected[3], 9'950);  // no further than 10,050 - mu
  EXPECT_EQ(a.corrected[4], 10'100);
}

TEST(Amortize, given_gamma_takes_one_pass) {
  const Amortization a = amortize(one_violation(), fixed_gamma(990'000'000));
  ASSERT_EQ(a.passes.size(), 1u);
  EXPECT_DOUBLE_EQ(a.passes[0].gamma, 0.99);
  EXPECT_EQ(a.passes[0].error_ticks, 100);
  EXPECT_EQ(a.passes[0].violations, 1u);
  EXPECT_TRUE(a.passes[0].chosen);
  EXPECT_EQ(a.gamma.billionths, 990'000'000);
}

TEST(Amortize, control_loop_takes_the_largest_gamma_that_costs_little) {
  const Amortization a = amortize(one_violation(), Options());
  EXPECT_EQ(a.gamma.billionths, 999'990'000);
  // The receive has to move by so much whatever gamma is: nothing better can come.
  ASSERT_EQ(a.passes.size(), 1u);
  EXPECT_TRUE(a.passes[0].chosen);
}

TEST(Amortize, control_loop_compares_with_the_smallest_gamma) {
  // A jump of 20 ticks upon one of 100: more than 1.1 times the largest violation, but with every
  // gamma.
  TraceBuilder b(3);
  b.message(K::send, 0, 2'100, 1);
  b.message(K::recv, 1, 2'000, 0);
  b.message(K::send, 1, 2'001, 2);
  b.message(K::recv, 2, 1'981, 1);
  const Amortization a = amortize(b, Options());
  EXPECT_EQ(a.gamma.billionths, 999'990'000);
  ASSERT_EQ(a.passes.size(), 2u);
  EXPECT_DOUBLE_EQ(a.passes[1].gamma, 0.9);
  EXPECT_TRUE(a.passes[0].chosen);
  EXPECT_FALSE(a.passes[1].chosen);
}

TEST(Amortize, control_loop_falls_back_to_the_smallest_gamma) {
  // Two clocks push each other, 100 ticks every 1,000: only gamma = 0.9 lets the error decay.
  TraceBuilder b(2);
  for (std::uint64_t k = 1; k < 40; ++k) {
    const LocationIndex from = k % 2, to = 1 - from;
    b.message(K::send, from, 1'000 * k + 100, to);
    b.message(K::recv, to, 1'000 * k, from);
  }
  const Amortization a = amortize(b, Options());
  EXPECT_EQ(a.gamma.billionths, 900'000'000);
  ASSERT_EQ(a.passes.size(), 5u);
  EXPECT_TRUE(a.passes[1].chosen);
  EXPECT_EQ(a.passes[1].error_ticks, 100);
  EXPECT_GT(a.passes[0].error_ticks, 3'000);
  // The result is that of the chosen pass, not of the last one tried.
  EXPECT_EQ(a.jumps, a.passes[1].violations);
}

TEST(Amortize, clocks_that_run_away_change_no_gamma_of_others) {
  // As before, and two more clocks with a single jump of 50.
  TraceBuilder b(4);
  for (std::uint64_t k = 1; k < 40; ++k) {
    const LocationIndex from = k % 2, to = 1 - from;
    b.message(K::send, from, 1'000 * k + 100, to);
    b.message(K::recv, to, 1'000 * k, from);
    b.message(K::send, 2, 1'000 * k, 3);
    b.message(K::recv, 3, 1'000 * k + (k == 20 ? 0 : 100) - (k == 20 ? 50 : 0), 2);
  }
  const Amortization a = amortize(b, Options());
  ASSERT_EQ(a.gamma_of.size(), 4u);
  EXPECT_EQ(a.gamma_of[0].billionths, 900'000'000);
  EXPECT_EQ(a.gamma_of[1].billionths, 900'000'000);
  EXPECT_EQ(a.gamma_of[3].billionths, 999'990'000);
  EXPECT_EQ(a.epsilon_ticks, 110);
  EXPECT_EQ(a.error_of[3], 50);
  // After its jump the fourth clock keeps its intervals, to the tick.
  EXPECT_EQ(a.maps[3](20'000 - 50), 20'000);
  EXPECT_EQ(a.maps[3](21'100), 21'150);
}

TEST(Amortize, cycles_are_counted) {
  TraceBuilder b(2);
  for (LocationIndex l = 0; l < 2; ++l) {
    b.message(K::send, l, 100, 1 - l);
    b.message(K::recv, l, 100, 1 - l);
  }
  using Count = std::pair<std::string, std::uint64_t>;
  EXPECT_THAT(amortize(b).cycles, ElementsAre(Count{"tied_components", 1}, Count{"tied_nodes", 2}));
  for (LocationIndex l = 0; l < 2; ++l) {
    b.message(K::recv, l, 1'000, 1 - l, 1);
    b.message(K::send, l, 2'000, 1 - l, 1);
  }
  EXPECT_THAT(amortize(b).cycles,
              ElementsAre(Count{"tied_components", 1}, Count{"tied_nodes", 2},
                          Count{"dropped_components", 1}, Count{"dropped_edges", 2}));
}

TEST(Amortize, absurd_offsets_are_refused_by_name) {
  constexpr std::int64_t k_far = -(std::int64_t{1} << 61);
  const ClockMap absurd = map_of({{0, k_far}, {1'000'000, k_far}});
  const auto result = try_amortize(one_violation(), fixed_gamma(), {{}, absurd});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::input);
  EXPECT_THAT(result.error().message, HasSubstr("location 101 of hand-made"));
}

}  // namespace
}  // namespace entrain::clc
