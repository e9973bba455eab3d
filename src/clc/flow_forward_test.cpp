// SPDX-License-Identifier: BSD-3-Clause
#include "clc/flow_forward.hpp"

#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "clc/team_testing.hpp"

namespace entrain::clc {
namespace {

using ::testing::ElementsAre;
using testing::equal;
using testing::in_team;
using ::testing::IsEmpty;
using testing::k_gamma_09;
using testing::k_gamma_099;
using testing::k_gamma_1;
using testing::k_mu_10;
using testing::Problem;
using testing::Times;
using trace::testing::TraceBuilder;
using K = trace::EventKind;
using Owner = std::vector<std::uint32_t>;

/// A pass of a team, put together; members' nodes are those of their locations, in their order.
struct Gathered {
  std::vector<Times> times;  ///< one per location
  std::uint64_t jumps = 0;
  std::int64_t error = 0;
  Counters cycles;
};

Gathered run(const TraceBuilder& b, const Owner& owner, const MuTicks& mu,
             Decimal9 gamma = k_gamma_09, std::int64_t delta = 0) {
  Gathered result;
  result.times.resize(owner.size());
  std::mutex mutex;
  const auto done = in_team(b, owner, [&](const trace::Share& share, Problem& problem) {
    const Forward way = flow_forward(share, problem.with(mu, delta));
    const auto passes = way(std::span(&gamma, 1));
    if (!passes) return Result<void>(tl::unexpected<Error>(passes.error()));
    const std::lock_guard lock(mutex);
    const ForwardTimes& pass = passes->at(0);
    for (const LocationIndex l : share.own()) {
      result.times[l].assign(pass.times.begin() + problem.graph.first_node[l],
                             pass.times.begin() + problem.graph.first_node[l + 1]);
    }
    result.jumps = pass.jumps;  // the same at every member
    result.error = pass.error;
    result.cycles = problem.cycles.counters();
    return Result<void>();
  });
  EXPECT_TRUE(done) << done.error().message;
  return result;
}

/// Expects the result of the whole graph for every way to share it.
Gathered expect_same(const TraceBuilder& b, const std::vector<Owner>& owners, const MuTicks& mu,
                     Decimal9 gamma = k_gamma_09, std::int64_t delta = 0) {
  Problem problem(b, {.every_event = true});
  const ForwardTimes pass = testing::flow_alone(problem.with(mu, delta), gamma);
  Gathered whole;
  for (LocationIndex l = 0; l < problem.graph.location_count(); ++l) {
    whole.times.emplace_back(pass.times.begin() + problem.graph.first_node[l],
                             pass.times.begin() + problem.graph.first_node[l + 1]);
  }
  for (const Owner& owner : owners) {
    const Gathered shared = run(b, owner, mu, gamma, delta);
    EXPECT_EQ(shared.times, whole.times);
    EXPECT_EQ(shared.jumps, pass.jumps);
    EXPECT_EQ(shared.error, pass.error);
    EXPECT_EQ(shared.cycles, problem.cycles.counters());
  }
  whole.jumps = pass.jumps;
  whole.cycles = problem.cycles.counters();
  return whole;
}

TEST(FlowForward, example) {
  const Gathered result = run(testing::worked_example(), {0, 1, 2}, k_mu_10, k_gamma_099);
  EXPECT_THAT(result.times, ElementsAre(Times{1000}, Times{1010, 1208}, Times{1218, 2208, 3000}));
  EXPECT_EQ(result.jumps, 2u);
  EXPECT_EQ(result.error, 50);
  EXPECT_THAT(result.cycles, IsEmpty());
}

TEST(FlowForward, a_correction_crosses_members_to_and_fro) {
  TraceBuilder b(2);
  for (std::uint64_t k = 1; k < 40; ++k) {
    const LocationIndex from = k % 2, to = 1 - from;
    b.message(K::send, from, 1'000 * k + 100, to);
    b.message(K::recv, to, 1'000 * k, from);
  }
  EXPECT_EQ(expect_same(b, {{0, 1}, {1, 0}}, {}, k_gamma_1).jumps, 39u);
}

TEST(FlowForward, collectives_demand_of_ghosts) {
  TraceBuilder b(4);
  for (LocationIndex l = 0; l < 4; ++l) {
    b.collective(l, 100 + 50 * l, 160 + 10 * l, trace::op::barrier);
    b.collective(l, 500 - 50 * l, 400 + 30 * l + 100, trace::op::scan);
  }
  for (const MuTicks& mu : {MuTicks{}, k_mu_10, MuTicks{1, 2, 30}}) {
    const Gathered result = expect_same(b, {{0, 1, 2, 3}, {1, 0, 1, 0}, {0, 0, 1, 1}}, mu);
    EXPECT_GT(result.jumps, 2u);
  }
}

TEST(FlowForward, delta_reaches_over_steps) {
  TraceBuilder b(2);
  b.message(K::send, 0, 500, 1);
  b.message(K::recv, 1, 100, 0);
  b.request(K::irecv_request, 1, 101, 1);
  b.message(K::send, 1, 120, 0);
  b.message(K::recv, 0, 510, 1);
  b.request(K::irecv_request, 0, 512, 1);
  EXPECT_GT(expect_same(b, {{0, 1}}, k_mu_10, {500'000'000}, 1'000).jumps, 2u);
}

TEST(FlowForward, a_ring_of_equal_times_is_tied) {
  TraceBuilder b(3);
  b.message(K::send, 2, 500, 0);
  for (LocationIndex l = 0; l < 2; ++l) {
    b.message(K::send, l, 100, 1 - l);
    b.message(K::recv, l, 100, 1 - l);
    if (l == 0) b.message(K::recv, l, 100, 2);
    b.request(K::irecv_request, l, 110, 1);
  }
  const Gathered result = expect_same(b, {{0, 1, 2}, {0, 0, 1}, {0, 1, 0}}, k_mu_10);
  EXPECT_THAT(result.times, ElementsAre(Times{510, 519}, Times{510, 519}, Times{500}));
  EXPECT_THAT(result.cycles,
              ElementsAre(std::pair("tied_components", 1), std::pair("tied_nodes", 2)));
}

TEST(FlowForward, a_wide_cycle_across_members_loses_its_edges) {
  TraceBuilder b(2);
  for (LocationIndex l = 0; l < 2; ++l) {
    b.message(K::recv, l, 1'000, 1 - l);
    b.message(K::send, l, 2'000, 1 - l);
  }
  const Gathered result = expect_same(b, {{0, 1}}, k_mu_10);
  EXPECT_THAT(result.times, ElementsAre(Times{1'000, 2'000}, Times{1'000, 2'000}));
  EXPECT_THAT(result.cycles,
              ElementsAre(std::pair("dropped_components", 1), std::pair("dropped_edges", 2)));
}

TEST(FlowForward, a_cycle_inside_of_a_member_is_found_too) {
  TraceBuilder b(3);
  for (LocationIndex l = 0; l < 2; ++l) {
    b.message(K::recv, l, 1'000, 1 - l);
    b.message(K::send, l, 2'000, 1 - l);
  }
  b.message(K::send, 2, 3'000, 0);
  b.message(K::recv, 0, 2'900, 2);
  EXPECT_EQ(expect_same(b, {{0, 0, 1}}, k_mu_10).jumps, 1u);
}

TEST(FlowForward, members_without_locations_and_empty_traces) {
  EXPECT_EQ(run(testing::worked_example(), {0, 0, 2}, k_mu_10, k_gamma_099).jumps, 2u);
  EXPECT_EQ(run(TraceBuilder(2), {0, 1}, k_mu_10).jumps, 0u);
}

TEST(FlowForward, passes_do_not_depend_on_each_other) {
  const auto done = in_team(testing::worked_example(), {0, 1, 2},
                            [&](const trace::Share& share, Problem& problem) -> Result<void> {
                              const Forward way = flow_forward(share, problem.with(k_mu_10));
                              TRY_ASSIGN(const auto first, way(std::span(&k_gamma_099, 1)));
                              TRY_ASSIGN(const auto other, way(std::span(&k_gamma_1, 1)));
                              TRY_ASSIGN(const auto again, way(std::span(&k_gamma_099, 1)));
                              EXPECT_TRUE(equal(first.at(0), again.at(0)));
                              EXPECT_EQ(other.at(0).error, 50);
                              return {};
                            });
  EXPECT_TRUE(done);
}

TEST(FlowForward, passes_that_are_made_together_are_those_made_alone) {
  // Plain, tied, and with edges that close a wide cycle.
  TraceBuilder tied(3), wide(3);
  tied.message(K::send, 2, 500, 0);
  for (LocationIndex l = 0; l < 2; ++l) {
    tied.message(K::send, l, 100, 1 - l);
    tied.message(K::recv, l, 100, 1 - l);
    if (l == 0) tied.message(K::recv, l, 100, 2);
    tied.request(K::irecv_request, l, 110, 1);
    wide.message(K::recv, l, 1'000, 1 - l);
    wide.message(K::send, l, 2'000, 1 - l);
    wide.collective(l, 3'000 - 400 * l, 3'100 - 400 * l, trace::op::barrier);
    wide.request(K::irecv_request, l, 3'300, 1);
  }
  const std::vector<Decimal9> gammas{k_gamma_1, k_gamma_09, k_gamma_099, {500'000'000}, {1}};
  const TraceBuilder plain = testing::worked_example();
  for (const TraceBuilder* b : {&plain, &std::as_const(tied), &std::as_const(wide)}) {
    const auto done =
        in_team(*b, {0, 1, 1}, [&](const trace::Share& share, Problem& problem) -> Result<void> {
          const Forward way = flow_forward(share, problem.with(k_mu_10));
          TRY_ASSIGN(const auto passes, way(gammas));
          EXPECT_EQ(passes.size(), k_most_lanes);
          for (std::size_t i = 0; i < passes.size(); ++i) {
            TRY_ASSIGN(const auto alone, way(std::span(gammas).subspan(i, 1)));
            EXPECT_TRUE(equal(passes[i], alone.at(0))) << i;
          }
          return {};
        });
    EXPECT_TRUE(done) << done.error().message;
  }
}

TEST(FlowForward, all_members_end_when_one_users_signal_arrives) {
  for (const unsigned stopped : {0u, 2u}) {
    const testing::Stop stop;
    std::mutex mutex;
    int interrupted = 0;
    const auto done = in_team(testing::worked_example(), {0, 1, 2},
                              [&](const trace::Share& share, Problem& problem) -> Result<void> {
                                ForwardProblem input = problem.with(k_mu_10);
                                if (share.team.rank() == stopped) input.cancel = Cancel(&stop);
                                const Forward way = flow_forward(share, input);
                                const auto passes = way(std::span(&k_gamma_09, 1));
                                const std::lock_guard lock(mutex);
                                if (!passes) ++interrupted;
                                return {};
                              });
    EXPECT_TRUE(done);
    EXPECT_EQ(interrupted, 3);
  }
}

}  // namespace
}  // namespace entrain::clc
