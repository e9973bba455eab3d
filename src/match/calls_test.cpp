// SPDX-License-Identifier: BSD-3-Clause
#include "match/calls.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "match/testing.hpp"

namespace entrain::match {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using testing::TraceBuilder;
using trace::EventKind;
namespace op = trace::op;

/// A builder in a team of one, over processes with one collective call each: begin at 10 + p, end
/// at 20 + p.
struct MadeCalls {
  explicit MadeCalls(const TraceBuilder& b, const Options& options = {})
      : trace(b.trace()),
        partition(trace::undivided(trace.definitions)),
        builder({solo, partition, trace}, options, nullptr) {}

  /// The call of process `p`.
  [[nodiscard]] Call call(std::uint32_t p, std::uint8_t code, std::uint32_t root = k_none) const {
    Call call;
    call.set_ends(builder, {p, 1}, 0);
    call.space = 0;
    call.process = p;
    call.root = root;
    call.op = code;
    call.sent = call.received = true;
    return call;
  }
  [[nodiscard]] std::vector<Call> calls(std::uint8_t code, std::uint32_t root = k_none) const {
    std::vector<Call> all;
    for (std::uint32_t p = 0; p < trace.locations.size(); ++p) all.push_back(call(p, code, root));
    return all;
  }

  Solo solo;
  trace::Trace trace;
  trace::Partition partition;
  Builder builder;
};

TraceBuilder processes(std::uint32_t count) {
  TraceBuilder b(count);
  for (std::uint32_t p = 0; p < count; ++p) b.collective(p, 10 + p, 20 + p, op::barrier);
  return b;
}

/// Numbers of senders and receivers of the exchanges that one instance gives.
std::vector<std::pair<std::uint32_t, std::uint32_t>> channel_sides(std::uint8_t code,
                                                                   std::uint32_t root,
                                                                   bool one_sided = false,
                                                                   const Options& options = {}) {
  MadeCalls c(processes(3), options);
  const trace::Comm& comm = c.trace.definitions.comms[0];
  add_instance(c.builder, processes_of(c.builder, comm), c.calls(code, root), comm, one_sided);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> sides;
  for (const Exchange& e : c.builder.finish().exchanges) {
    sides.emplace_back(e.send_count, e.receive_count);
  }
  return sides;
}

TEST(Calls, the_operation_decides_who_sends_and_receives) {
  EXPECT_THAT(channel_sides(op::barrier, k_none), ElementsAre(Pair(3, 3)));
  EXPECT_THAT(channel_sides(op::bcast, 1), ElementsAre(Pair(1, 3)));
  EXPECT_THAT(channel_sides(op::reduce, 1), ElementsAre(Pair(3, 1)));
  EXPECT_THAT(channel_sides(op::scan, k_none), ElementsAre(Pair(3, 3)));
  EXPECT_THAT(channel_sides(op::alltoallv, k_none), IsEmpty());
  EXPECT_THAT(channel_sides(op::alltoallv, k_none, false, {.dense_alltoallv = true}),
              ElementsAre(Pair(3, 3)));
}

TEST(Calls, an_unknown_operation_synchronises_a_window_only) {
  EXPECT_THAT(channel_sides(op::create_handle, k_none), IsEmpty());
  EXPECT_THAT(channel_sides(op::create_handle, k_none, true), ElementsAre(Pair(3, 3)));
  EXPECT_THAT(channel_sides(200, k_none), IsEmpty());
}

TEST(Calls, who_moves_no_bytes_or_has_no_begin_takes_no_part) {
  MadeCalls c(processes(3));
  const trace::Comm& comm = c.trace.definitions.comms[0];
  std::vector<Call> calls = c.calls(op::allreduce);
  calls[0].sent = false;
  calls[1].received = false;
  calls[2].begin = k_none;
  add_instance(c.builder, processes_of(c.builder, comm), calls, comm, false);
  const Graph graph = c.builder.finish();
  ASSERT_EQ(graph.exchanges.size(), 1u);
  EXPECT_EQ(graph.exchanges[0].send_count, 1u);
  EXPECT_EQ(graph.exchanges[0].receive_count, 1u);
}

TEST(Calls, groups_of_an_inter_communicator_exchange_in_both_directions) {
  TraceBuilder b = processes(3);
  const CommIndex inter = b.inter_comm({0}, {1, 2});
  MadeCalls c(b);
  const trace::Comm& comm = c.trace.definitions.comms[inter];
  add_instance(c.builder, processes_of(c.builder, comm), c.calls(op::barrier), comm, false);
  const Graph graph = c.builder.finish();
  ASSERT_EQ(graph.exchanges.size(), 2u);
  EXPECT_EQ(graph.exchanges[0].send_count, 1u);
  EXPECT_EQ(graph.exchanges[0].receive_count, 2u);
  EXPECT_EQ(graph.exchanges[1].send_count, 2u);
  EXPECT_EQ(graph.exchanges[1].receive_count, 1u);
}

TEST(Calls, a_process_counts_once_and_unresolved_ranks_not_at_all) {
  TraceBuilder b(2, 2);  // locations 0 and 1 are threads of process 0
  const CommIndex comm = b.comm({1, k_none, 2, 0});
  const CommIndex empty = b.comm({});
  MadeCalls c(b);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> found;
  for (const CommProcess& p : processes_of(c.builder, c.trace.definitions.comms[comm])) {
    found.emplace_back(p.process, p.rank);
  }
  EXPECT_THAT(found, ElementsAre(Pair(0, 0), Pair(1, 2)));
  EXPECT_THAT(processes_of(c.builder, c.trace.definitions.comms[empty]), IsEmpty());
}

TEST(Calls, agree_on_operation_and_root) {
  const MadeCalls c(processes(2));
  const auto agreed = [&](const Call& a, const Call& b) { return agree(std::vector<Call>{a, b}); };
  EXPECT_TRUE(agreed(c.call(0, op::bcast, 1), c.call(1, op::bcast, 1)));
  EXPECT_FALSE(agreed(c.call(0, op::bcast, 1), c.call(1, op::bcast, 0)));
  EXPECT_TRUE(agreed(c.call(0, op::bcast, k_root_elsewhere), c.call(1, op::bcast, 0)));
  EXPECT_FALSE(agreed(c.call(0, op::bcast, 1), c.call(1, op::reduce, 1)));
  EXPECT_TRUE(agreed(c.call(0, op::barrier, 1), c.call(1, op::barrier, 0)));  // no root
  Call non_blocking = c.call(1, op::bcast, 1);
  non_blocking.non_blocking = true;
  EXPECT_FALSE(agreed(c.call(0, op::bcast, 1), non_blocking));
}

}  // namespace
}  // namespace entrain::match
