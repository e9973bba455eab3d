// SPDX-License-Identifier: BSD-3-Clause
#include "clc/forward.hpp"

#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "clc/flow_forward.hpp"
#include "clc/testing.hpp"

namespace entrain::clc {
namespace {

using testing::flow_alone;
using testing::k_mu_10;
using testing::Problem;
using testing::Times;
using trace::testing::TraceBuilder;
using K = trace::EventKind;

TEST(Forward, example) {
  Problem problem(testing::worked_example(), {.every_event = true});
  constexpr Decimal9 k_gamma{990'000'000};
  const ForwardTimes pass = flow_alone(problem.with(k_mu_10), k_gamma);
  EXPECT_EQ(pass.times, (Times{1000, 1010, 1208, 1218, 2208, 3000}));
  EXPECT_EQ(pass.jump, (std::vector<bool>{false, true, false, true, false, false}));
  EXPECT_EQ(pass.jumps, 2u);
  EXPECT_EQ(pass.error, 50);
  EXPECT_FALSE(pass.overflow);
}

TEST(FlowForward, alone_ties_and_cuts_cycles_at_its_first_run) {
  TraceBuilder b(2);
  for (LocationIndex l = 0; l < 2; ++l) {
    b.message(K::send, l, 100, 1 - l);
    b.message(K::recv, l, 100, 1 - l);
    b.message(K::recv, l, 1'000, 1 - l, 1);
    b.message(K::send, l, 2'000, 1 - l, 1);
  }
  const std::vector<Decimal9> gammas{{990'000'000}, {900'000'000}};
  Problem problem(b);
  Solo solo;
  const trace::Trace none;
  const trace::Partition all{{0, 0}};
  const Forward way = flow_forward({solo, all, none}, problem.with(k_mu_10));
  for (int time = 0; time < 2; ++time) {
    const auto passes = way(gammas);
    ASSERT_TRUE(passes);
    EXPECT_EQ(passes->size(), 2u);
    for (const ForwardTimes& pass : *passes) {
      EXPECT_EQ(pass.times, (Times{100, 1'000, 2'000, 100, 1'000, 2'000}));
    }
    EXPECT_EQ(problem.cycles.tied_nodes, 2u);
    EXPECT_EQ(problem.cycles.dropped_edges, 2u);
    EXPECT_EQ(problem.graph.edges.size(), 2u);
  }
}

TEST(FlowForward, alone_ends_when_the_user_wants_to_stop) {
  Problem problem(testing::worked_example());
  const testing::Stop stop;
  ForwardProblem input = problem.with(k_mu_10);
  input.cancel = Cancel(&stop);
  const std::vector<Decimal9> gammas{{990'000'000}};
  const auto passes = flow_alone(input, gammas);
  ASSERT_FALSE(passes);
  EXPECT_EQ(passes.error().kind, ErrorKind::interrupted);
}

TEST(FlowForward, an_empty_graph_has_an_empty_pass) {
  Problem problem{TraceBuilder(2)};
  EXPECT_TRUE(flow_alone(problem.with(k_mu_10), Decimal9{990'000'000}).times.empty());
}

}  // namespace
}  // namespace entrain::clc
