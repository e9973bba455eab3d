// SPDX-License-Identifier: BSD-3-Clause
#include "clc/forward.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "clc/ordered_forward.hpp"
#include "clc/sweep_forward.hpp"
#include "clc/testing.hpp"

namespace entrain::clc {
namespace {

using testing::k_mu_10;
using testing::Problem;
using testing::Times;
using trace::testing::TraceBuilder;
using K = trace::EventKind;

std::vector<std::unique_ptr<Forward>> ways_of(Team& team, const ForwardProblem& problem) {
  std::vector<std::unique_ptr<Forward>> ways;
  ways.push_back(std::make_unique<SweepForward>(team, problem));
  ways.push_back(std::make_unique<OrderedForward>(problem));
  return ways;
}

TEST(Forward, example) {
  Problem problem(testing::worked_example(), {.every_event = true});
  const std::vector<Decimal9> gammas{{990'000'000}};
  Solo solo;
  for (const auto& way : ways_of(solo, problem.with(k_mu_10))) {
    const auto passes = way->run(gammas);
    ASSERT_TRUE(passes);
    const ForwardTimes& pass = passes->at(0);
    EXPECT_EQ(pass.times, (Times{1000, 1010, 1208, 1218, 2208, 3000}));
    EXPECT_EQ(pass.jump, (std::vector<bool>{false, true, false, true, false, false}));
    EXPECT_EQ(pass.jumps, 2u);
    EXPECT_EQ(pass.error, 50);
    EXPECT_FALSE(pass.overflow);
  }
}

TEST(OrderedForward, runs_as_many_passes_as_it_has_threads) {
  const std::vector<Decimal9> gammas{{990'000'000}, {900'000'000}, {500'000'000}};
  std::vector<std::int64_t> last;  // LC' of B's send
  for (const Decimal9 gamma : gammas) {
    Problem problem(testing::worked_example());
    last.push_back(OrderedForward(problem.with(k_mu_10)).run(std::span(&gamma, 1))->at(0).times[2]);
  }
  for (const unsigned threads : {1u, 2u, 3u, 7u}) {
    Problem problem(testing::worked_example());
    OrderedForward way(problem.with(k_mu_10, 0, threads));
    for (int time = 0; time < 2; ++time) {  // finds the order; knows it
      const auto passes = way.run(gammas);
      ASSERT_TRUE(passes);
      ASSERT_EQ(passes->size(), std::min<std::size_t>(threads, gammas.size()));
      for (std::size_t i = 0; i < passes->size(); ++i) EXPECT_EQ(passes->at(i).times[2], last[i]);
    }
  }
}

TEST(OrderedForward, ties_and_cuts_cycles_at_its_first_run) {
  TraceBuilder b(2);
  for (LocationIndex l = 0; l < 2; ++l) {
    b.message(K::send, l, 100, 1 - l);
    b.message(K::recv, l, 100, 1 - l);
    b.message(K::recv, l, 1'000, 1 - l, 1);
    b.message(K::send, l, 2'000, 1 - l, 1);
  }
  const std::vector<Decimal9> gammas{{990'000'000}, {900'000'000}};
  for (const unsigned threads : {1u, 2u}) {
    Problem problem(b);
    OrderedForward way(problem.with(k_mu_10, 0, threads));
    for (int time = 0; time < 2; ++time) {
      const auto passes = way.run(gammas);
      ASSERT_TRUE(passes);
      EXPECT_EQ(passes->size(), threads);
      for (const ForwardTimes& pass : *passes) {
        EXPECT_EQ(pass.times, (Times{100, 1'000, 2'000, 100, 1'000, 2'000}));
      }
      EXPECT_EQ(problem.cycles.tied_nodes, 2u);
      EXPECT_EQ(problem.cycles.dropped_edges, 2u);
      EXPECT_EQ(problem.graph.edges.size(), 2u);
    }
  }
}

TEST(OrderedForward, ends_when_the_user_wants_to_stop) {
  Problem problem(testing::worked_example());
  const testing::Stop stop;
  ForwardProblem input = problem.with(k_mu_10);
  input.cancel = Cancel(&stop);
  const std::vector<Decimal9> gammas{{990'000'000}};
  const auto passes = OrderedForward(input).run(gammas);
  ASSERT_FALSE(passes);
  EXPECT_EQ(passes.error().kind, ErrorKind::interrupted);
}

TEST(OrderedForward, an_empty_graph_has_an_empty_pass) {
  Problem problem{TraceBuilder(2)};
  const std::vector<Decimal9> gammas{{990'000'000}};
  Solo solo;
  for (const auto& way : ways_of(solo, problem.with(k_mu_10))) {
    const auto passes = way->run(gammas);
    ASSERT_TRUE(passes);
    ASSERT_EQ(passes->size(), 1u);
    EXPECT_TRUE(passes->at(0).times.empty());
  }
}

}  // namespace
}  // namespace entrain::clc
