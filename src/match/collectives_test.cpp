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

constexpr std::uint8_t k_both = trace::k_sent | trace::k_received;

/// A call per location: begins at 10 + l, ends at 20 + l.
TraceBuilder one_call(std::uint32_t processes, std::uint8_t operation,
                      std::uint32_t root = trace::k_root_none) {
  TraceBuilder b(processes);
  for (LocationIndex l = 0; l < processes; ++l) b.collective(l, 10 + l, 20 + l, operation, root);
  return b;
}

/// Completion of the non-blocking call that was requested under `id`.
void completion(TraceBuilder& b, LocationIndex l, std::uint64_t time, std::uint64_t id,
                std::uint8_t operation) {
  b.collective_end(K::nb_complete, l, time, operation).id = id;
}

void nb(TraceBuilder& b, LocationIndex l, std::uint64_t request, std::uint64_t complete,
        std::uint64_t id, std::uint8_t operation) {
  b.request(K::nb_request, l, request, id);
  completion(b, l, complete, id, operation);
}

TEST(Collectives, one_to_n_is_root_before_each_other) {
  for (const std::uint8_t operation : {op::bcast, op::scatter, op::scatterv}) {
    EXPECT_EQ(pairs_of(one_call(3, operation, 1), EdgeKind::one_to_n),
              (Pairs{{{1, 11}, {0, 20}}, {{1, 11}, {2, 22}}}));
  }
}

TEST(Collectives, n_to_one_is_each_other_before_root) {
  for (const std::uint8_t operation : {op::reduce, op::gather, op::gatherv}) {
    EXPECT_EQ(pairs_of(one_call(3, operation, 1), EdgeKind::n_to_one),
              (Pairs{{{0, 10}, {1, 21}}, {{2, 12}, {1, 21}}}));
  }
}

TEST(Collectives, n_to_n_is_everybody_before_everybody_else) {
  const Pairs expected{{{0, 10}, {1, 21}}, {{0, 10}, {2, 22}}, {{1, 11}, {0, 20}},
                       {{1, 11}, {2, 22}}, {{2, 12}, {0, 20}}, {{2, 12}, {1, 21}}};
  for (const std::uint8_t operation :
       {op::barrier, op::allreduce, op::allgather, op::allgatherv, op::alltoall, op::reduce_scatter,
        op::reduce_scatter_block}) {
    EXPECT_EQ(pairs_of(one_call(3, operation), EdgeKind::n_to_n), expected) << int{operation};
  }
}

TEST(Collectives, scan_and_exscan_are_lower_before_higher_ranks) {
  for (const std::uint8_t operation : {op::scan, op::exscan}) {
    EXPECT_EQ(pairs_of(one_call(3, operation), EdgeKind::scan),
              (Pairs{{{0, 10}, {1, 21}}, {{0, 10}, {2, 22}}, {{1, 11}, {2, 22}}}));
  }
}

TEST(Collectives, scan_goes_by_rank_not_by_location) {
  TraceBuilder b(3);
  const auto turned = b.comm({2, 0, 1});
  for (LocationIndex l = 0; l < 3; ++l) {
    b.collective(l, 10 + l, 20 + l, op::scan, trace::k_root_none, turned);
  }
  EXPECT_EQ(pairs_of(b, EdgeKind::scan),
            (Pairs{{{0, 10}, {1, 21}}, {{2, 12}, {0, 20}}, {{2, 12}, {1, 21}}}));
}

TEST(Collectives, who_contributes_nothing_is_waited_for_by_nobody) {
  TraceBuilder b(3);
  b.collective(0, 10, 20, op::allgatherv, trace::k_root_none, 0, k_both);
  b.collective(1, 11, 21, op::allgatherv, trace::k_root_none, 0, trace::k_received);
  b.collective(2, 12, 22, op::allgatherv, trace::k_root_none, 0, trace::k_sent);
  EXPECT_EQ(pairs_of(b, EdgeKind::n_to_n),
            (Pairs{{{0, 10}, {1, 21}}, {{2, 12}, {0, 20}}, {{2, 12}, {1, 21}}}));
}

TEST(Collectives, a_root_of_nothing_orders_nothing) {
  TraceBuilder b(2);
  for (LocationIndex l = 0; l < 2; ++l) b.collective(l, 10, 20, op::bcast, 0, 0, 0);
  for (LocationIndex l = 0; l < 2; ++l) b.collective(l, 30, 40, op::reduce, 0, 0, trace::k_sent);
  const Graph graph = build_graph(b.trace(), {});
  EXPECT_EQ(pair_count(graph), 0u);
  EXPECT_THAT(graph.unmatched, IsEmpty());
}

