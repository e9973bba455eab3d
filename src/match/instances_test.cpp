// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "match/calls.hpp"
#include "match/testing.hpp"

namespace entrain::match {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using testing::TraceBuilder;
namespace op = trace::op;

/// Adds a call to process `p`, the k-th one from 100 * k to 100 * k + 10.
void call(TraceBuilder& b, std::uint32_t p, std::uint64_t k, std::uint8_t code,
          std::uint32_t comm = 0) {
  b.collective(p, 100 * k + p, 100 * k + 10 + p, code, 0, comm);
}

TEST(Instances, a_call_that_a_process_lacks_leaves_the_others_together) {
  constexpr std::uint64_t k_calls = 400, k_lost = 200;
  TraceBuilder b(3);
  for (std::uint64_t k = 1; k <= k_calls; ++k) {
    for (const std::uint32_t p : {0, 1, 2}) {
      if (p != 2 || k != k_lost) call(b, p, k, op::barrier);
    }
    for (const std::uint32_t p : {1, 2}) {  // between the calls rank 0 talks to the others
      b.message(trace::EventKind::send, 0, 100 * k + 20 + p, p);
      b.message(trace::EventKind::recv, p, 100 * k + 30 + p, 0);
      b.message(trace::EventKind::send, p, 100 * k + 40 + p, 0);
    }
    for (const std::uint32_t p : {1, 2}) {
      b.message(trace::EventKind::recv, 0, 100 * k + 50 + p, p);
    }
  }
  const Graph graph = build_graph(b.trace(), {});
  ASSERT_EQ(graph.exchanges.size(), k_calls);
  std::size_t calls = 0;
  for (std::uint32_t k = 0; k < k_calls; ++k) {
    calls += graph.exchanges[k].send_count;
    for (const Participant& participant : graph.sends(graph.exchanges[k])) {
      EXPECT_EQ(graph.stamp[participant.node], 100 * (k + 1) + participant.location);
    }
  }
  EXPECT_GE(calls, 3 * k_calls - 10);
  EXPECT_LT(calls, 3 * k_calls);
}

TEST(Instances, communicators_count_their_calls_apart) {
  TraceBuilder b(2);
  const CommIndex other = b.comm({0, 1});
  call(b, 0, 1, op::barrier);
  call(b, 0, 2, op::bcast, other);
  call(b, 1, 1, op::bcast, other);
  call(b, 1, 2, op::barrier);
  const Graph graph = build_graph(b.trace(), {});
  EXPECT_EQ(graph.exchanges.size(), 2u);
  EXPECT_THAT(graph.unmatched, IsEmpty());
}

TEST(Instances, calls_on_nobody_or_on_oneself_are_no_instance) {
  TraceBuilder b(2);
  const CommIndex self = b.self_comm();
  call(b, 0, 1, op::barrier, self);
  call(b, 1, 1, op::barrier, self);
  call(b, 0, 2, op::barrier, k_none);
  call(b, 1, 2, op::barrier, k_none);
  const Graph graph = build_graph(b.trace(), {});
  EXPECT_THAT(graph.exchanges, IsEmpty());
}

TEST(Instances, nobody_calls) {
  const TraceBuilder b(2);
  const trace::Partition partition = trace::undivided(b.trace().definitions);
  Solo solo;
  Builder builder({solo, partition, b.trace()}, {}, nullptr);
  match_calls(builder, {}, CallSpace::comms);
  match_calls(builder, {}, CallSpace::windows);
  const Graph graph = builder.finish();
  EXPECT_THAT(graph.exchanges, IsEmpty());
  EXPECT_THAT(graph.unmatched, IsEmpty());
}

TEST(Instances, blocks_of_instances_are_spread_over_the_team) {
  TraceBuilder b(2);
  for (std::uint64_t k = 0; k < 1'000; ++k) {
    for (const std::uint32_t p : {0, 1}) call(b, p, k, op::barrier);
  }
  const trace::Partition partition{{0, 1}};
  std::vector<std::size_t> exchanges(2);
  const auto done = run_team(2, [&](Team& team) -> Result<void> {
    const auto graph = build_graph({team, partition, b.trace()}, {});
    if (!graph) return tl::unexpected<Error>(graph.error());
    exchanges[team.rank()] = graph->exchanges.size();
    return {};
  });
  ASSERT_TRUE(done);
  EXPECT_EQ(exchanges[0], 512u);  // two blocks of 256
  EXPECT_EQ(exchanges[1], 488u);
}

}  // namespace
}  // namespace entrain::match
