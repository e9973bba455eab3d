// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "verify/testing.hpp"

namespace entrain::verify {
namespace {

using testing::count;
using testing::edges;
using testing::TraceBuilder;
using K = trace::EventKind;
namespace op = trace::op;
using trace::k_received;
using trace::k_root_self;
using trace::k_root_this_group;
using trace::k_sent;

TEST(Collectives, barrier_is_everybody_but_oneself) {
  TraceBuilder b(3);
  b.collective(0, 100, 110, op::barrier);
  b.collective(1, 105, 111, op::barrier);
  b.collective(2, 109, 108, op::barrier, trace::k_root_none, 0, 0);  // ends before 1 byte moved
  const CheckReport report = b.check();
  const EdgeStatistics& e = edges(report, EdgeKind::n_to_n);
  EXPECT_EQ(e.count, 6);
  // 108 is before its own begin, which is no edge, but after all others.
  EXPECT_EQ(e.violations, 0);
  EXPECT_EQ(e.worst->margin_ticks, 1);
}

// Scalasca 2.5 takes a process's own begin as a sender: calls shorter than mu report themselves.
TEST(Collectives, call_shorter_than_the_latency_does_not_violate_itself) {
  TraceBuilder b(2);
  b.collective(0, 100, 101, op::barrier);
  b.collective(1, 50, 151, op::barrier);
  const CheckReport report = b.check({}, MuTicks{10, 10, 10});
  EXPECT_EQ(report.violations, 0);
  EXPECT_EQ(report.below_latency, 0);
  EXPECT_EQ(edges(report, EdgeKind::n_to_n).worst->margin_ticks, 51);  // not 1
}

TEST(Collectives, violating_pairs_are_counted_exactly) {
  TraceBuilder b(4);
  b.collective(0, 10, 20, op::allreduce);
  b.collective(1, 11, 21, op::allreduce);
  b.collective(2, 30, 40, op::allreduce);  // begins after 0, 1 and 3 have ended
  b.collective(3, 12, 22, op::allreduce);
  const CheckReport report = b.check();
  const EdgeStatistics& e = edges(report, EdgeKind::n_to_n);
  EXPECT_EQ(e.count, 12);
  EXPECT_EQ(e.violations, 3);
  EXPECT_EQ(e.worst->margin_ticks, -10);
  EXPECT_EQ(e.worst->send.process, "MPI Rank 2");
  EXPECT_EQ(e.worst->receive.process, "MPI Rank 0");
}

TEST(Collectives, bcast_is_root_to_the_others) {
  TraceBuilder b(3);
  b.collective(0, 100, 101, op::bcast, 1, 0, k_received);
  b.collective(1, 100, 101, op::bcast, 1, 0, k_sent | k_received);  // root: its end is no edge
  b.collective(2, 90, 95, op::bcast, 1, 0, k_received);
  const CheckReport report = b.check({}, MuTicks{10, 10, 10});
  const EdgeStatistics& e = edges(report, EdgeKind::one_to_n);
  EXPECT_EQ(e.count, 2);
  EXPECT_EQ(e.violations, 1);
  EXPECT_EQ(e.below_latency, 2);
  EXPECT_EQ(e.worst->margin_ticks, -5);
}

TEST(Collectives, reduce_is_the_others_to_root) {
  TraceBuilder b(3);
  b.collective(0, 100, 120, op::reduce, 0, 0, k_sent | k_received);
  b.collective(1, 130, 131, op::reduce, 0, 0, k_sent);
  b.collective(2, 110, 500, op::reduce, 0, 0, k_sent);
  const CheckReport report = b.check();
  const EdgeStatistics& e = edges(report, EdgeKind::n_to_one);
  EXPECT_EQ(e.count, 2);
  EXPECT_EQ(e.violations, 1);
  EXPECT_EQ(e.worst->margin_ticks, -10);
}

TEST(Collectives, nobody_waits_for_zero_bytes) {
  TraceBuilder b(3);
  b.collective(0, 100, 110, op::gatherv, 0, 0, k_sent | k_received);
  b.collective(1, 900, 901, op::gatherv, 0, 0, 0);  // contributes nothing: may come late
  b.collective(2, 100, 101, op::gatherv, 0, 0, k_sent);
  EXPECT_EQ(edges(b.check(), EdgeKind::n_to_one).count, 1);
  EXPECT_EQ(b.check().violations, 0);

  TraceBuilder scatter(3);
  scatter.collective(0, 100, 110, op::scatterv, 0, 0, k_sent | k_received);
  scatter.collective(1, 10, 20, op::scatterv, 0, 0, 0);  // receives nothing: may be early
  scatter.collective(2, 10, 200, op::scatterv, 0, 0, k_received);
  EXPECT_EQ(edges(scatter.check(), EdgeKind::one_to_n).count, 1);
  EXPECT_EQ(scatter.check().violations, 0);

  TraceBuilder all(3);
  all.collective(0, 100, 110, op::allgatherv, trace::k_root_none, 0, k_received);
  all.collective(1, 100, 110, op::allgatherv, trace::k_root_none, 0, k_sent | k_received);
  all.collective(2, 100, 110, op::allgatherv, trace::k_root_none, 0, k_received);
  EXPECT_EQ(edges(all.check(), EdgeKind::n_to_n).count, 2);
}

TEST(Collectives, all_ops_have_their_kind) {
  const std::vector<std::pair<std::uint8_t, EdgeKind>> kinds = {
      {op::bcast, EdgeKind::one_to_n},
      {op::scatter, EdgeKind::one_to_n},
      {op::scatterv, EdgeKind::one_to_n},
      {op::gather, EdgeKind::n_to_one},
      {op::gatherv, EdgeKind::n_to_one},
      {op::reduce, EdgeKind::n_to_one},
      {op::barrier, EdgeKind::n_to_n},
      {op::allgather, EdgeKind::n_to_n},
      {op::allgatherv, EdgeKind::n_to_n},
      {op::alltoall, EdgeKind::n_to_n},
      {op::allreduce, EdgeKind::n_to_n},
      {op::reduce_scatter, EdgeKind::n_to_n},
      {op::scan, EdgeKind::scan},
      {op::exscan, EdgeKind::scan},
      {op::reduce_scatter_block, EdgeKind::n_to_n}};
  for (const auto& [operation, kind] : kinds) {
    TraceBuilder b(3);
    for (LocationIndex l = 0; l < 3; ++l) b.collective(l, 10, 20, operation, 2);
    const CheckReport report = b.check();
    std::uint64_t all = 0;
    for (const EdgeStatistics& e : report.edges) all += e.count;
    const std::uint64_t expected = kind == EdgeKind::n_to_n ? 6 : kind == EdgeKind::scan ? 3 : 2;
    EXPECT_EQ(edges(report, kind).count, expected) << int{operation};
    EXPECT_EQ(all, expected) << int{operation};
  }
}

// The papers print the direction of Scan the wrong way round.
TEST(Collectives, scan_goes_up_the_ranks) {
  TraceBuilder b(3);
  b.collective(0, 10, 11, op::scan);  // ends before 1 and 2 begin: fine
  b.collective(1, 20, 21, op::scan);
  b.collective(2, 30, 31, op::scan);
  EXPECT_EQ(edges(b.check(), EdgeKind::scan).count, 3);
  EXPECT_EQ(edges(b.check(), EdgeKind::scan).violations, 0);
  EXPECT_EQ(edges(b.check(), EdgeKind::scan).worst->margin_ticks, 11);

  TraceBuilder down(3);
  down.collective(0, 30, 31, op::exscan);
  down.collective(1, 20, 21, op::exscan);
  down.collective(2, 10, 11, op::exscan);
  EXPECT_EQ(edges(down.check(), EdgeKind::scan).violations, 3);
  EXPECT_EQ(edges(down.check(), EdgeKind::scan).worst->margin_ticks, -19);
}

TEST(Collectives, scan_ranks_follow_the_communicator_not_the_location) {
  TraceBuilder b(3);
  const auto reversed = b.comm({2, 1, 0});
  b.collective(0, 30, 31, op::scan, trace::k_root_none, reversed);
  b.collective(1, 20, 21, op::scan, trace::k_root_none, reversed);
  b.collective(2, 10, 11, op::scan, trace::k_root_none, reversed);
  EXPECT_EQ(edges(b.check(), EdgeKind::scan).violations, 0);
  EXPECT_EQ(edges(b.check(), EdgeKind::scan).count, 3);
}

TEST(Collectives, alltoallv_only_on_demand) {
  TraceBuilder b(2);
  for (const auto operation : {op::alltoallv, op::alltoallw}) {
    b.collective(0, 10, 20, operation);
    b.collective(1, 30, 40, operation);
  }
  const CheckReport ignored = b.check();
  EXPECT_EQ(edges(ignored, EdgeKind::n_to_n).count, 0);
  EXPECT_EQ(ignored.skipped, (Counters{{"alltoallv_instances", 2}}));
  CheckOptions dense;
  dense.alltoallv = AlltoallvRule::dense;
  const CheckReport counted = b.check(dense);
  EXPECT_EQ(edges(counted, EdgeKind::n_to_n).count, 4);
  EXPECT_EQ(counted.violations, 2);
  EXPECT_TRUE(counted.skipped.empty());
}

TEST(Collectives, handles_count_as_positions_without_edges) {
  TraceBuilder b(2);
  for (LocationIndex l = 0; l < 2; ++l) {
    b.collective(l, 10 + 100 * l, 20 + 100 * l, op::create_handle);
    b.collective(l, 300, 310, op::barrier);
  }
  const CheckReport report = b.check();
  EXPECT_EQ(edges(report, EdgeKind::n_to_n).count, 2);
  EXPECT_EQ(report.violations, 0);
  EXPECT_TRUE(report.unmatched.empty());
}

TEST(Collectives, where_calls_were_lost_the_certain_ones_remain) {
  TraceBuilder b(3);
  const auto other = b.comm({0, 1, 2});
  for (LocationIndex l = 0; l < 3; ++l) b.collective(l, 10, 20, op::barrier);
  // One barrier of process 1 was lost. Which one, nobody knows: none of its calls is certain.
  b.collective(0, 30, 40, op::barrier);
  b.collective(2, 30, 40, op::barrier);
  for (LocationIndex l = 0; l < 3; ++l) b.collective(l, 50, 60, op::allreduce);
  for (LocationIndex l = 0; l < 3; ++l) {
    b.collective(l, 70, 80, op::barrier, trace::k_root_none, other);
  }
  b.witness.calls = {{.space = 0, .process = 0, .instances = {{0, 0, 3}}},
                     {.space = 0, .process = 2, .instances = {{0, 0, 3}}}};
  for (const std::uint32_t p : {0U, 1U, 2U}) {
    b.witness.calls.push_back({.space = other, .process = p, .instances = {{0, 0, 1}}});
  }
  const CheckReport report = b.check();
  EXPECT_EQ(edges(report, EdgeKind::n_to_n).count,
            12);  // three of processes 0 and 2, and the other comm's
  EXPECT_EQ(report.unmatched, (Counters{{"collectives_incomplete", 2}}));
}

TEST(Collectives, different_roots_are_a_mismatch) {
  TraceBuilder b(2);
  b.collective(0, 10, 20, op::bcast, 0);
  b.collective(1, 10, 20, op::bcast, 1);
  EXPECT_EQ(count(b.check().unmatched, "collectives_mismatched"), 2);
  EXPECT_EQ(edges(b.check(), EdgeKind::one_to_n).count, 0);
}

TEST(Collectives, root_self_means_the_caller) {
  TraceBuilder b(2);
  b.collective(0, 10, 20, op::bcast, k_root_self);
  b.collective(1, 5, 9, op::bcast, 0);
  const CheckReport report = b.check();
  EXPECT_EQ(edges(report, EdgeKind::one_to_n).count, 1);
  EXPECT_EQ(report.violations, 1);
  EXPECT_TRUE(report.unmatched.empty());
}

TEST(Collectives, root_of_operations_without_root_is_not_compared) {
  TraceBuilder b(2);
  b.collective(0, 10, 20, op::allreduce, 0);
  b.collective(1, 10, 20, op::allreduce, 1);
  EXPECT_EQ(edges(b.check(), EdgeKind::n_to_n).count, 2);
}

TEST(Collectives, blocking_and_non_blocking_never_match) {
  TraceBuilder b(2);
  b.collective(0, 10, 20, op::barrier);
  b.request(K::nb_request, 1, 10, 4);
  b.collective_end(K::nb_complete, 1, 20, op::barrier).id = 4;
  EXPECT_EQ(edges(b.check(), EdgeKind::n_to_n).count, 0);
  EXPECT_EQ(count(b.check().unmatched, "collectives_incomplete"), 2);
}

TEST(Collectives, non_blocking_instances_follow_the_order_of_requests) {
  TraceBuilder b(2);
  for (LocationIndex l = 0; l < 2; ++l) {
    b.request(K::nb_request, l, 100, 1);
    b.request(K::nb_request, l, 200, 2);
    const std::uint64_t first = l == 0 ? 1 : 2;  // process 1 completes the second one first
    b.collective_end(K::nb_complete, l, 300, first == 1 ? op::barrier : op::allreduce).id = first;
    b.collective_end(K::nb_complete, l, 310, first == 1 ? op::allreduce : op::barrier).id =
        3 - first;
  }
  const CheckReport report = b.check();
  EXPECT_EQ(edges(report, EdgeKind::n_to_n).count, 4);
  EXPECT_EQ(edges(report, EdgeKind::n_to_n).worst->margin_ticks, 100);
  EXPECT_TRUE(report.unmatched.empty());
}

TEST(Collectives, a_call_that_may_be_any_of_several_is_in_none) {
  TraceBuilder b(3);
  for (std::uint64_t k = 0; k < 3; ++k) b.collective(0, 10 + 10 * k, 15 + 10 * k, op::barrier);
  b.collective(1, 10, 15, op::barrier);  // cut off
  b.trace().locations[2].event_file_missing = true;
  const CheckReport report = b.check();
  EXPECT_EQ(edges(report, EdgeKind::n_to_n).count, 0);
  EXPECT_EQ(report.unmatched, (Counters{{"collectives_incomplete", 4}}));
  EXPECT_EQ(report.skipped, (Counters{{"missing_event_files", 1}}));
}

TEST(Collectives, end_without_begin_keeps_its_position) {
  TraceBuilder b(3);
  b.collective_end(K::collective_end, 0, 20, op::barrier);
  b.collective(1, 10, 20, op::barrier);
  b.collective(2, 10, 20, op::barrier);
  for (LocationIndex l = 0; l < 3; ++l) b.collective(l, 30, 40, op::allreduce);
  const CheckReport report = b.check();
  EXPECT_EQ(edges(report, EdgeKind::n_to_n).count, 2 + 6);
  EXPECT_EQ(report.unmatched, (Counters{{"collective_ends_without_begin", 1}}));
}

TEST(Collectives, unknown_communicator_and_strangers_are_counted) {
  TraceBuilder b(3);
  const auto pair = b.comm({0, 1});
  b.collective(0, 10, 20, op::barrier, trace::k_root_none, 99);
  b.collective(0, 30, 40, op::barrier, trace::k_root_none, pair);
  b.collective(1, 30, 40, op::barrier, trace::k_root_none, pair);
  b.collective(2, 30, 40, op::barrier, trace::k_root_none, pair);  // no member
  const CheckReport report = b.check();
  EXPECT_EQ(edges(report, EdgeKind::n_to_n).count, 2);
  EXPECT_EQ(report.unmatched, (Counters{{"collectives_mismatched", 2}}));
}

TEST(Collectives, self_communicator_has_no_edges) {
  TraceBuilder b(2);
  const auto self = b.self_comm();
  b.collective(0, 10, 20, op::barrier, trace::k_root_none, self);
  b.collective(1, 30, 40, op::allreduce, trace::k_root_none, self);
  const CheckReport report = b.check();
  EXPECT_EQ(edges(report, EdgeKind::n_to_n).count, 0);
  EXPECT_TRUE(report.unmatched.empty());
}

TEST(Collectives, inter_communicator_only_across_the_groups) {
  TraceBuilder b(5);
  const auto inter = b.inter_comm({0, 1}, {2, 3, 4});
  for (LocationIndex l = 0; l < 5; ++l) {
    b.collective(l, 10, 20, op::barrier, trace::k_root_none, inter);
    b.collective(l, 30, 40, op::allgather, trace::k_root_none, inter);
  }
  EXPECT_EQ(edges(b.check(), EdgeKind::n_to_n).count, 2 * 12);
}

TEST(Collectives, inter_communicator_bcast_goes_from_root_to_the_remote_group) {
  TraceBuilder b(5);
  const auto inter = b.inter_comm({0, 1}, {2, 3, 4});
  b.collective(0, 10, 20, op::bcast, k_root_this_group, inter, 0);
  b.collective(1, 10, 20, op::bcast, k_root_self, inter, k_sent);
  for (LocationIndex l = 2; l < 5; ++l) b.collective(l, 5, 9, op::bcast, 1, inter, k_received);
  const CheckReport report = b.check();
  EXPECT_EQ(edges(report, EdgeKind::one_to_n).count, 3);
  EXPECT_EQ(edges(report, EdgeKind::one_to_n).violations, 3);
  EXPECT_EQ(edges(report, EdgeKind::one_to_n).worst->send.process, "MPI Rank 1");
  EXPECT_TRUE(report.unmatched.empty());
}

TEST(Collectives, inter_communicator_reduce_goes_to_root_of_the_other_group) {
  TraceBuilder b(4);
  const auto inter = b.inter_comm({0, 1}, {2, 3});
  b.collective(0, 10, 20, op::reduce, 1, inter, k_sent);
  b.collective(1, 10, 20, op::reduce, 1, inter, k_sent);
  b.collective(2, 10, 20, op::reduce, k_root_this_group, inter, 0);
  b.collective(3, 10, 20, op::reduce, k_root_self, inter, k_received);
  EXPECT_EQ(edges(b.check(), EdgeKind::n_to_one).count, 2);
  EXPECT_EQ(edges(b.check(), EdgeKind::n_to_one).worst->receive.process, "MPI Rank 3");
}

TEST(Collectives, inter_communicator_roots_on_different_sides_are_a_mismatch) {
  TraceBuilder b(2);
  const auto inter = b.inter_comm({0}, {1});
  b.collective(0, 10, 20, op::bcast, k_root_self, inter);
  b.collective(1, 10, 20, op::bcast, k_root_self, inter);
  EXPECT_EQ(count(b.check().unmatched, "collectives_mismatched"), 2);

  TraceBuilder nobody(2);  // each says that the root is in its own group
  const auto other = nobody.inter_comm({0}, {1});
  nobody.collective(0, 10, 20, op::bcast, k_root_this_group, other);
  nobody.collective(1, 10, 20, op::bcast, k_root_this_group, other);
  EXPECT_EQ(count(nobody.check().unmatched, "collectives_mismatched"), 2);
}

TEST(Collectives, threads_of_a_process_share_its_position) {
  TraceBuilder b(2, 2);
  b.collective(1, 10, 20, op::barrier);    // process 0, first by time though not by location
  b.collective(0, 30, 40, op::allreduce);  // process 0, second
  b.collective(2, 10, 20, op::barrier);
  b.collective(3, 30, 40, op::allreduce);
  const CheckReport report = b.check();
  EXPECT_EQ(edges(report, EdgeKind::n_to_n).count, 4);
  EXPECT_TRUE(report.unmatched.empty());
}

TEST(Collectives, non_blocking_calls_of_threads_count_in_order_of_their_requests) {
  TraceBuilder b(2, 2);
  const auto non_blocking = [&](LocationIndex l, std::uint64_t begin, std::uint64_t end) {
    b.request(K::nb_request, l, begin, l);
    b.collective_end(K::nb_complete, l, end, op::barrier).id = l;
  };
  non_blocking(0, 10, 30);
  non_blocking(1, 11, 20);
  non_blocking(2, 15, 16);  // the first call of process 1, between the requests of process 0
  non_blocking(3, 25, 26);
  const CheckReport report = b.check();
  // Ends: 30 and 20 of the first and the second call of process 0, 16 and 26 of process 1.
  EXPECT_EQ(edges(report, EdgeKind::n_to_n).count, 4);
  EXPECT_EQ(edges(report, EdgeKind::n_to_n).violations, 1);  // 25 -> 20
  EXPECT_TRUE(report.unmatched.empty());
}

TEST(Collectives, of_calls_begun_together_the_one_that_ended_first_is_first) {
  TraceBuilder b(2, 2);
  const auto non_blocking = [&](LocationIndex l, std::uint64_t begin, std::uint64_t end,
                                std::uint64_t id) {
    b.request(K::nb_request, l, begin, id);
    b.collective_end(K::nb_complete, l, end, op::barrier).id = id;
  };
  non_blocking(0, 10, 40, 1);
  non_blocking(1, 10, 30, 1);
  non_blocking(2, 25, 26, 1);
  non_blocking(2, 35, 36, 2);
  const CheckReport report = b.check();
  EXPECT_EQ(edges(report, EdgeKind::n_to_n).count, 4);
  EXPECT_EQ(edges(report, EdgeKind::n_to_n).violations, 0);  // 25 -> 30, 35 -> 40
}

TEST(Collectives, of_calls_begun_together_a_request_is_first) {
  TraceBuilder b(2, 2);
  b.collective(0, 10, 12, op::barrier);
  b.request(K::nb_request, 1, 10, 1);
  b.collective_end(K::nb_complete, 1, 40, op::barrier).id = 1;
  b.request(K::nb_request, 2, 5, 1);
  b.collective(2, 11, 30, op::barrier);
  b.collective_end(K::nb_complete, 2, 40, op::barrier).id = 1;
  const CheckReport report = b.check();
  EXPECT_EQ(edges(report, EdgeKind::n_to_n).count, 4);
  EXPECT_EQ(edges(report, EdgeKind::n_to_n).worst->margin_ticks, 1);  // 11 -> 12
}

TEST(Collectives, mixed_classes_count_by_inclusion_and_exclusion) {
  TraceBuilder b(4, 1, 2);  // nodes {0, 1} and {2, 3}
  for (LocationIndex l = 0; l < 4; ++l) b.collective(l, 100, 105, op::barrier);
  EXPECT_EQ(b.check({}, MuTicks{0, 6, 0}).below_latency, 4);
  EXPECT_EQ(b.check({}, MuTicks{0, 0, 6}).below_latency, 8);
  EXPECT_EQ(b.check({}, MuTicks{9, 6, 6}).below_latency, 12);
  EXPECT_EQ(b.check({}, MuTicks{9, 5, 5}).below_latency, 0);
}

TEST(Collectives, init_and_finalize_count_only_on_demand) {
  TraceBuilder b(3);
  for (LocationIndex l = 0; l < 3; ++l) {
    b.add(l, 10 + 20 * l, K::init_enter);
    b.add(l, 15 + 20 * l, K::init_leave);
    b.add(l, 100, K::finalize_enter);
    b.add(l, 110, K::finalize_leave);
  }
  const CheckReport reported = b.check();
  EXPECT_EQ(edges(reported, EdgeKind::init_finalize).count, 12);
  EXPECT_EQ(edges(reported, EdgeKind::init_finalize).violations, 3);
  EXPECT_EQ(reported.violations, 0);
  CheckOptions options;
  options.init_finalize = true;
  EXPECT_EQ(b.check(options).violations, 3);
  EXPECT_EQ(b.check(options).below_latency, 3);
}

TEST(Collectives, half_an_init_and_one_of_several_threads_are_left_out) {
  TraceBuilder b(5, 2);
  const auto call = [&](LocationIndex l) {
    b.add(l, 10 + l, K::init_enter);
    b.add(l, 20 + l, K::init_leave);
  };
  call(0);
  b.add(2, 5, K::init_leave);  // no end of the call that follows
  call(2);
  b.add(4, 5, K::init_leave);  // measurement began inside of MPI_Init
  b.add(6, 5, K::init_enter);
  call(8);
  call(9);
  const CheckReport report = b.check();
  EXPECT_EQ(edges(report, EdgeKind::init_finalize).count, 2);
  EXPECT_EQ(edges(report, EdgeKind::init_finalize).worst->margin_ticks, 8);
  EXPECT_EQ(report.unmatched, (Counters{{"init_finalize", 3}}));
}

}  // namespace
}  // namespace entrain::verify