TEST(Collectives, a_barrier_synchronises_without_bytes) {
  TraceBuilder b(2);
  for (LocationIndex l = 0; l < 2; ++l) {
    b.collective(l, 10 + l, 20 + l, op::barrier, trace::k_root_none, 0, 0);
  }
  EXPECT_EQ(pairs_of(b, EdgeKind::n_to_n), (Pairs{{{0, 10}, {1, 21}}, {{1, 11}, {0, 20}}}));
}

TEST(Collectives, alltoallv_is_skipped_unless_taken_for_dense) {
  for (const std::uint8_t operation : {op::alltoallv, op::alltoallw}) {
    const TraceBuilder b = one_call(2, operation);
    const Graph ignored = build_graph(b.trace(), {});
    EXPECT_EQ(pair_count(ignored), 0u);
    EXPECT_EQ(ignored.skipped, (Counters{{"alltoallv_instances", 1}}));
    const Graph dense = build_graph(b.trace(), {.dense_alltoallv = true});
    EXPECT_EQ(pairs_of(dense, EdgeKind::n_to_n), (Pairs{{{0, 10}, {1, 21}}, {{1, 11}, {0, 20}}}));
    EXPECT_THAT(dense.skipped, IsEmpty());
  }
}

TEST(Collectives, creating_communicators_takes_a_place_but_orders_nothing) {
  TraceBuilder b(2);
  for (LocationIndex l = 0; l < 2; ++l) {
    b.collective(l, 10, 20, op::create_handle);
    b.collective(l, 30 + l, 40 + l, op::barrier);
  }
  const Graph graph = build_graph(b.trace(), {});
  EXPECT_EQ(pairs_of(graph, EdgeKind::n_to_n), (Pairs{{{0, 30}, {1, 41}}, {{1, 31}, {0, 40}}}));
  EXPECT_THAT(graph.unmatched, IsEmpty());
}

TEST(Collectives, instances_are_counted_per_communicator) {
  TraceBuilder b(2);
  const auto other = b.comm({0, 1});
  b.collective(0, 10, 20, op::barrier);
  b.collective(0, 30, 40, op::barrier, trace::k_root_none, other);
  b.collective(1, 11, 21, op::barrier, trace::k_root_none, other);
  b.collective(1, 31, 41, op::barrier);
  EXPECT_EQ(
      pairs_of(b, EdgeKind::n_to_n),
      (Pairs{{{0, 10}, {1, 41}}, {{0, 30}, {1, 21}}, {{1, 11}, {0, 40}}, {{1, 31}, {0, 20}}}));
}

TEST(Collectives, calls_that_disagree_are_in_no_instance) {
  TraceBuilder b(2);
  for (LocationIndex l = 0; l < 2; ++l) {
    b.collective(l, 10 + l, 20 + l, l == 0 ? op::allreduce : op::barrier);
    b.collective(l, 30 + l, 40 + l, l == 0 ? op::alltoall : op::allgather);
  }
  const Graph graph = build_graph(b.trace(), {});
  EXPECT_EQ(pair_count(graph), 0u);
  EXPECT_EQ(graph.unmatched, (Counters{{"collectives_incomplete", 2}}));
}

TEST(Collectives, different_roots_are_a_disagreement) {
  TraceBuilder b(2);
  for (LocationIndex l = 0; l < 2; ++l) b.collective(l, 10, 20, op::bcast, l);
  const Graph graph = build_graph(b.trace(), {});
  EXPECT_EQ(pair_count(graph), 0u);
  EXPECT_EQ(graph.unmatched, (Counters{{"collectives_mismatched", 2}}));
}

TEST(Collectives, blocking_and_non_blocking_calls_disagree) {
  TraceBuilder b(2);
  b.collective(0, 10, 20, op::barrier);
  nb(b, 1, 10, 20, 1, op::barrier);
  EXPECT_EQ(pair_count(build_graph(b.trace(), {})), 0u);
}

TEST(Collectives, of_equal_calls_one_more_leaves_open_which_belong_together) {
  TraceBuilder b(2);
  b.collective(0, 10, 20, op::barrier);
  b.collective(1, 11, 21, op::barrier);
  b.collective(1, 31, 41, op::barrier);
  const Graph graph = build_graph(b.trace(), {});
  EXPECT_EQ(pair_count(graph), 0u);
  EXPECT_EQ(graph.unmatched, (Counters{{"collectives_incomplete", 1}, {"ambiguous_calls", 1}}));
}

