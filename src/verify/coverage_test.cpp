// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "verify/testing.hpp"

namespace entrain::verify {
namespace {

using testing::TraceBuilder;
using K = trace::EventKind;
namespace op = trace::op;

/// "receives paired ambiguous lost in_gaps, calls in_instances alltoallv neighbourhood".
std::string text_of(const Coverage& c) {
  return fmt::format("{} {} {} {} {}, {} {} {} {}", c.receives, c.paired, c.ambiguous, c.lost,
                     c.in_gaps, c.collective_calls, c.in_instances, c.alltoallv_skipped,
                     c.neighbourhood_skipped);
}
std::string coverage_of(const TraceBuilder& b, const CheckOptions& options = {}) {
  return text_of(b.check(options).coverage);
}

TEST(Coverage, is_empty_without_communication) {
  const TraceBuilder b(2);
  EXPECT_EQ(coverage_of(b), "0 0 0 0 0, 0 0 0 0");
  EXPECT_FALSE(b.check().coverage.share());
}

TEST(Coverage, completed_receives_count_and_cancelled_ones_do_not) {
  TraceBuilder b(2);
  b.message(K::send, 0, 10, 1);
  b.message(K::send, 0, 20, 1);
  b.message(K::recv, 1, 11, 0);
  b.request(K::irecv_request, 1, 12, 7);
  b.request(K::irecv_request, 1, 13, 8);
  b.message(K::irecv, 1, 21, 0, 0, 7);
  b.request(K::request_cancelled, 1, 22, 8);
  b.message(K::recv, 1, 30, 0, 6);        // its send is missing
  b.message(K::recv, 1, 31, 0, 5);        // as is that of another tag
  b.message(K::recv, 1, 32, 9);           // from nobody
  b.request(K::irecv_request, 1, 40, 9);  // never completed
  const CheckReport report = b.check();
  EXPECT_EQ(text_of(report.coverage), "5 2 0 3 0, 0 0 0 0");
  EXPECT_DOUBLE_EQ(*report.coverage.share(), 0.4);
  EXPECT_EQ(testing::count(report.unmatched, "receives"), report.coverage.lost);
}

TEST(Coverage, what_a_process_sends_itself_counts_only_between_threads) {
  TraceBuilder b(1, 2);
  b.message(K::send, 0, 10, 0);
  b.message(K::recv, 0, 11, 0);
  EXPECT_EQ(coverage_of(b), "0 0 0 0 0, 0 0 0 0");
  EXPECT_EQ(b.check().judgement.verdict, Verdict::clean);
  b.message(K::send, 0, 20, 0);
  b.message(K::recv, 1, 21, 0);
  EXPECT_EQ(coverage_of(b), "2 2 0 0 0, 0 0 0 0");
}

TEST(Coverage, unreceived_sends_are_no_receives) {
  TraceBuilder b(2);
  b.message(K::send, 0, 10, 1);
  EXPECT_EQ(coverage_of(b), "0 0 0 0 0, 0 0 0 0");
}

TEST(Coverage, calls_count_per_process_and_only_with_others) {
  TraceBuilder b(3);
  const auto alone = b.comm({1});
  const auto self = b.self_comm();
  for (LocationIndex l = 0; l < 3; ++l) b.collective(l, 10, 20 + l, op::allreduce);
  b.collective(1, 30, 40, op::allreduce, trace::k_root_none, alone);
  b.collective(2, 30, 40, op::allreduce, trace::k_root_none, self);
  EXPECT_EQ(coverage_of(b), "0 0 0 0 0, 3 3 0 0");
}

TEST(Coverage, only_calls_that_are_certain_of_their_instance_count) {
  TraceBuilder b(3);
  for (LocationIndex l = 0; l < 3; ++l) b.collective(l, 10, 20 + l, op::barrier);
  b.collective(0, 30, 40, op::barrier);  // the others never come
  EXPECT_EQ(coverage_of(b), "0 0 0 0 0, 4 0 0 0");
  b.collective(1, 30, 40, op::allreduce);
  b.collective(2, 30, 40, op::barrier);  // process 1 has lost a barrier, and two an allreduce
  b.witness.calls = {{.space = 0, .process = 0, .instances = {{0, 0, 2}}},
                     {.space = 0, .process = 2, .instances = {{0, 0, 2}}}};
  EXPECT_EQ(coverage_of(b), "0 0 0 0 0, 6 4 0 0");
}

TEST(Coverage, a_call_of_one_process_alone_or_of_a_stranger_tells_nothing) {
  TraceBuilder b(3);
  const auto pair = b.comm({0, 1});
  b.collective(0, 10, 20, op::barrier, trace::k_root_none, pair);
  b.collective(2, 10, 20, op::barrier, trace::k_root_none, pair);
  b.collective(2, 30, 40, op::barrier, trace::k_root_none, 77);
  EXPECT_EQ(coverage_of(b), "0 0 0 0 0, 3 0 0 0");
}

TEST(Coverage, instances_that_demand_nothing_are_complete_knowledge) {
  TraceBuilder b(2);
  for (LocationIndex l = 0; l < 2; ++l) {
    b.collective(l, 10, 20, op::gatherv, 0, 0, 0);  // nobody contributes a byte
    b.collective(l, 30, 40, op::create_handle);
  }
  const CheckReport report = b.check();
  EXPECT_EQ(report.checked_edges, 0);
  EXPECT_EQ(text_of(report.coverage), "0 0 0 0 0, 4 4 0 0");
}

TEST(Coverage, alltoallv_tells_nothing_unless_it_is_dense) {
  TraceBuilder b(2);
  for (LocationIndex l = 0; l < 2; ++l) {
    b.collective(l, 10, 20, op::alltoallv);
    b.collective(l, 30, 40, op::alltoallw);
    b.collective(l, 50, 60, op::alltoall);
  }
  EXPECT_EQ(coverage_of(b), "0 0 0 0 0, 6 2 4 0");
  CheckOptions dense;
  dense.alltoallv = AlltoallvRule::dense;
  EXPECT_EQ(coverage_of(b, dense), "0 0 0 0 0, 6 6 0 0");
}

TEST(Coverage, calls_that_name_their_partners_tell_all) {
  TraceBuilder b(3);
  b.exchange(0, 10, 20, {1}, {1});
  b.exchange(1, 10, 20, {0}, {0});
  b.exchange(2, 10, 20, {}, {});  // it waits for nobody, and that is known
  for (LocationIndex l = 0; l < 3; ++l) b.exchange(l, 30, 40, {}, {});
  EXPECT_EQ(coverage_of(b), "0 0 0 0 0, 6 6 0 0");
  EXPECT_EQ(b.check().judgement.verdict, Verdict::clean);
}

TEST(Coverage, calls_that_name_no_partners_tell_nothing_beside_those_that_do) {
  TraceBuilder b(3);
  b.exchange(0, 10, 20, {1, 2}, {1});
  b.exchange(1, 10, 20, {0}, {0, 2});
  b.collective(2, 10, 20, op::alltoallv);
  EXPECT_EQ(coverage_of(b), "0 0 0 0 0, 3 2 1 0");
  CheckOptions dense;
  dense.alltoallv = AlltoallvRule::dense;
  EXPECT_EQ(coverage_of(b, dense), "0 0 0 0 0, 3 3 0 0");
  b.exchange(0, 30, 40, {1}, {});  // of the others one call was lost, and nobody knows which
  EXPECT_EQ(coverage_of(b), "0 0 0 0 0, 4 0 0 0");
}

TEST(Coverage, calls_beyond_a_disagreement_are_not_skipped_as_well) {
  TraceBuilder b(2);
  for (LocationIndex l = 0; l < 2; ++l) {
    for (std::uint64_t k = 0; k < 100; ++k) {  // more than one block of calls
      if (k == 3) {
        b.collective(l, 100 * k, 100 * k + 50, op::bcast, l);  // they name different roots
      } else {
        b.collective(l, 100 * k, 100 * k + 50, op::alltoallv);
      }
    }
  }
  EXPECT_EQ(coverage_of(b), "0 0 0 0 0, 200 0 6 0");
}

/// Messages of spawned processes and calls with them tell nothing; calls of the others do.
TEST(Coverage, operations_with_processes_that_were_not_recorded_are_counted) {
  TraceBuilder b(2);
  const auto spawned = b.inter_comm({0, 1}, {k_none});
  for (LocationIndex l = 0; l < 2; ++l) {
    b.collective(l, 10, 20, op::barrier);
    b.collective(l, 30, 40, op::barrier, trace::k_root_none, spawned);
  }
  b.message(K::send, 0, 50, 0, 0, 0, spawned);
  b.message(K::recv, 1, 60, 0, 0, 0, spawned);
  const CheckReport report = b.check();
  EXPECT_EQ(text_of(report.coverage), "1 0 0 1 0, 4 2 0 0");
  EXPECT_EQ(testing::count(report.unmatched, "with_unrecorded_processes"), 4U);
  EXPECT_EQ(report.judgement.doubt, Doubt::low_coverage);
}

TEST(Coverage, a_cancelled_send_to_a_process_that_was_not_recorded_is_not_counted) {
  TraceBuilder b(2);
  const auto spawned = b.inter_comm({0, 1}, {k_none});
  b.message(K::isend, 0, 10, 0, 0, 5, spawned);
  b.request(K::request_cancelled, 0, 20, 5);
  b.message(K::isend, 0, 30, 0, 0, 5, spawned);
  EXPECT_EQ(testing::count(b.check().unmatched, "with_unrecorded_processes"), 1U);
}

TEST(Coverage, calls_on_windows_count_too) {
  TraceBuilder b(2);
  const auto window = b.window(0);
  for (LocationIndex l = 0; l < 2; ++l) {
    for (const std::uint32_t level : {1U, 2U}) {  // processes; memory only, which demands nothing
      b.add(l, 10 * level, K::rma_collective_begin);
      b.collective_end(K::rma_collective_end, l, 10 * level + 5, op::barrier, trace::k_root_none,
                       window)
          .tag = level;
    }
  }
  const CheckReport report = b.check();
  EXPECT_EQ(text_of(report.coverage), "0 0 0 0 0, 4 4 0 0");
  EXPECT_EQ(testing::count(report.skipped, "rma_without_process_sync"), 1);
}

TEST(Coverage, neighbourhood_calls_without_a_record_are_calls_that_tell_nothing) {
  TraceBuilder b(2);
  for (const LocationIndex l : {0, 1, 1}) {
    b.add(l, 10, K::neighbours_enter);
    b.add(l, 20, K::neighbours_leave);
  }
  const CheckReport report = b.check();
  EXPECT_EQ(text_of(report.coverage), "0 0 0 0 0, 3 0 0 3");
  EXPECT_EQ(report.judgement.verdict, Verdict::unproven);
}

}  // namespace
}  // namespace entrain::verify
