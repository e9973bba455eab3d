// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "verify/outline.hpp"
#include "verify/testing.hpp"

namespace entrain::verify {
namespace {

using testing::count;
using testing::p2p;
using testing::TraceBuilder;
using K = trace::EventKind;

TEST(Messages, one_message_in_order) {
  TraceBuilder b(2);
  b.message(K::send, 0, 100, 1);
  b.message(K::recv, 1, 140, 0);
  const CheckReport report = b.check();
  EXPECT_EQ(p2p(report).count, 1);
  EXPECT_EQ(report.violations, 0);
  ASSERT_TRUE(p2p(report).worst);
  EXPECT_EQ(p2p(report).worst->margin_ticks, 40);
  EXPECT_EQ(p2p(report).worst->send.location, 100);
  EXPECT_EQ(p2p(report).worst->receive.process, "MPI Rank 1");
  EXPECT_EQ(p2p(report).worst->receive.local_ticks, 140);
  EXPECT_TRUE(report.unmatched.empty());
  EXPECT_TRUE(report.skipped.empty());
}

TEST(Messages, violations_are_strict_and_latency_is_separate) {
  TraceBuilder b(2);
  b.message(K::send, 0, 100, 1);
  b.message(K::send, 0, 200, 1);
  b.message(K::send, 0, 300, 1);
  b.message(K::recv, 1, 99, 0);   // violates
  b.message(K::recv, 1, 200, 0);  // equal: fine without latency
  b.message(K::recv, 1, 304, 0);  // short of a latency of 5
  const CheckReport report = b.check({}, MuTicks{0, 0, 5});
  EXPECT_EQ(p2p(report).violations, 1);
  EXPECT_EQ(p2p(report).below_latency, 3);
  EXPECT_EQ(p2p(report).equal, 1);
  EXPECT_EQ(report.equal, 1);
  EXPECT_EQ(b.check({}, MuTicks{0, 0, 4}).below_latency, 2);  // 304 is no longer short
  EXPECT_EQ(b.check({}, MuTicks{9, 9, 0}).below_latency, 1);  // other classes do not matter
}

TEST(Messages, a_pair_of_machines_may_have_more_latency_than_its_class) {
  TraceBuilder b(3);
  for (const std::uint32_t to : {1u, 2u}) {
    b.message(K::send, 0, 100 * to, to);
    b.message(K::recv, to, 100 * to + 40, 0);
  }
  for (LocationIndex l = 0; l < 3; ++l) b.collective(l, 1'000, 1'040, trace::op::barrier);
  const std::vector<ClockMap> maps(3);
  const std::vector<std::uint32_t>& machine = b.trace().definitions.node_of;
  trace::PairMu pairs;
  pairs.add(machine[0], machine[2], 50);
  pairs.add(machine[0], machine[1], 20);
  const TimesToCheck times{.maps = maps, .mu = {0, 0, 30}, .pair_mu = &pairs};
  const CheckReport report = testing::check_by_teams(b.trace(), times, {});
  EXPECT_EQ(p2p(report).below_latency, 1);
  EXPECT_EQ(report.below_latency, 1) << "collectives keep the latency of the class";
}

TEST(Messages, key_is_communicator_tag_and_both_processes) {
  TraceBuilder b(3);
  const auto other = b.comm({0, 1, 2});
  b.message(K::send, 0, 10, 1, 1);
  b.message(K::send, 0, 20, 1, 2);
  b.message(K::send, 0, 30, 2, 1);
  b.message(K::send, 0, 40, 1, 1, 0, other);
  // In another order: a matcher that ignores any part of the key finds other delays.
  b.message(K::recv, 1, 21, 0, 2);
  b.message(K::recv, 1, 41, 0, 1, 0, other);
  b.message(K::recv, 1, 43, 0, 1);
  b.message(K::recv, 2, 31, 0, 1);
  const CheckReport report = b.check({}, MuTicks{2, 2, 2});
  EXPECT_EQ(p2p(report).below_latency, 3);  // all but the last one to process 1
  EXPECT_EQ(p2p(report).count, 4);
  EXPECT_EQ(p2p(report).violations, 0);
  EXPECT_EQ(p2p(report).worst->margin_ticks, 1);
  EXPECT_TRUE(report.unmatched.empty());
}

TEST(Messages, receives_match_in_posting_order_not_in_completion_order) {
  TraceBuilder b(2);
  b.message(K::send, 0, 100, 1);
  b.message(K::send, 0, 200, 1);
  b.request(K::irecv_request, 1, 10, 7);
  b.request(K::irecv_request, 1, 11, 8);
  b.message(K::irecv, 1, 205, 0, 0, 8);  // the second one completes first
  b.message(K::irecv, 1, 206, 0, 0, 7);
  const CheckReport report = b.check();
  EXPECT_EQ(p2p(report).count, 2);
  EXPECT_EQ(p2p(report).violations, 0);
  EXPECT_EQ(p2p(report).worst->margin_ticks, 5);  // completion order would give 6 and 105
}

TEST(Messages, posted_receive_comes_before_later_blocking_receive) {
  TraceBuilder b(2);
  b.message(K::send, 0, 100, 1);
  b.message(K::send, 0, 200, 1);
  b.request(K::irecv_request, 1, 10, 7);
  b.message(K::recv, 1, 205, 0);
  b.message(K::irecv, 1, 300, 0, 0, 7);
  EXPECT_EQ(p2p(b.check()).worst->margin_ticks, 5);
}

TEST(Messages, persistent_request_is_posted_again) {
  TraceBuilder b(2);
  for (std::uint64_t round = 0; round < 3; ++round) {
    b.message(K::send, 0, 100 * round + 50, 1);
    b.request(K::irecv_request, 1, 100 * round + 10, 7);
    b.message(K::irecv, 1, 100 * round + 60, 0, 0, 7);
  }
  const CheckReport report = b.check();
  EXPECT_EQ(p2p(report).count, 3);
  EXPECT_EQ(p2p(report).worst->margin_ticks, 10);
}

TEST(Messages, completion_without_request_counts_where_it_stands) {
  TraceBuilder b(2);
  b.message(K::send, 0, 100, 1);
  b.message(K::send, 0, 200, 1);
  b.message(K::irecv, 1, 101, 0, 0, 7);
  b.message(K::recv, 1, 201, 0);
  EXPECT_EQ(p2p(b.check()).violations, 0);
  EXPECT_EQ(p2p(b.check()).count, 2);
}

TEST(Messages, cancelled_send_takes_no_receive) {
  TraceBuilder b(2);
  b.message(K::isend, 0, 100, 1, 0, 5);
  b.request(K::request_cancelled, 0, 110, 5);
  b.message(K::isend, 0, 120, 1, 0, 5);  // the id is used again
  b.message(K::recv, 1, 121, 0);
  const CheckReport report = b.check();
  EXPECT_EQ(p2p(report).count, 1);
  EXPECT_EQ(p2p(report).worst->margin_ticks, 1);
  EXPECT_EQ(count(report.skipped, "cancelled_sends"), 1);
  EXPECT_TRUE(report.unmatched.empty());
}

TEST(Messages, cancel_after_reuse_of_the_id_hits_the_later_operation) {
  TraceBuilder b(2);
  b.message(K::isend, 0, 100, 1, 0, 5);
  b.request(K::irecv_request, 0, 110, 5);
  b.request(K::request_cancelled, 0, 120, 5);
  b.message(K::recv, 1, 130, 0);
  const CheckReport report = b.check();
  EXPECT_EQ(p2p(report).count, 1);
  EXPECT_EQ(count(report.skipped, "cancelled_receives"), 1);
  EXPECT_EQ(count(report.skipped, "cancelled_sends"), 0);
}

TEST(Messages, cancelled_and_open_receives_take_no_message) {
  TraceBuilder b(2);
  b.message(K::send, 0, 100, 1);
  b.request(K::irecv_request, 1, 10, 1);
  b.request(K::irecv_request, 1, 11, 2);  // never completes
  b.request(K::request_cancelled, 1, 12, 1);
  b.message(K::recv, 1, 101, 0);
  const CheckReport report = b.check();
  EXPECT_EQ(p2p(report).count, 1);
  EXPECT_EQ(p2p(report).worst->margin_ticks, 1);
  EXPECT_EQ(count(report.skipped, "cancelled_receives"), 1);
}

TEST(Messages, unmatched_are_counted) {
  TraceBuilder b(3);
  b.message(K::send, 0, 100, 1);
  b.message(K::send, 0, 110, 1, 5);
  b.message(K::send, 0, 120, 9);            // no such rank
  b.message(K::send, 0, 130, 1, 0, 0, 77);  // no such communicator
  b.message(K::recv, 1, 140, 0);
  b.message(K::recv, 2, 150, 1);
  const CheckReport report = b.check();
  EXPECT_EQ(p2p(report).count, 1);
  EXPECT_EQ(report.unmatched, (Counters{{"sends", 3}, {"receives", 1}}));
}

TEST(Messages, own_message_is_no_edge) {
  TraceBuilder b(1);
  const auto self = b.self_comm();
  b.message(K::isend, 0, 100, 0, 0, 1, self);
  b.message(K::recv, 0, 110, 0, 0, 0, self);
  b.message(K::isend, 0, 120, 0, 0, 1);
  b.message(K::recv, 0, 130, 0);
  const CheckReport report = b.check();
  EXPECT_EQ(p2p(report).count, 0);
  EXPECT_FALSE(p2p(report).worst);
  EXPECT_TRUE(report.unmatched.empty());
}

TEST(Messages, inter_communicator_ranks_name_the_other_group) {
  TraceBuilder b(4);
  const auto inter = b.inter_comm({0, 1}, {2, 3});
  b.message(K::send, 0, 100, 1, 0, 0, inter);  // to process 3
  b.message(K::recv, 3, 110, 0, 0, 0, inter);  // from process 0
  b.message(K::send, 2, 200, 1, 0, 0, inter);  // to process 1
  b.message(K::recv, 1, 220, 0, 0, 0, inter);  // from process 2
  const CheckReport report = b.check();
  EXPECT_EQ(p2p(report).count, 2);
  EXPECT_TRUE(report.unmatched.empty());
  EXPECT_EQ(p2p(report).worst->margin_ticks, 10);
  EXPECT_EQ(p2p(report).worst->receive.process, "MPI Rank 3");
}

TEST(Messages, threads_of_a_process_are_one_rank) {
  TraceBuilder b(2, 2);  // locations 0, 1 of process 0; 2, 3 of process 1
  b.message(K::send, 1, 100, 1);
  b.message(K::send, 0, 200, 1);
  b.message(K::recv, 3, 201, 0);
  b.message(K::recv, 2, 102, 0);
  // Order of stamps, not of locations: 100 -> 102 and 200 -> 201.
  const CheckReport report = b.check();
  EXPECT_EQ(p2p(report).count, 2);
  EXPECT_EQ(p2p(report).violations, 0);
  EXPECT_EQ(p2p(report).worst->margin_ticks, 1);
}

TEST(Messages, posting_order_holds_across_threads) {
  TraceBuilder b(2, 2);
  b.message(K::send, 0, 100, 1);
  b.message(K::send, 0, 200, 1);
  b.request(K::irecv_request, 3, 50, 1);  // posted first
  b.message(K::recv, 2, 190, 0);
  b.message(K::irecv, 3, 250, 0, 0, 1);
  const CheckReport report = b.check();
  EXPECT_EQ(p2p(report).count, 2);
  EXPECT_EQ(p2p(report).violations, 1);
  EXPECT_EQ(p2p(report).worst->margin_ticks, -10);
}

TEST(Messages, of_too_many_receives_of_threads_none_is_certain) {
  TraceBuilder b(2, 2);
  b.message(K::send, 0, 100, 1);
  b.message(K::recv, 3, 90, 0);
  b.message(K::recv, 2, 120, 0);
  const CheckReport report = b.check();
  EXPECT_EQ(p2p(report).count, 0);
  EXPECT_EQ(report.unmatched, (Counters{{"sends", 1}, {"receives", 2}, {"ambiguous_receives", 1}}));
}

TEST(Messages, sends_of_threads_match_what_one_thread_has_posted) {
  TraceBuilder b(2, 2);
  b.message(K::send, 0, 160, 1);
  b.message(K::send, 1, 100, 1);
  b.request(K::irecv_request, 2, 50, 1);
  b.request(K::irecv_request, 2, 51, 2);
  b.message(K::irecv, 2, 150, 0, 0, 2);
  b.message(K::irecv, 2, 250, 0, 0, 1);
  const CheckReport report = b.check();
  EXPECT_EQ(p2p(report).violations, 1);
  EXPECT_EQ(p2p(report).worst->margin_ticks, -10);
}

TEST(Messages, threads_write_to_their_own_process) {
  TraceBuilder b(1, 3);
  b.message(K::send, 0, 100, 0);
  b.message(K::send, 1, 90, 0);
  b.message(K::recv, 2, 95, 0);
  b.message(K::recv, 2, 99, 0);
  const CheckReport report = b.check();
  EXPECT_EQ(p2p(report).count, 2);
  EXPECT_EQ(p2p(report).violations, 1);
  EXPECT_EQ(p2p(report).worst->margin_ticks, -1);
}

// The stored stamps tell the order of posting, whatever a correction makes of them.
TEST(Messages, moving_one_thread_changes_no_pair) {
  TraceBuilder b(2, 2);
  b.message(K::send, 0, 100, 1);
  b.message(K::send, 1, 110, 1);
  b.message(K::recv, 2, 120, 0);
  b.message(K::recv, 3, 130, 0);
  std::vector<ClockMap> maps(4);
  maps[2] = *ClockMap::from_knots({{0, 15}, {1000, 15}});
  const CheckReport report = testing::check_by_teams(b.trace(), {.maps = maps}, {});
  EXPECT_EQ(p2p(report).count, 2);
  EXPECT_EQ(p2p(report).worst->margin_ticks, 20);  // 110 -> 130; 100 -> 135
}

TEST(Messages, classes_follow_process_and_node) {
  TraceBuilder b(3, 2, 2);  // processes 0 and 1 share a node
  b.message(K::send, 0, 100, 0);
  b.message(K::recv, 1, 100, 0);  // same process, other thread
  b.message(K::send, 0, 100, 1, 1);
  b.message(K::recv, 2, 100, 0, 1);  // same node
  b.message(K::send, 0, 100, 2, 2);
  b.message(K::recv, 4, 100, 0, 2);  // other node
  EXPECT_EQ(b.check({}, MuTicks{1, 0, 0}).below_latency, 1);
  EXPECT_EQ(b.check({}, MuTicks{0, 1, 0}).below_latency, 1);
  EXPECT_EQ(b.check({}, MuTicks{0, 0, 1}).below_latency, 1);
  EXPECT_EQ(b.check({}, MuTicks{1, 1, 1}).below_latency, 3);
}

}  // namespace
}  // namespace entrain::verify
