// SPDX-License-Identifier: BSD-3-Clause
#include "clc/sweep_forward.hpp"

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "clc/team_testing.hpp"
#include "clc/testing.hpp"

namespace entrain::clc {
namespace {

using testing::equal;
using testing::k_gamma_09;
using testing::k_gamma_1;
using testing::Problem;
using testing::Times;
using trace::testing::TraceBuilder;
using K = trace::EventKind;

constexpr std::uint8_t k_barrier = 0;
constexpr MuTicks k_no_mu{}, k_mu_5{5, 5, 5};

/// A pass; nothing where sweeps cannot make it.
std::optional<ForwardTimes> run(Forward& way, Decimal9 gamma = k_gamma_09) {
  auto passes = way.run(std::span(&gamma, 1));
  if (!passes || passes->empty()) return std::nullopt;
  EXPECT_EQ(passes->size(), 1u);
  return std::move(passes->front());
}

std::optional<ForwardTimes> sweep(const TraceBuilder& b, const MuTicks& mu,
                                  Decimal9 gamma = k_gamma_09, unsigned threads = 1) {
  Problem problem(b);
  Solo solo;
  SweepForward way(solo, problem.with(mu, 0, threads));
  return run(way, gamma);
}

/// Expects the result of the data-flow.
void expect_same(const TraceBuilder& b, const MuTicks& mu, std::uint64_t jumps,
                 unsigned threads = 1) {
  const std::optional<ForwardTimes> swept = sweep(b, mu, k_gamma_09, threads);
  ASSERT_TRUE(swept);
  Problem problem(b);
  EXPECT_TRUE(equal(*swept, testing::flow_alone(problem.with(mu), k_gamma_09)));
  EXPECT_EQ(swept->jumps, jumps);
  EXPECT_FALSE(swept->overflow);
}

using Owner = std::vector<std::uint32_t>;

/// Expects that a team gets what one member gets, or leaves the pass to another way as it does.
/// Returns whether sweeps made the pass.
bool expect_same_in_teams(const TraceBuilder& b, const MuTicks& mu,
                          const std::vector<Owner>& owners) {
  Problem whole(b, {.every_event = true});
  Solo solo;
  SweepForward alone(solo, whole.with(mu));
  const std::optional<ForwardTimes> expected = run(alone);
  for (const Owner& owner : owners) {
    const auto done =
        testing::in_team(b, owner, [&](const trace::Share& share, Problem& part) -> Result<void> {
          SweepForward way(share.team, part.with(mu));
          const std::optional<ForwardTimes> pass = run(way);
          EXPECT_EQ(pass.has_value(), expected.has_value());
          if (!pass || !expected) return {};
          EXPECT_EQ(pass->jumps, expected->jumps);
          EXPECT_EQ(pass->error, expected->error);
          EXPECT_EQ(pass->error_of, expected->error_of);
          for (const LocationIndex l : share.own()) {
            const NodeIndex first = whole.graph.first_node[l], mine = part.graph.first_node[l];
            for (NodeIndex i = 0; i < whole.graph.first_node[l + 1] - first; ++i) {
              EXPECT_EQ(pass->times[mine + i], expected->times[first + i]);
              EXPECT_EQ(pass->jump[mine + i], expected->jump[first + i]);
            }
          }
          return {};
        });
    EXPECT_TRUE(done) << done.error().message;
  }
  return expected.has_value();
}

/// Each location gets a message from the one before it 5 ticks before it sends one itself. The
/// clock of the first one is `skew` ticks ahead, so the correction of the second one goes on to all
/// others.
TraceBuilder chain(LocationIndex length, std::uint64_t skew) {
  TraceBuilder b(length);
  for (LocationIndex l = 0; l < length; ++l) {
    const std::uint64_t time = 1'000'000 + 10 * l;
    const std::uint64_t late = l == 0 ? skew : 0;
    if (l > 0) b.message(K::recv, l, time - 5, l - 1);
    if (l + 1 < length) b.message(K::send, l, time + late, l + 1);
    b.message(K::send, l, time + late + 3000, (l + 1) % length, 1);
    b.message(K::recv, l, time + late + 9000, (l + length - 1) % length, 1);
  }
  return b;
}

TEST(SweepForward, one_violation_moves_what_is_near_it) {
  TraceBuilder b(2);
  b.message(K::send, 0, 100, 1);
  b.message(K::recv, 1, 60, 0);
  b.message(K::send, 1, 70, 0);
  b.message(K::recv, 0, 300, 1);
  b.message(K::send, 1, 1060, 0);
  b.message(K::recv, 0, 2000, 1);
  const auto result = sweep(b, k_mu_5);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->times, (Times{100, 300, 2000, 105, 114, 1060}));
  EXPECT_EQ(result->jumps, 1u);
  EXPECT_EQ(result->error, 45);
  expect_same(b, k_mu_5, 1);
}

TEST(SweepForward, follow_a_correction_over_locations) {
  expect_same(chain(5, 20), k_mu_5, 4);
  expect_same(chain(5, 20), k_no_mu, 3);  // each one 5 ticks less
}

TEST(SweepForward, a_later_jump_that_an_earlier_one_covers_is_none) {
  // The second receive of location 1 jumps at first; then its first one, later, by more.
  TraceBuilder b(4);
  b.message(K::send, 0, 500, 2);
  b.message(K::recv, 2, 100, 0);
  b.message(K::send, 2, 110, 1);
  b.message(K::recv, 1, 120, 2);
  b.message(K::send, 3, 140, 1);
  b.message(K::recv, 1, 130, 3);
  expect_same(b, k_mu_5, 2);
}

TEST(SweepForward, collectives_demand_of_everybody) {
  TraceBuilder b(4, 1, 2);
  for (LocationIndex l = 0; l < 4; ++l) {
    const std::uint64_t shift = l == 2 ? 50 : 0;
    b.collective(l, 100 + l + shift, 120 + l + shift, k_barrier);
    b.collective(l, 300 + l, 320 + l, k_barrier);
  }
  expect_same(b, k_no_mu, 3);
  expect_same(b, k_mu_5, 4);  // also location 2, by those that it has moved
  expect_same(b, {1, 20, 40}, 7);
}

TEST(SweepForward, parts_on_threads_give_the_same) {
  TraceBuilder b(2);
  for (std::uint64_t i = 0; i < 60'000; ++i) {
    b.message(K::send, 0, i * 10'000 + (i % 1000 == 7 ? 90 : 0), 1);
    b.message(K::recv, 1, i * 10'000 + 60, 0);
  }
  expect_same(b, k_mu_5, 60, 2);
}

TEST(SweepForward, equal_times_that_may_close_a_cycle_are_left_to_the_data_flow) {
  TraceBuilder b(2);
  b.message(K::send, 0, 100, 1);
  b.message(K::recv, 0, 100, 1);
  b.message(K::send, 1, 100, 0);
  b.message(K::recv, 1, 100, 0);
  EXPECT_FALSE(sweep(b, k_no_mu));
  EXPECT_FALSE(sweep(b, k_mu_5));  // no latency fits into a cycle
}

TEST(SweepForward, equal_times_in_a_row_may_close_a_cycle) {
  // Two stamps of location 0 that C puts together.
  TraceBuilder b(2);
  b.message(K::recv, 0, 100, 1);
  b.message(K::send, 0, 101, 1);
  b.message(K::recv, 1, 100, 0);
  b.message(K::send, 1, 101, 0);
  Problem problem(b);
  problem.presync.assign(problem.graph.node_count(), 100);
  Solo solo;
  SweepForward way(solo, problem.with(k_no_mu));
  EXPECT_FALSE(run(way));
}

TEST(SweepForward, collectives_that_end_as_they_begin_are_left_to_the_data_flow) {
  TraceBuilder b(3);
  for (LocationIndex l = 0; l < 3; ++l) b.collective(l, 100, 100, k_barrier);
  EXPECT_FALSE(sweep(b, k_no_mu));
}

TEST(SweepForward, ends_at_the_time_of_the_last_begin_are_no_cycle) {
  TraceBuilder b(3);
  for (std::uint64_t i = 0; i < 200; ++i) {
    for (LocationIndex l = 0; l < 3; ++l) {
      b.collective(l, 1000 * i + 100 + 10 * l, 1000 * i + 120 + l, k_barrier);
    }
  }
  b.message(K::send, 0, 600'000, 1);
  b.message(K::recv, 1, 599'990, 0);
  expect_same(b, k_no_mu, 1);
}

TEST(SweepForward, long_chains_are_left_to_the_data_flow) {
  EXPECT_TRUE(sweep(chain(4, 20), k_mu_5));
  EXPECT_FALSE(sweep(chain(40, 20), k_mu_5));
}

TEST(SweepForward, what_moves_too_much_is_left_to_the_data_flow) {
  TraceBuilder b(2);
  b.message(K::send, 0, 500, 1);
  b.message(K::recv, 1, 100, 0);
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    b.message(K::send, 1, 200 + 100 * i, 0);
    b.message(K::recv, 0, 900 + 100 * i, 1);
  }
  EXPECT_TRUE(sweep(b, k_mu_5, k_gamma_09));
  EXPECT_FALSE(sweep(b, k_mu_5, k_gamma_1)) << "never decays";
}

TEST(SweepForward, many_violations_are_left_to_the_data_flow) {
  TraceBuilder b(2);
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    b.message(K::send, 0, 1000 * i + 9, 1);
    b.message(K::recv, 1, 1000 * i + 5, 0);
  }
  EXPECT_FALSE(sweep(b, k_mu_5));
}

TEST(SweepForward, times_out_of_range_are_left_to_the_data_flow) {
  TraceBuilder b(2);
  b.message(K::send, 0, 100, 1);
  b.message(K::recv, 1, 60, 0);
  const std::int64_t huge = k_latest_time;
  EXPECT_FALSE(sweep(b, {huge, huge, huge}));
}

TEST(SweepForward, times_that_leave_the_range_while_they_decay_are_left_to_the_data_flow) {
  TraceBuilder b(2);
  const auto latest = static_cast<std::uint64_t>(k_latest_time);
  b.message(K::send, 0, latest - 5, 1);
  b.message(K::recv, 1, latest - 10, 0);
  b.message(K::send, 1, latest - 1, 0);
  b.message(K::recv, 0, latest, 1);
  EXPECT_FALSE(sweep(b, k_no_mu, k_gamma_1));
}

TEST(SweepForward, end_when_the_user_wants_to_stop) {
  Problem problem(chain(4, 20));
  const testing::Stop stop;
  ForwardProblem stopped = problem.with(k_mu_5);
  stopped.cancel = Cancel(&stop);
  Solo solo;
  SweepForward way(solo, stopped);
  const auto passes = way.run(std::span(&k_gamma_09, 1));
  ASSERT_FALSE(passes);
  EXPECT_EQ(passes.error().kind, ErrorKind::interrupted);
}

TEST(SweepForward, passes_do_not_depend_on_each_other) {
  Problem problem(chain(4, 20));
  Solo solo;
  SweepForward way(solo, problem.with(k_mu_5));
  const auto first = run(way, k_gamma_09);
  ASSERT_TRUE(first);
  ASSERT_TRUE(run(way, k_gamma_1));
  const auto again = run(way, k_gamma_09);
  ASSERT_TRUE(again);
  EXPECT_TRUE(equal(*first, *again));
}

TEST(SweepForward, teams_get_what_one_member_gets) {
  const std::vector<Owner> of_five{{0, 1, 2, 3, 4}, {0, 1, 0, 1, 0}, {2, 2, 0, 0, 0}};
  EXPECT_TRUE(expect_same_in_teams(chain(5, 20), k_mu_5, of_five));
  EXPECT_TRUE(expect_same_in_teams(chain(5, 20), k_no_mu, of_five));
  TraceBuilder collectives(4, 1, 2);
  for (LocationIndex l = 0; l < 4; ++l) {
    const std::uint64_t shift = l == 2 ? 50 : 0;
    collectives.collective(l, 100 + l + shift, 120 + l + shift, k_barrier);
    collectives.collective(l, 300 + l, 320 + l, k_barrier);
    collectives.collective(l, 500 + 9 * l, 520 + l, trace::op::scan);
  }
  const std::vector<Owner> of_four{{0, 1, 2, 3}, {1, 0, 1, 0}, {0, 0, 1, 1}, {0, 0, 2, 2}};
  for (const MuTicks& mu : {k_no_mu, k_mu_5, MuTicks{1, 20, 40}}) {
    EXPECT_TRUE(expect_same_in_teams(collectives, mu, of_four));
  }
  EXPECT_TRUE(expect_same_in_teams(TraceBuilder(2), k_mu_5, {{0, 1}}));
}

TEST(SweepForward, teams_leave_to_the_data_flow_what_one_member_leaves) {
  TraceBuilder equal_times(2), ends(3);
  equal_times.message(K::send, 0, 100, 1);
  equal_times.message(K::recv, 0, 100, 1);
  equal_times.message(K::send, 1, 100, 0);
  equal_times.message(K::recv, 1, 100, 0);
  for (LocationIndex l = 0; l < 3; ++l) ends.collective(l, 100, 100, k_barrier);
  EXPECT_FALSE(expect_same_in_teams(equal_times, k_no_mu, {{0, 1}, {1, 0}}));
  EXPECT_FALSE(expect_same_in_teams(ends, k_no_mu, {{0, 1, 2}, {0, 1, 1}, {2, 0, 0}}));
  Owner each;
  for (std::uint32_t l = 0; l < 40; ++l) each.push_back(l % 3);
  EXPECT_FALSE(expect_same_in_teams(chain(40, 20), k_mu_5, {each}));
}

TEST(SweepForward, an_empty_graph_takes_no_time) {
  const auto result = sweep(TraceBuilder(2), k_mu_5);
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->times.empty());
  EXPECT_EQ(result->jumps, 0u);
}

}  // namespace
}  // namespace entrain::clc
