// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "match/testing.hpp"

namespace entrain::match {
namespace {

using ::testing::IsEmpty;
using testing::pair_count;
using testing::Pairs;
using testing::pairs_of;
using testing::TraceBuilder;
using K = trace::EventKind;
namespace op = trace::op;

TEST(NamedPartners, give_an_edge_for_every_pair_that_exchanged_data) {
  TraceBuilder b(4);
  b.exchange(0, 10, 20, {1}, {1, 3});
  b.exchange(1, 11, 21, {0}, {0});
  b.exchange(2, 12, 22, {2, 3}, {2});  // its own part orders nothing
  b.exchange(3, 13, 23, {0}, {2});
  const Graph graph = build_graph(b.trace(), {});
  EXPECT_EQ(
      pairs_of(graph, EdgeKind::n_to_n),
      (Pairs{{{0, 10}, {1, 21}}, {{1, 11}, {0, 20}}, {{2, 12}, {3, 23}}, {{3, 13}, {0, 20}}}));
  EXPECT_THAT(graph.skipped, IsEmpty());
  // Known partners take precedence over assumed ones.
  EXPECT_EQ(pairs_of(b, EdgeKind::n_to_n, {.dense_alltoallv = true}),
            pairs_of(graph, EdgeKind::n_to_n));
}

TEST(NamedPartners, of_which_one_says_no_give_no_edge) {
  TraceBuilder b(3);
  b.exchange(0, 10, 20, {1, 2}, {});
  b.exchange(1, 11, 21, {}, {2});
  b.exchange(2, 12, 22, {}, {0});
  const Graph graph = build_graph(b.trace(), {});
  EXPECT_EQ(pairs_of(graph, EdgeKind::n_to_n), (Pairs{{{0, 10}, {2, 22}}}));
  EXPECT_EQ(graph.skipped, (Counters{{"partners_contradicting", 2}}));  // 0 -> 1, 2 -> 1
}

TEST(NamedPartners, may_be_missing_in_some_calls) {
  TraceBuilder b(3);
  b.exchange(0, 10, 20, {1, 2}, {1});
  b.exchange(1, 11, 21, {0}, {0, 2});
  b.collective(2, 12, 22, op::alltoallv);
  const Pairs known{{{0, 10}, {1, 21}}, {{1, 11}, {0, 20}}};
  const Graph graph = build_graph(b.trace(), {});
  EXPECT_EQ(pairs_of(graph, EdgeKind::n_to_n), known);
  EXPECT_EQ(graph.skipped, (Counters{{"alltoallv_instances", 1}}));
  // Rank 2 is taken to exchange data with all; rank 1 says that it sent nothing to rank 2, and rank
  // 0 that it got nothing from there.
  const Graph dense = build_graph(b.trace(), {.dense_alltoallv = true});
  EXPECT_EQ(
      pairs_of(dense, EdgeKind::n_to_n),
      (Pairs{{{0, 10}, {1, 21}}, {{0, 10}, {2, 22}}, {{1, 11}, {0, 20}}, {{2, 12}, {1, 21}}}));
  EXPECT_THAT(dense.skipped, IsEmpty());
}

TEST(NamedPartners, who_all_exchange_with_all_need_no_room_for_pairs) {
  constexpr std::uint32_t k_processes = 50;
  std::vector<std::uint32_t> all(k_processes);
  for (std::uint32_t p = 0; p < k_processes; ++p) all[p] = p;
  TraceBuilder b(k_processes);
  for (std::uint32_t p = 0; p < k_processes; ++p) b.exchange(p, 10 + p, 100 + p, all, all);
  const Graph graph = build_graph(b.trace(), {});
  EXPECT_EQ(pair_count(graph), k_processes * (k_processes - 1));
  EXPECT_EQ(graph.participants.size(), 2 * k_processes);
  EXPECT_THAT(graph.edges, IsEmpty());
}

TEST(NamedPartners, ranks_that_do_not_exist_are_nobody) {
  TraceBuilder b(2);
  b.exchange(0, 10, 20, {1, 7}, {9});
  b.exchange(1, 11, 21, {}, {0, 4'000'000'000});
  const Graph graph = build_graph(b.trace(), {});
  EXPECT_EQ(pairs_of(graph, EdgeKind::n_to_n), (Pairs{{{0, 10}, {1, 21}}}));
  EXPECT_THAT(graph.skipped, IsEmpty());
}

TEST(Neighbours, without_records_are_counted) {
  TraceBuilder b(2);
  b.add(0, 10, K::neighbours_enter);
  b.add(0, 11, K::neighbours_leave);
  b.add(0, 12, K::neighbours_enter);
  b.collective(0, 13, 14, op::alltoallv);
  b.add(0, 15, K::neighbours_leave);
  b.add(1, 10, K::neighbours_enter);
  b.request(K::nb_request, 1, 11, 7);
  b.add(1, 12, K::neighbours_leave);
  const Graph graph = build_graph(b.trace(), {});
  EXPECT_EQ(graph.skipped, (Counters{{"neighbourhood_instances", 1}}));
}

}  // namespace
}  // namespace entrain::match
