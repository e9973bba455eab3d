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
using trace::RmaGroupRole;
using K = trace::EventKind;
namespace op = trace::op;

constexpr std::uint32_t k_process_level = 1, k_memory_level = 2;
constexpr std::uint8_t k_memory = 0, k_notify_in = 1, k_notify_out = 2;

void fence(TraceBuilder& b, LocationIndex l, std::uint64_t begin, std::uint64_t end,
           std::uint32_t window, std::uint32_t level = k_process_level,
           std::uint8_t operation = op::barrier, std::uint32_t root = trace::k_root_none) {
  b.add(l, begin, K::rma_collective_begin);
  b.collective_end(K::rma_collective_end, l, end, operation, root, window).tag = level;
}

void group_sync(TraceBuilder& b, LocationIndex l, std::uint64_t time, RmaGroupRole role,
                std::uint32_t window, std::uint32_t group, std::uint32_t level = k_process_level) {
  trace::Event& event = b.add(l, time, K::rma_group_sync);
  event.op = static_cast<std::uint8_t>(role);
  event.comm = window;
  event.peer = group;
  event.tag = level;
}

void notify(TraceBuilder& b, LocationIndex l, std::uint64_t time, std::uint8_t type,
            std::uint32_t window, std::uint32_t remote) {
  trace::Event& event = b.add(l, time, K::rma_notify);
  event.op = type;
  event.comm = window;
  event.peer = remote;
}

TEST(OneSided, fence_is_everybody_before_everybody_else) {
  TraceBuilder b(3);
  const auto window = b.window(b.comm({0, 2}));
  fence(b, 0, 10, 20, window, k_process_level | k_memory_level);
  fence(b, 2, 12, 22, window, k_process_level | k_memory_level);
  const Graph graph = build_graph(b.trace(), {});
  EXPECT_EQ(pairs_of(graph, EdgeKind::rma), (Pairs{{{0, 10}, {2, 22}}, {{2, 12}, {0, 20}}}));
  EXPECT_EQ(pair_count(graph), 2u);
  EXPECT_THAT(graph.skipped, IsEmpty());
}

TEST(OneSided, making_a_window_synchronises) {
  TraceBuilder b(2);
  const auto window = b.window(0);
  for (LocationIndex l = 0; l < 2; ++l) {
    fence(b, l, 10 + l, 20 + l, window, k_process_level, op::create_handle);
  }
  EXPECT_EQ(pairs_of(b, EdgeKind::rma), (Pairs{{{0, 10}, {1, 21}}, {{1, 11}, {0, 20}}}));
}

TEST(OneSided, collectives_with_a_root_follow_it) {
  TraceBuilder b(3);
  const auto window = b.window(0);
  for (LocationIndex l = 0; l < 3; ++l) {
    fence(b, l, 10 + l, 20 + l, window, k_process_level, op::bcast, 2);
  }
  EXPECT_EQ(pairs_of(b, EdgeKind::rma), (Pairs{{{2, 12}, {0, 20}}, {{2, 12}, {1, 21}}}));
}

TEST(OneSided, instances_are_counted_per_window) {
  TraceBuilder b(2);
  const auto first = b.window(0), second = b.window(0);
  fence(b, 0, 10, 20, first);
  fence(b, 0, 30, 40, second);
  fence(b, 1, 11, 21, second);
  fence(b, 1, 31, 41, first);
  EXPECT_EQ(
      pairs_of(b, EdgeKind::rma),
      (Pairs{{{0, 10}, {1, 41}}, {{0, 30}, {1, 21}}, {{1, 11}, {0, 40}}, {{1, 31}, {0, 20}}}));
}

TEST(OneSided, memory_level_alone_orders_nothing) {
  TraceBuilder b(2);
  const auto window = b.window(0);
  for (LocationIndex l = 0; l < 2; ++l) fence(b, l, 10, 20, window, k_memory_level);
  const Graph graph = build_graph(b.trace(), {});
  EXPECT_EQ(pair_count(graph), 0u);
  EXPECT_EQ(graph.skipped, (Counters{{"rma_without_process_sync", 1}}));  // one instance
}

TEST(OneSided, post_before_start_and_complete_before_wait) {
  TraceBuilder b(3);
  const auto window = b.window(0);
  const auto origins = b.group({1, 2}), target = b.group({0});
  group_sync(b, 0, 10, RmaGroupRole::post, window, origins);
  for (LocationIndex l = 1; l < 3; ++l) {
    group_sync(b, l, 20 + l, RmaGroupRole::start, window, target);
    group_sync(b, l, 30 + l, RmaGroupRole::complete, window, target);
  }
  group_sync(b, 0, 40, RmaGroupRole::wait, window, origins);
  const Graph graph = build_graph(b.trace(), {});
  EXPECT_EQ(
      pairs_of(graph, EdgeKind::rma),
      (Pairs{{{0, 10}, {1, 21}}, {{0, 10}, {2, 22}}, {{1, 31}, {0, 40}}, {{2, 32}, {0, 40}}}));
  EXPECT_THAT(graph.unmatched, IsEmpty());
}

TEST(OneSided, epochs_pair_in_their_order) {
  TraceBuilder b(2);
  const auto window = b.window(0);
  const auto zero = b.group({0}), one = b.group({1});
  for (std::uint64_t t = 100; t <= 300; t += 100) {
    group_sync(b, 0, t, RmaGroupRole::post, window, one);
    group_sync(b, 1, t + 5, RmaGroupRole::start, window, zero);
  }
  group_sync(b, 0, 400, RmaGroupRole::post, window, one);  // nobody starts
  const Graph graph = build_graph(b.trace(), {});
  EXPECT_EQ(pairs_of(graph, EdgeKind::rma),
            (Pairs{{{0, 100}, {1, 105}}, {{0, 200}, {1, 205}}, {{0, 300}, {1, 305}}}));
  EXPECT_EQ(graph.unmatched, (Counters{{"rma_synchronisations", 1}}));
}

