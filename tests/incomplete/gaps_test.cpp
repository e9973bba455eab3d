// SPDX-License-Identifier: BSD-3-Clause
//
// Where only gaps lose records, the ends ahead of them belong together in order: the corrector and
// the checker both say so. All messages are of one length, and go one way or in lockstep, so that
// nothing else could tell them apart.
#include <algorithm>

#include <gtest/gtest.h>

#include "support/pairing.hpp"
#include "trace/testing.hpp"

namespace entrain::test {
namespace {

using trace::testing::TraceBuilder;
using K = trace::EventKind;
constexpr std::uint64_t k_open = trace::Gap::k_open;

/// The edges of one kind, on which the corrector and the checker agree.
std::size_t edges(const TraceBuilder& b, EdgeKind kind) {
  const Pairing found = by_corrector(b.trace(), false, 1);
  EXPECT_TRUE(by_checker(b.trace(), AlltoallvRule::ignore, 1) == found);
  EXPECT_TRUE(by_checker(b.trace(), AlltoallvRule::ignore, 2) == found);
  EXPECT_TRUE(by_corrector(b.trace(), false, 2) == found);
  for (const TrueEdge& edge : found.edges) {
    EXPECT_GT(edge.receive_stamp, edge.send_stamp);
  }
  return static_cast<std::size_t>(
      std::count_if(found.edges.begin(), found.edges.end(),
                    [&](const TrueEdge& edge) { return edge.kind == kind; }));
}

/// Every 100 ticks, rank 0 sends to rank 1, which receives 7 ticks later.
TraceBuilder one_way(std::uint64_t sends, std::uint64_t receives, std::uint32_t processes = 2) {
  TraceBuilder b(processes);
  for (std::uint64_t k = 0; k < sends; ++k) b.message(K::send, 0, 1000 + 100 * k, 1);
  for (std::uint64_t k = 0; k < receives; ++k) b.message(K::recv, 1, 1007 + 100 * k, 0);
  return b;
}

TEST(ToldGaps, what_comes_before_the_end_of_a_recording_is_paired) {
  TraceBuilder b = one_way(20, 200);
  EXPECT_EQ(edges(b, EdgeKind::p2p), 0u);
  b.trace().locations[0].gaps = {{2900, k_open}};
  EXPECT_EQ(edges(b, EdgeKind::p2p), 20u);
  b.trace().locations[0].gaps.clear();
  b.trace().locations[0].truncated = true;
  EXPECT_EQ(edges(b, EdgeKind::p2p), 20u);
}

TEST(ToldGaps, a_receiver_that_records_from_the_middle_on_has_none_before) {
  TraceBuilder b(2);
  for (std::uint64_t k = 0; k < 100; ++k) b.message(K::send, 0, 1000 + 100 * k, 1);
  b.add(1, 10, K::init_enter);
  for (std::uint64_t k = 60; k < 100; ++k) b.message(K::recv, 1, 1007 + 100 * k, 0);
  b.trace().locations[1].gaps = {{20, 7000}};
  EXPECT_EQ(edges(b, EdgeKind::p2p), 0u);
}

TEST(ToldGaps, a_process_without_finalize_ends_early) {
  const auto trace = [](bool sender_finalizes) {
    TraceBuilder b(2);
    for (const LocationIndex l : {0u, 1u}) b.add(l, 10, K::init_enter);
    for (std::uint64_t k = 0; k < 20; ++k) b.message(K::send, 0, 1000 + 100 * k, 1);
    for (std::uint64_t k = 0; k < 200; ++k) b.message(K::recv, 1, 1007 + 100 * k, 0);
    if (sender_finalizes) b.add(0, 90'000, K::finalize_enter);
    b.add(1, 90'000, K::finalize_enter);
    return b;
  };
  EXPECT_EQ(edges(trace(false), EdgeKind::p2p), 20u);
  EXPECT_EQ(edges(trace(true), EdgeKind::p2p), 0u);
}

/// Two processes in lockstep, which receive late now and then. The job is killed, and the records
/// of its processes end at different moments. The pair of a send and the receive before it is as
/// steady as the true one.
TEST(ToldGaps, a_killed_job_loses_nothing_of_what_came_before) {
  TraceBuilder b(2);
  for (const LocationIndex l : {0u, 1u}) {
    b.add(l, 10, K::init_enter);
    std::uint64_t late = 0;
    const std::uint64_t rounds = l == 0 ? 5000 : 4400;
    for (std::uint64_t k = 0; k < rounds; ++k) {
      b.message(K::send, l, 1000 + 100 * k + late, 1 - l);
      if (k % 13 == 5) late += 700 * (k % 7);  // both wait
      b.message(K::recv, l, 1030 + 100 * k + late, 1 - l);
    }
  }
  EXPECT_EQ(edges(b, EdgeKind::p2p), 2u * 4400);
}

TEST(ToldGaps, explain_nothing_where_others_lost_records_too) {
  TraceBuilder b = one_way(20, 200, 4);
  b.trace().locations[0].gaps = {{2900, k_open}};
  b.message(K::send, 2, 500, 3);
  b.message(K::send, 2, 600, 3);
  b.message(K::recv, 3, 700, 2);
  EXPECT_EQ(edges(b, EdgeKind::p2p), 0u);
}

TEST(ToldGaps, a_receive_that_never_completed_ends_what_is_certain) {
  TraceBuilder b(2);
  for (std::uint64_t k = 0; k < 20; ++k) b.message(K::send, 0, 1000 + 100 * k, 1);
  for (std::uint64_t k = 0; k < 5; ++k) b.message(K::recv, 1, 1007 + 100 * k, 0);
  b.request(K::irecv_request, 1, 1501, 77);  // takes the message of 1500, but ends in the gap
  for (std::uint64_t k = 6; k < 10; ++k) b.message(K::recv, 1, 1007 + 100 * k, 0);
  b.trace().locations[1].gaps = {{1950, k_open}};
  EXPECT_EQ(edges(b, EdgeKind::p2p), 5u);
}

TEST(ToldGaps, calls_before_the_end_of_a_recording_are_numbered) {
  TraceBuilder b(3);
  for (const LocationIndex l : {0u, 1u, 2u}) {
    for (std::uint64_t k = 0; k < (l == 1 ? 30u : 100u); ++k) {
      b.collective(l, 1000 + 100 * k + l, 1050 + 100 * k + l, trace::op::barrier);
    }
  }
  const std::size_t between_two = 70 * 2;
  b.trace().locations[1].gaps = {{4000, k_open}};
  EXPECT_EQ(edges(b, EdgeKind::n_to_n), 30u * 6 + between_two);
}

}  // namespace
}  // namespace entrain::test
