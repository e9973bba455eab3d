// SPDX-License-Identifier: BSD-3-Clause
#include "verify/outline.hpp"

#include <gtest/gtest.h>

#include "verify/testing.hpp"

namespace entrain::verify {
namespace {

using testing::TraceBuilder;
using K = trace::EventKind;

struct Outlined {
  Outline outline;
  LeftOut left_out;
};

Outlined outline_of(const trace::Trace& trace, std::uint32_t process) {
  Solo solo;
  const trace::Partition all = trace::undivided(trace.definitions);
  const auto places = Places::agree({solo, all, trace});
  Outlined found;
  found.outline = Outliner(trace, *places, found.left_out).outline(process);
  return found;
}

TEST(Outline, example_of_the_header) {
  TraceBuilder b(2);
  b.message(K::send, 0, 10, 1);
  b.request(K::irecv_request, 0, 20, 7);
  b.collective(0, 30, 40, trace::op::barrier);
  b.message(K::irecv, 0, 50, 1, 0, 7);
  const Outline outline = outline_of(b.trace(), 0).outline;
  ASSERT_EQ(outline.channels.size(), 2);
  EXPECT_TRUE(outline.channels[0].send);
  EXPECT_EQ(outline.channels[0].key.receiver, 1);
  EXPECT_FALSE(outline.channels[1].send);
  EXPECT_EQ(outline.channels[1].key.sender, 1);
  ASSERT_EQ(outline.posts.size(), 2);
  EXPECT_EQ(outline.posts[1].order, 0);
  EXPECT_EQ(outline.posts[1].instant, 4);  // its completion
  ASSERT_EQ(outline.calls.size(), 1);
  EXPECT_EQ(outline.calls[0].begin, 2);
  EXPECT_EQ(outline.calls[0].end, 3);
  EXPECT_EQ(outline.calls[0].event, 3);
}

TEST(Outline, events_of_one_stamp_are_one_instant) {
  TraceBuilder b(2);
  b.message(K::send, 0, 10, 1);
  b.message(K::send, 0, 10, 1);
  b.message(K::send, 0, 11, 1);
  const Outline outline = outline_of(b.trace(), 0).outline;
  ASSERT_EQ(outline.posts.size(), 3);
  EXPECT_EQ(outline.posts[1].instant, 0);
  EXPECT_EQ(outline.posts[1].order, 1);
  EXPECT_EQ(outline.posts[2].instant, 2);
  EXPECT_EQ(outline.channels[0].count, 3);
  EXPECT_FALSE(outline.channels[0].disordered);
  EXPECT_FALSE(outline.decreasing);
}

TEST(Outline, receives_completed_out_of_order_are_disordered) {
  TraceBuilder b(2);
  b.request(K::irecv_request, 0, 10, 1);
  b.request(K::irecv_request, 0, 20, 2);
  b.message(K::irecv, 0, 30, 1, 0, 2);
  b.message(K::irecv, 0, 40, 1, 0, 1);
  const Outline outline = outline_of(b.trace(), 0).outline;
  ASSERT_EQ(outline.posts.size(), 2);
  EXPECT_EQ(outline.posts[0].order, 1);
  EXPECT_EQ(outline.posts[1].order, 0);
  EXPECT_TRUE(outline.channels[0].disordered);
}

TEST(Outline, a_cancelled_send_takes_no_part) {
  TraceBuilder b(2);
  b.message(K::isend, 0, 10, 1, 0, 5);
  b.request(K::request_cancelled, 0, 20, 5);
  b.request(K::request_cancelled, 0, 30, 6);  // of nothing
  const Outlined found = outline_of(b.trace(), 0);
  EXPECT_EQ(found.outline.posts[0].channel, k_none);
  EXPECT_EQ(found.outline.channels[0].count, 0);
  EXPECT_EQ(found.left_out.skipped.cancelled_sends, 1);
  EXPECT_EQ(found.left_out.skipped.cancelled_receives, 0);
}

TEST(Outline, operations_without_possible_partner_are_counted) {
  TraceBuilder b(1);
  b.message(K::send, 0, 10, 9);                                    // no such rank
  b.message(K::recv, 0, 20, 0, 0, 0, 77);                          // no such communicator
  b.collective_end(K::collective_end, 0, 30, trace::op::barrier);  // without a begin
  b.collective(0, 40, 50, trace::op::barrier, trace::k_root_none, 77);
  b.add(0, 60, K::init_leave);
  const Outlined found = outline_of(b.trace(), 0);
  EXPECT_EQ(found.left_out.unmatched.sends, 1);
  EXPECT_EQ(found.left_out.unmatched.receives, 1);
  EXPECT_EQ(found.left_out.unmatched.collective_ends_without_begin, 1);
  EXPECT_EQ(found.left_out.unmatched.collectives_mismatched, 1);
  EXPECT_EQ(found.left_out.unmatched.init_finalize, 1);
}

TEST(Outline, a_cancelled_send_leaves_the_hash_of_the_others) {
  TraceBuilder b(2);
  b.message(K::isend, 0, 10, 1, 0, 1);
  b.request(K::request_cancelled, 0, 20, 1);
  b.message(K::send, 0, 30, 1);
  TraceBuilder alone(2);
  alone.message(K::send, 0, 30, 1);
  const Outline outline = outline_of(b.trace(), 0).outline;
  ASSERT_EQ(outline.channels.size(), 1);
  EXPECT_EQ(outline.channels[0].count, 1);
  EXPECT_EQ(outline.channels[0].symbols, outline_of(alone.trace(), 0).outline.channels[0].symbols);
}

TEST(Outline, of_nothing) {
  const Outline outline = outline_of(TraceBuilder(1).trace(), 0).outline;
  EXPECT_EQ(outline.process, 0);
  EXPECT_TRUE(outline.channels.empty());
  EXPECT_TRUE(outline.columns.empty());
}

TEST(Outline, calls_of_several_threads_are_in_order_of_begin) {
  TraceBuilder b(2, 2);
  b.collective(0, 10, 20, trace::op::barrier);
  b.collective(1, 5, 8, trace::op::barrier);
  b.collective(1, 15, 30, trace::op::barrier);
  const Outline outline = outline_of(b.trace(), 0).outline;
  ASSERT_EQ(outline.calls.size(), 3);
  EXPECT_EQ(outline.calls[0].order, 1);
  EXPECT_EQ(outline.calls[1].order, 0);
  EXPECT_EQ(outline.calls[2].order, 2);
}

}  // namespace
}  // namespace entrain::verify