TEST(OneSided, group_sync_of_unknown_role_or_lower_level_is_counted) {
  TraceBuilder b(2);
  const auto window = b.window(0);
  const auto both = b.group({0, 1});
  group_sync(b, 0, 10, RmaGroupRole::unknown, window, both);
  group_sync(b, 0, 11, RmaGroupRole::post, window, both, k_memory_level);
  group_sync(b, 0, 12, RmaGroupRole::post, window, k_none);  // undefined group
  const Graph graph = build_graph(b.trace(), {});
  EXPECT_EQ(pair_count(graph), 0u);
  EXPECT_EQ(graph.skipped, (Counters{{"rma_group_sync", 3}}));
}

TEST(OneSided, notification_goes_out_before_it_comes_in) {
  TraceBuilder b(3);
  const auto window = b.window(b.comm({2, 1, 0}));
  notify(b, 0, 10, k_notify_out, window, 1);  // to location 1
  notify(b, 0, 11, k_notify_out, window, 0);  // to location 2
  notify(b, 2, 20, k_notify_in, window, 2);   // from location 0
  notify(b, 1, 21, k_notify_in, window, 2);
  notify(b, 1, 22, k_memory, window, 2);
  EXPECT_EQ(pairs_of(b, EdgeKind::rma), (Pairs{{{0, 10}, {1, 21}}, {{0, 11}, {2, 20}}}));
}

TEST(OneSided, notifications_of_several_threads_pair_in_order_of_time) {
  TraceBuilder b(2, 2);
  const auto window = b.window(0);
  notify(b, 0, 10, k_notify_out, window, 1);
  notify(b, 1, 9, k_notify_out, window, 1);
  notify(b, 2, 20, k_notify_in, window, 0);
  notify(b, 2, 30, k_notify_in, window, 0);
  notify(b, 3, 15, k_notify_in, window, 0);  // one too many: the first of all
  EXPECT_EQ(pairs_of(b, EdgeKind::rma), (Pairs{{{0, 10}, {2, 30}}, {{1, 9}, {2, 20}}}));
}

TEST(OneSided, a_group_that_names_two_threads_of_a_process_means_it_once) {
  TraceBuilder b(2, 2);
  const auto window = b.window(0);
  group_sync(b, 0, 10, RmaGroupRole::post, window, b.group({2, 3}));
  group_sync(b, 2, 15, RmaGroupRole::start, window, b.group({0}));
  const Graph graph = build_graph(b.trace(), {});
  EXPECT_EQ(pairs_of(graph, EdgeKind::rma), (Pairs{{{0, 10}, {2, 15}}}));
  EXPECT_THAT(graph.unmatched, IsEmpty());
}

TEST(OneSided, a_root_may_name_itself) {
  TraceBuilder b(2);
  const auto window = b.window(0);
  fence(b, 0, 10, 20, window, k_process_level, op::bcast, trace::k_root_self);
  fence(b, 1, 12, 22, window, k_process_level, op::bcast, 0);
  EXPECT_EQ(pairs_of(b, EdgeKind::rma), (Pairs{{{0, 10}, {1, 22}}}));
}

TEST(OneSided, locks_order_nothing) {
  TraceBuilder b(2);
  for (LocationIndex l = 0; l < 2; ++l) {
    b.add(l, 10, K::rma_lock);
    b.add(l, 20, K::rma_lock);
  }
  const Graph graph = build_graph(b.trace(), {});
  EXPECT_EQ(pair_count(graph), 0u);
  EXPECT_EQ(graph.skipped, (Counters{{"rma_locks", 4}}));
}

/// 600 rounds of a message from 0 to 1 and a fence of both, of which process 1 lacks one. The next
/// one has no partner either: it might be the one that is missing.
void add_rounds_without_a_fence(TraceBuilder& b, std::uint32_t window) {
  for (std::uint64_t round = 0; round < 600; ++round) {
    const std::uint64_t at = 1000 * round;
    b.message(K::send, 0, at + 1, 1);
    b.message(K::recv, 1, at + 20, 0);
    fence(b, 0, at + 100, at + 200, window);
    if (round != 217) fence(b, 1, at + 110, at + 210, window);
  }
}

TEST(OneSided, a_fence_without_record_shifts_no_other) {
  TraceBuilder b(2);
  add_rounds_without_a_fence(b, b.window(0));
  const Pairs pairs = pairs_of(b, EdgeKind::rma);
  EXPECT_EQ(pairs.size(), 2 * 598u);
  for (const auto& [begin, end] : pairs) EXPECT_EQ(begin.time / 1000, end.time / 1000);
}

TEST(OneSided, where_records_are_missing_synchronisations_have_no_partner) {
  TraceBuilder b(2);
  const auto window = b.window(0);
  const auto targets = b.group({0}), origins = b.group({1});
  add_rounds_without_a_fence(b, window);
  for (std::uint64_t at = 700'000; at < 710'000; at += 1000) {
    group_sync(b, 0, at, RmaGroupRole::post, window, origins);
    group_sync(b, 1, at + 10, RmaGroupRole::start, window, targets);
  }
  const Graph graph = build_graph(b.trace(), {});
  EXPECT_EQ(pairs_of(graph, EdgeKind::rma).size(), 2 * 598u);
  EXPECT_THAT(graph.unmatched, ::testing::Contains(std::pair("rma_synchronisations", 20u)));
}

}  // namespace
}  // namespace entrain::match