TEST(Collectives, clock_records_that_were_not_tested_decide_nothing) {
  // The clock of 1 is four rounds late between its records. Eight barriers of 0 have no record.
  constexpr std::uint64_t k_rounds = 400, k_round = 2'000, k_late = 8'000;
  TraceBuilder b(2);
  for (std::uint64_t k = 0; k < k_rounds; ++k) {
    const std::uint64_t at = 100'000 + k_round * k;
    for (std::uint32_t tag = 0; tag < 4; ++tag) {
      b.message(K::send, 0, at + tag, 1, tag);
      b.message(K::recv, 1, at + tag + 50 - k_late, 0, tag);
    }
    if (k % 50 != 25) b.collective(0, at + 100, at + 120, op::barrier);
    b.collective(1, at + 100 - k_late, at + 120 - k_late, op::barrier);
  }
  for (trace::LocationSkeleton& location : b.trace().locations) {
    location.clock_offsets = {{.time = 0}, {.time = 200'000 + k_rounds * k_round}};
  }
  const Pairs found = pairs_of(b, EdgeKind::n_to_n);
  EXPECT_GE(found.size(), 2 * 380u);
  for (const auto& [send, receive] : found) {
    const std::uint64_t late = send.location == 0 ? 0 - k_late : k_late;
    EXPECT_EQ(receive.time, send.time + 20 + late);
  }
}

TEST(Collectives, a_member_without_any_call_does_not_hold_up_the_others) {
  TraceBuilder b(3);  // the file of location 2 is missing
  b.collective(0, 10, 20, op::barrier);
  b.collective(1, 11, 21, op::barrier);
  EXPECT_EQ(pairs_of(b, EdgeKind::n_to_n), (Pairs{{{0, 10}, {1, 21}}, {{1, 11}, {0, 20}}}));
}

TEST(Collectives, non_blocking_calls_count_in_the_order_of_their_requests) {
  TraceBuilder b(2);
  b.request(K::nb_request, 0, 10, 1);
  b.request(K::nb_request, 0, 11, 2);
  completion(b, 0, 20, 2, op::allreduce);  // completes first
  completion(b, 0, 21, 1, op::barrier);
  nb(b, 1, 30, 31, 1, op::barrier);
  nb(b, 1, 40, 41, 1, op::allreduce);  // the same request once more
  const Graph graph = build_graph(b.trace(), {});
  EXPECT_EQ(
      pairs_of(graph, EdgeKind::n_to_n),
      (Pairs{{{0, 10}, {1, 31}}, {{0, 11}, {1, 41}}, {{1, 30}, {0, 21}}, {{1, 40}, {0, 20}}}));
  EXPECT_THAT(graph.unmatched, IsEmpty());
}

TEST(Collectives, an_open_request_is_counted) {
  TraceBuilder b(2);
  b.request(K::nb_request, 0, 10, 1);
  EXPECT_EQ(build_graph(b.trace(), {}).unmatched,
            (Counters{{"collective_requests_incomplete", 1}}));
}

TEST(Collectives, an_end_without_begin_keeps_its_place) {
  TraceBuilder b(2);
  b.collective_end(K::collective_end, 0, 20, op::barrier);
  b.collective(0, 30, 40, op::allreduce);
  b.collective(1, 11, 21, op::barrier);
  b.collective(1, 31, 41, op::allreduce);
  const Graph graph = build_graph(b.trace(), {});
  EXPECT_EQ(pairs_of(graph, EdgeKind::n_to_n), (Pairs{{{0, 30}, {1, 41}}, {{1, 31}, {0, 40}}}));
  EXPECT_EQ(graph.unmatched, (Counters{{"collective_ends_without_begin", 1}}));
}

TEST(Collectives, self_communicators_order_nothing) {
  TraceBuilder b(2);
  const auto self = b.self_comm();
  for (LocationIndex l = 0; l < 2; ++l) {
    b.collective(l, 10, 20, op::barrier, trace::k_root_none, self);
  }
  const Graph graph = build_graph(b.trace(), {});
  EXPECT_EQ(pair_count(graph), 0u);
  EXPECT_THAT(graph.unmatched, IsEmpty());
}

TEST(Collectives, inter_communicators_order_the_groups_only_against_each_other) {
  for (const std::uint8_t operation : {op::barrier, op::allreduce}) {
    TraceBuilder b(4);
    const auto inter = b.inter_comm({0, 1}, {2, 3});
    for (LocationIndex l = 0; l < 4; ++l) {
      b.collective(l, 10 + l, 20 + l, operation, trace::k_root_none, inter);
    }
    EXPECT_EQ(pairs_of(b, EdgeKind::n_to_n), (Pairs{{{0, 10}, {2, 22}},
                                                    {{0, 10}, {3, 23}},
                                                    {{1, 11}, {2, 22}},
                                                    {{1, 11}, {3, 23}},
                                                    {{2, 12}, {0, 20}},
                                                    {{2, 12}, {1, 21}},
                                                    {{3, 13}, {0, 20}},
                                                    {{3, 13}, {1, 21}}}));
  }
}

TEST(Collectives, root_of_an_inter_communicator_serves_the_other_group) {
  TraceBuilder b(4);
  const auto inter = b.inter_comm({0, 1}, {2, 3});
  const auto call = [&](std::uint64_t time, std::uint8_t operation) {
    b.collective(0, time, time + 5, operation, trace::k_root_self, inter);
    b.collective(1, time, time + 6, operation, trace::k_root_this_group, inter);
    b.collective(2, time, time + 7, operation, 0, inter);  // rank 0 of the other group
    b.collective(3, time, time + 8, operation, 0, inter);
  };
  call(10, op::bcast);
  call(30, op::reduce);
  const Graph graph = build_graph(b.trace(), {});
  EXPECT_EQ(pairs_of(graph, EdgeKind::one_to_n), (Pairs{{{0, 10}, {2, 17}}, {{0, 10}, {3, 18}}}));
  EXPECT_EQ(pairs_of(graph, EdgeKind::n_to_one), (Pairs{{{2, 30}, {0, 35}}, {{3, 30}, {0, 35}}}));
  EXPECT_THAT(graph.unmatched, IsEmpty());
}

TEST(Collectives, threads_of_a_process_take_part_as_one) {
  TraceBuilder b(2, 2);  // locations 2 and 3: process 1
  b.collective(0, 10, 11, op::barrier);
  b.collective(0, 20, 21, op::allreduce);
  b.collective(3, 12, 13, op::barrier);  // another thread, the earlier call
  b.collective(2, 22, 23, op::allreduce);
  EXPECT_EQ(
      pairs_of(b, EdgeKind::n_to_n),
      (Pairs{{{0, 10}, {3, 13}}, {{0, 20}, {2, 23}}, {{2, 22}, {0, 21}}, {{3, 12}, {0, 11}}}));
}

TEST(Collectives, non_blocking_calls_of_threads_count_in_order_of_their_requests) {
  TraceBuilder b(2, 2);
  b.request(K::nb_request, 2, 10, 1);
  b.request(K::nb_request, 3, 11, 1);
  b.collective_end(K::nb_complete, 3, 20, op::barrier).id = 1;
  b.collective_end(K::nb_complete, 2, 30, op::barrier).id = 1;
  b.request(K::nb_request, 0, 10, 1);
  b.request(K::nb_request, 0, 11, 2);
  b.collective_end(K::nb_complete, 0, 20, op::barrier).id = 2;
  b.collective_end(K::nb_complete, 0, 30, op::barrier).id = 1;
  EXPECT_EQ(
      pairs_of(b, EdgeKind::n_to_n),
      (Pairs{{{0, 10}, {2, 30}}, {{0, 11}, {3, 20}}, {{2, 10}, {0, 30}}, {{3, 11}, {0, 20}}}));
}

TEST(Collectives, of_calls_begun_together_the_one_that_ended_first_is_first) {
  TraceBuilder b(2, 2);
  b.request(K::nb_request, 2, 10, 1);
  b.request(K::nb_request, 3, 10, 1);
  b.collective_end(K::nb_complete, 2, 40, op::barrier).id = 1;
  b.collective_end(K::nb_complete, 3, 30, op::barrier).id = 1;
  b.collective(1, 0, 0, op::barrier, trace::k_root_none, b.comm({0}));
  b.request(K::nb_request, 0, 15, 1);
  b.request(K::nb_request, 0, 35, 2);
  b.collective_end(K::nb_complete, 0, 50, op::barrier).id = 1;
  b.collective_end(K::nb_complete, 0, 60, op::barrier).id = 2;
  EXPECT_EQ(
      pairs_of(b, EdgeKind::n_to_n),
      (Pairs{{{0, 15}, {3, 30}}, {{0, 35}, {2, 40}}, {{2, 10}, {0, 60}}, {{3, 10}, {0, 50}}}));
}

TEST(Collectives, of_calls_begun_together_a_request_is_first) {
  TraceBuilder b(2, 2);
  b.collective(0, 10, 12, op::barrier);
  b.request(K::nb_request, 1, 10, 1);
  b.collective_end(K::nb_complete, 1, 40, op::barrier).id = 1;
  b.request(K::nb_request, 2, 5, 1);
  b.collective(2, 20, 30, op::barrier);
  b.collective_end(K::nb_complete, 2, 40, op::barrier).id = 1;
  EXPECT_EQ(pairs_of(b, EdgeKind::n_to_n),
            (Pairs{{{0, 10}, {2, 30}}, {{1, 10}, {2, 40}}, {{2, 5}, {1, 40}}, {{2, 20}, {0, 12}}}));
}

TEST(Collectives, a_request_id_that_was_taken_over_completes_no_collective) {
  TraceBuilder b(2);
  b.request(K::nb_request, 0, 10, 1);
  b.message(K::isend, 0, 11, 1, 0, 1);
  b.collective_end(K::nb_complete, 0, 20, op::barrier).id = 1;
  b.request(K::nb_request, 1, 10, 1);
  b.collective_end(K::nb_complete, 1, 20, op::barrier).id = 1;
  const Graph graph = build_graph(b.trace(), {});
  EXPECT_THAT(pairs_of(graph, EdgeKind::n_to_n), IsEmpty());
  EXPECT_EQ(graph.unmatched, (Counters{{"sends", 1}, {"collective_ends_without_begin", 1}}));
}

TEST(Collectives, init_and_finalize_synchronise_only_on_demand) {
  TraceBuilder b(2, 2);
  for (const LocationIndex l : {0u, 2u}) {
    b.add(l, 10 + l, K::init_enter);
    b.add(l, 20 + l, K::init_leave);
    b.add(l, 30 + l, K::finalize_enter);
    b.add(l, 40 + l, K::finalize_leave);
  }
  EXPECT_EQ(pair_count(build_graph(b.trace(), {})), 0u);
  EXPECT_EQ(
      pairs_of(b, EdgeKind::init_finalize, {.init_finalize = true}),
      (Pairs{{{0, 10}, {2, 22}}, {{0, 30}, {2, 42}}, {{2, 12}, {0, 20}}, {{2, 32}, {0, 40}}}));
}

TEST(Collectives, half_an_init_and_one_of_several_threads_are_left_out) {
  TraceBuilder b(5, 2);
  const auto call = [&](LocationIndex l) {
    b.add(l, 10 + l, K::init_enter);
    b.add(l, 20 + l, K::init_leave);
  };
  call(0);
  call(2);
  b.add(4, 5, K::init_leave);  // measurement began inside of MPI_Init
  b.add(6, 5, K::init_enter);
  call(8);
  call(9);
  const Graph graph = build_graph(b.trace(), {.init_finalize = true});
  EXPECT_EQ(pairs_of(graph, EdgeKind::init_finalize),
            (Pairs{{{0, 10}, {2, 22}}, {{2, 12}, {0, 20}}}));
  EXPECT_EQ(graph.unmatched, (Counters{{"init_finalize", 3}}));
}

TEST(Collectives, the_leave_of_an_init_follows_its_enter) {
  TraceBuilder b(2);
  b.add(0, 5, K::init_leave);
  for (const LocationIndex l : {0u, 1u}) {
    b.add(l, 10, K::init_enter);
    b.add(l, 20, K::init_leave);
  }
  EXPECT_EQ(pairs_of(b, EdgeKind::init_finalize, {.init_finalize = true}),
            (Pairs{{{0, 10}, {1, 20}}, {{1, 10}, {0, 20}}}));
}

trace::Collectives found_in(const TraceBuilder& builder) {
  Solo solo;
  const trace::Trace& trace = builder.trace();
  const trace::Partition partition = trace::undivided(trace.definitions);
  auto found = find_collectives({solo, partition, trace}, false, 1, nullptr);
  EXPECT_TRUE(found);
  return found ? *std::move(found) : trace::Collectives();
}

TEST(Collectives, calls_are_found_with_those_that_give_and_take) {
  const trace::Collectives found = found_in(one_call(3, op::allreduce));
  ASSERT_EQ(found.all.size(), 1u);
  EXPECT_EQ(found.operations.at(found.all[0].operation), "Allreduce");
  EXPECT_EQ(found.all[0].members, 3u);
  EXPECT_EQ(found.all[0].expected, 3u);
  for (LocationIndex l = 0; l < 3; ++l) {
    EXPECT_EQ(found.calls[l].location, l);
    EXPECT_EQ(found.calls[l].begin, 10u + l);
    EXPECT_EQ(found.calls[l].end, 20u + l);
    EXPECT_TRUE(found.calls[l].gives && found.calls[l].takes);
  }
  for (const bool from_root : {true, false}) {
    const trace::Collectives rooted = found_in(one_call(3, from_root ? op::bcast : op::reduce, 1));
    ASSERT_EQ(rooted.calls.size(), 3u);
    EXPECT_EQ(rooted.calls[0].gives, !from_root);
    EXPECT_EQ(rooted.calls[0].takes, from_root);
    EXPECT_EQ(rooted.calls[1].gives || !from_root, true);
    EXPECT_EQ(rooted.calls[1].takes || from_root, true);
  }
}

TEST(Collectives, any_team_finds_the_same) {
  TraceBuilder b(3);
  for (LocationIndex l = 0; l < 3; ++l) {
    for (std::uint64_t i = 0; i < 20; ++i) {
      const std::uint8_t operation = i % 3 == 0 ? op::scan : op::allreduce;
      b.collective(l, 100 * i + 7 * l, 100 * i + 50 + l, operation, trace::k_root_none);
    }
  }
  const trace::Collectives expected = found_in(b);
  EXPECT_EQ(expected.all.size(), 13u);
  EXPECT_EQ(count_of(expected.left_out, "scans"), 7u);
  const trace::Partition partition{{0, 1, 1}};
  const auto done = run_team(2, [&](Team& team) -> Result<void> {
    const auto found = find_collectives({team, partition, b.trace()}, false, 1, nullptr);
    if (!found) return tl::unexpected<Error>(found.error());
    EXPECT_EQ(found->groups, expected.groups);
    EXPECT_EQ(found->operations, expected.operations);
    EXPECT_EQ(found->left_out, expected.left_out);
    EXPECT_EQ(found->all.size(), expected.all.size());
    for (std::size_t i = 0; i < std::min(found->all.size(), expected.all.size()); ++i) {
      for (std::uint32_t m = 0; m < 3; ++m) {
        const trace::CollectiveCall& one = found->calls.at(found->all[i].first + m);
        const trace::CollectiveCall& other = expected.calls.at(expected.all[i].first + m);
        EXPECT_EQ(std::pair(one.location, one.begin), std::pair(other.location, other.begin));
        EXPECT_EQ(one.end, other.end);
      }
    }
    return {};
  });
  EXPECT_TRUE(done);
}

TEST(Collectives, non_blocking_ones_are_left_out) {
  TraceBuilder b(2);
  nb(b, 0, 10, 20, 1, op::allreduce);
  nb(b, 1, 11, 21, 1, op::allreduce);
  const trace::Collectives found = found_in(b);
  EXPECT_EQ(count_of(found.left_out, "non_blocking_collectives"), 1u);
  EXPECT_TRUE(found.all.empty() && found.calls.empty());
}

TEST(Collectives, scans_and_totals_are_left_out) {
  EXPECT_EQ(count_of(found_in(one_call(3, op::scan)).left_out, "scans"), 1u);
  EXPECT_EQ(count_of(found_in(one_call(3, op::alltoallv)).left_out, "alltoallv_instances"), 1u);
}

TEST(Collectives, calls_are_found_as_edges_pair_them) {
  for (const bool is_last_lost : {false, true}) {
    TraceBuilder b(3);
    for (LocationIndex l = 0; l < 3; ++l) {
      for (std::uint64_t i = 0; i < 20; ++i) {
        if (is_last_lost && l == 2 && i == 19) continue;
        const std::uint8_t operation = i % 3 == 0 ? op::barrier : op::allreduce;
        b.collective(l, 100 * i + 7 * l, 100 * i + 50 + l, operation, trace::k_root_none);
      }
    }
    const Graph graph = build_graph(b.trace(), {});
    EXPECT_EQ(found_in(b).all.size(), graph.exchanges.size());
    EXPECT_GE(graph.exchanges.size(), 19u);
    EXPECT_EQ(found_in(b).all.back().members,
              is_last_lost && graph.exchanges.size() > 19 ? 2u : 3u);
  }
}

}  // namespace
}  // namespace entrain::match
