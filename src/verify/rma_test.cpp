// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "verify/testing.hpp"

namespace entrain::verify {
namespace {

using testing::edges;
using testing::TraceBuilder;
using trace::RmaGroupRole;
using K = trace::EventKind;
namespace op = trace::op;

const EdgeStatistics& rma(const CheckReport& report) { return edges(report, EdgeKind::rma); }

void fence(TraceBuilder& b, LocationIndex l, std::uint64_t begin, std::uint64_t end,
           std::uint32_t window, std::uint8_t operation, std::uint32_t level,
           std::uint32_t root = trace::k_root_none) {
  b.add(l, begin, K::rma_collective_begin);
  b.collective_end(K::rma_collective_end, l, end, operation, root, window).tag = level;
}

void group_sync(TraceBuilder& b, LocationIndex l, std::uint64_t time, RmaGroupRole role,
                std::uint32_t window, std::uint32_t group, std::uint32_t level = 1) {
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

TEST(Rma, fences_and_window_creation_synchronise_everybody) {
  TraceBuilder b(3);
  const auto window = b.window(0);
  for (LocationIndex l = 0; l < 3; ++l) {
    fence(b, l, 10, 20, window, op::create_handle, 1);
    fence(b, l, 30, 40, window, op::barrier, 3);
    fence(b, l, 50, 60, window, op::bcast, 1, 2);
  }
  const CheckReport report = b.check();
  EXPECT_EQ(rma(report).count, 6 + 6 + 2);
  EXPECT_EQ(edges(report, EdgeKind::n_to_n).count, 0);
  EXPECT_TRUE(report.skipped.empty());
}

TEST(Rma, memory_level_alone_makes_no_edge) {
  TraceBuilder b(2);
  const auto window = b.window(0);
  fence(b, 0, 10, 20, window, op::barrier, 2);
  fence(b, 1, 30, 40, window, op::barrier, 2);
  const CheckReport report = b.check();
  EXPECT_EQ(rma(report).count, 0);
  EXPECT_EQ(report.skipped, (Counters{{"rma_without_process_sync", 1}}));
}

TEST(Rma, instances_are_counted_per_window) {
  TraceBuilder b(2);
  const auto first = b.window(0), second = b.window(0);
  fence(b, 0, 10, 20, first, op::barrier, 1);
  fence(b, 0, 30, 40, second, op::barrier, 1);
  fence(b, 1, 35, 45, second, op::barrier, 1);  // not the partner of 0's first fence
  const CheckReport report = b.check();
  EXPECT_EQ(rma(report).count, 2);
  EXPECT_EQ(rma(report).violations, 0);
}

TEST(Rma, post_start_complete_wait) {
  TraceBuilder b(3);
  const auto window = b.window(0);
  const auto origins = b.group({1, 2}), target = b.group({0});
  group_sync(b, 0, 10, RmaGroupRole::post, window, origins);
  for (LocationIndex l = 1; l < 3; ++l) {
    group_sync(b, l, 10 + l, RmaGroupRole::start, window, target);
    group_sync(b, l, 20 + l, RmaGroupRole::complete, window, target);
  }
  group_sync(b, 0, 21, RmaGroupRole::wait, window, origins);  // before complete of process 2
  const CheckReport report = b.check();
  EXPECT_EQ(rma(report).count, 4);
  EXPECT_EQ(rma(report).violations, 1);
  EXPECT_EQ(rma(report).worst->margin_ticks, -1);
  EXPECT_TRUE(report.unmatched.empty());
}

TEST(Rma, post_is_never_taken_for_complete) {
  TraceBuilder b(2);
  const auto window = b.window(0);
  const auto zero = b.group({0}), one = b.group({1});
  // Process 0 exposes its window and accesses the other one at once, process 1 in turn.
  group_sync(b, 0, 10, RmaGroupRole::post, window, one);
  group_sync(b, 0, 20, RmaGroupRole::start, window, one);
  group_sync(b, 0, 30, RmaGroupRole::complete, window, one);
  group_sync(b, 0, 80, RmaGroupRole::wait, window, one);
  group_sync(b, 1, 15, RmaGroupRole::post, window, zero);
  group_sync(b, 1, 31, RmaGroupRole::wait, window, zero);
  group_sync(b, 1, 50, RmaGroupRole::start, window, zero);
  group_sync(b, 1, 60, RmaGroupRole::complete, window, zero);
  const CheckReport report = b.check();
  EXPECT_EQ(rma(report).count, 4);
  EXPECT_EQ(rma(report).worst->margin_ticks, 1);  // complete at 30 -> wait at 31
  EXPECT_TRUE(report.unmatched.empty());
}

TEST(Rma, group_sync_without_role_or_process_level_is_skipped) {
  TraceBuilder b(2);
  const auto window = b.window(0);
  const auto both = b.group({0, 1});
  group_sync(b, 0, 10, RmaGroupRole::unknown, window, both);
  group_sync(b, 0, 11, RmaGroupRole::post, window, both, 2);
  group_sync(b, 1, 12, RmaGroupRole::start, window, both);
  const CheckReport report = b.check();
  EXPECT_EQ(rma(report).count, 0);
  EXPECT_EQ(report.skipped, (Counters{{"rma_group_sync", 2}}));
  EXPECT_EQ(report.unmatched, (Counters{{"rma_group_sync", 2}}));  // start: on 0 and on itself
}

TEST(Rma, notifications_pair_per_window_and_process) {
  TraceBuilder b(3);
  const auto window = b.window(0), other = b.window(0);
  notify(b, 0, 100, 2, window, 1);
  notify(b, 0, 200, 2, window, 1);
  notify(b, 0, 300, 2, other, 1);
  notify(b, 0, 400, 0, window, 1);  // memory only
  notify(b, 1, 301, 1, other, 0);
  notify(b, 1, 302, 1, window, 0);
  notify(b, 1, 303, 1, window, 0);
  notify(b, 2, 304, 1, window, 0);  // nobody notified process 2
  const CheckReport report = b.check();
  EXPECT_EQ(rma(report).count, 3);
  EXPECT_EQ(rma(report).worst->margin_ticks, 1);
  EXPECT_EQ(report.unmatched, (Counters{{"rma_notify", 1}}));
}

TEST(Rma, notifications_of_threads_pair_in_order_of_time) {
  TraceBuilder b(2, 2);
  const auto window = b.window(0);
  notify(b, 0, 100, 2, window, 1);
  notify(b, 1, 90, 2, window, 1);
  notify(b, 2, 110, 1, window, 0);
  notify(b, 2, 130, 1, window, 0);
  notify(b, 3, 95, 1, window, 0);  // one too many: the first of all
  const CheckReport report = b.check();
  EXPECT_EQ(rma(report).count, 2);
  EXPECT_EQ(rma(report).worst->margin_ticks, 20);  // 90 -> 110, 100 -> 130
  EXPECT_EQ(report.unmatched, (Counters{{"rma_notify", 1}}));
}

TEST(Rma, locks_are_only_counted) {
  TraceBuilder b(1);
  b.add(0, 10, K::rma_lock);
  b.add(0, 20, K::rma_lock);
  EXPECT_EQ(b.check().skipped, (Counters{{"rma_locks", 2}}));
}

TEST(Rma, passive_epochs_lower_the_coverage) {
  TraceBuilder b(2);
  const auto window = b.window(0);
  for (const LocationIndex l : {0u, 1u}) fence(b, l, 100 + l, 200 + l, window, op::barrier, 1);
  EXPECT_EQ(b.check().judgement.verdict, Verdict::clean);
  for (std::uint64_t at = 1000; at < 4000; at += 1000) {
    b.add(0, at, K::rma_lock);
    b.add(0, at + 500, K::rma_lock).op = 1;  // released
  }
  const CheckReport report = b.check();
  EXPECT_EQ(report.coverage.collective_calls, 5u);
  EXPECT_EQ(report.coverage.in_instances, 2u);
  EXPECT_EQ(report.judgement.doubt, Doubt::low_coverage);
}

/// 600 rounds of a message from 0 to 1 and a fence of both; process 1 has no record of one. The
/// next one is in no instance either: it might be that of the same round.
void add_rounds_without_a_fence(TraceBuilder& b, std::uint32_t window) {
  for (std::uint64_t round = 0; round < 600; ++round) {
    const std::uint64_t at = 1000 * round;
    b.message(K::send, 0, at + 1, 1);
    b.message(K::recv, 1, at + 20, 0);
    fence(b, 0, at + 100, at + 200, window, op::barrier, 1);
    if (round != 217) fence(b, 1, at + 110, at + 210, window, op::barrier, 1);
  }
  const auto comms = static_cast<std::uint32_t>(b.trace().definitions.comms.size());
  b.witness.calls = {{.space = comms + window, .process = 0, .instances = {{0, 0, 600}}},
                     {.space = comms + window,
                      .process = 1,
                      .instances = {{0, 0, 217}, {218, 219, 381}},
                      .ambiguous = 1}};
}

TEST(Rma, a_fence_without_record_makes_no_violation_of_others) {
  TraceBuilder b(2);
  add_rounds_without_a_fence(b, b.window(0));
  const CheckReport report = b.check();
  EXPECT_EQ(rma(report).count, 2 * 598);
  EXPECT_EQ(rma(report).violations, 0);
}

TEST(Rma, synchronisations_make_no_edge_where_records_are_missing) {
  TraceBuilder b(2);
  const auto window = b.window(0);
  const auto targets = b.group({0}), origins = b.group({1});
  add_rounds_without_a_fence(b, window);
  for (std::uint64_t at = 700'000; at < 710'000; at += 1000) {
    group_sync(b, 0, at, RmaGroupRole::post, window, origins);
    group_sync(b, 1, at + 10, RmaGroupRole::start, window, targets);
  }
  const CheckReport report = b.check();
  EXPECT_EQ(rma(report).count, 2 * 598);
}

}  // namespace
}  // namespace entrain::verify
