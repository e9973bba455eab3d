// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "verify/testing.hpp"

namespace entrain::verify {
namespace {

using testing::edges;
using testing::TraceBuilder;
using K = trace::EventKind;

constexpr std::uint32_t k_team = 5;

const EdgeStatistics& thread(const CheckReport& report) { return edges(report, EdgeKind::thread); }

void team(TraceBuilder& b, LocationIndex l, std::uint64_t time, K kind, std::uint32_t id = k_team) {
  b.add(l, time, kind).comm = id;
}

void lock(TraceBuilder& b, LocationIndex l, std::uint64_t time, K kind, std::uint32_t order,
          std::uint32_t id = 1, std::uint8_t paradigm = 3) {
  trace::Event& event = b.add(l, time, kind);
  event.peer = id;
  event.tag = order;
  event.op = paradigm;
}

void task(TraceBuilder& b, LocationIndex l, std::uint64_t time, K kind, std::uint32_t creator,
          std::uint32_t generation) {
  trace::Event& event = b.add(l, time, kind);
  event.comm = k_team;
  event.peer = creator;
  event.tag = generation;
}

/// A parallel region of process 0's locations [0, threads) from `time` on, 100 ticks long.
void region(TraceBuilder& b, std::uint32_t threads, std::uint64_t time) {
  b.add(0, time, K::thread_fork);
  for (LocationIndex l = 0; l < threads; ++l) {
    team(b, l, time + 10 + l, K::team_begin);
    team(b, l, time + 80 + l, K::team_end);
  }
  b.add(0, time + 100, K::thread_join);
}

TEST(Threads, fork_reaches_other_threads_and_join_waits_for_them) {
  TraceBuilder b(1, 3);
  region(b, 3, 0);
  region(b, 3, 1000);
  const CheckReport report = b.check();
  EXPECT_EQ(thread(report).count, 2 * (2 + 2));
  EXPECT_EQ(thread(report).violations, 0);
  EXPECT_EQ(thread(report).worst->margin_ticks, 11);  // begin of thread 1, not the forker's own
}

TEST(Threads, teams_of_different_processes_are_not_mixed) {
  TraceBuilder b(2, 2);
  b.add(0, 100, K::thread_fork);
  team(b, 0, 101, K::team_begin);
  team(b, 1, 102, K::team_begin);
  team(b, 2, 10, K::team_begin);  // another process, the same number of a team
  team(b, 3, 11, K::team_begin);
  EXPECT_EQ(thread(b.check()).count, 1);
  EXPECT_EQ(thread(b.check()).violations, 0);
}

TEST(Threads, second_team_begin_belongs_to_second_fork) {
  TraceBuilder b(1, 2);
  b.add(0, 100, K::thread_fork);
  team(b, 0, 101, K::team_begin);
  team(b, 0, 110, K::team_end);
  b.add(0, 111, K::thread_join);
  b.add(0, 200, K::thread_fork);
  team(b, 0, 201, K::team_begin);
  team(b, 0, 210, K::team_end);
  b.add(0, 211, K::thread_join);
  for (const std::uint64_t t : {102U, 150U}) {  // the second begin is before its fork at 200
    team(b, 1, t, K::team_begin);
    team(b, 1, t + 3, K::team_end);
  }
  const CheckReport report = b.check();
  EXPECT_EQ(thread(report).count, 4);
  EXPECT_EQ(thread(report).violations, 1);
  EXPECT_EQ(thread(report).worst->margin_ticks, -50);
}

TEST(Threads, join_is_the_one_after_the_forkers_own_end) {
  TraceBuilder b(1, 3);
  b.add(0, 10, K::thread_fork);
  team(b, 0, 11, K::team_begin, 5);
  b.add(0, 12, K::thread_fork);  // nested
  team(b, 0, 13, K::team_begin, 6);
  team(b, 2, 14, K::team_begin, 6);
  team(b, 0, 15, K::team_end, 6);
  team(b, 2, 16, K::team_end, 6);
  b.add(0, 17, K::thread_join);
  team(b, 1, 18, K::team_begin, 5);
  team(b, 1, 19, K::team_end, 5);
  team(b, 0, 20, K::team_end, 5);
  b.add(0, 21, K::thread_join);
  const CheckReport report = b.check();
  EXPECT_EQ(thread(report).count, 4);
  EXPECT_EQ(thread(report).violations, 0);  // with the first join for team 5, 19 -> 17 would be
}

TEST(Threads, barrier_inside_the_innermost_team) {
  TraceBuilder b(1, 3);
  for (LocationIndex l = 0; l < 3; ++l) {
    team(b, l, 10, K::team_begin);
    b.add(l, 20 + l, K::barrier_enter);
    b.add(l, 22 + l, K::barrier_leave);
    team(b, l, 30, K::team_end);
  }
  const CheckReport report = b.check();
  EXPECT_EQ(thread(report).count, 6);  // nobody forked: the barrier only
  EXPECT_EQ(thread(report).worst->margin_ticks, 0);
}

// Scalasca 2.5: a barrier in serial code shifts the bounds of all later sends.
TEST(Threads, barrier_in_serial_code_is_ignored) {
  TraceBuilder b(1, 2);
  b.add(0, 1, K::barrier_enter);
  b.add(0, 2, K::barrier_leave);
  for (LocationIndex l = 0; l < 2; ++l) {
    team(b, l, 10, K::team_begin);
    b.add(l, 20, K::barrier_enter);
    b.add(l, 21, K::barrier_leave);
    team(b, l, 30, K::team_end);
  }
  const CheckReport report = b.check();
  EXPECT_EQ(thread(report).count, 2);
  EXPECT_EQ(thread(report).worst->margin_ticks, 1);
  EXPECT_TRUE(report.unmatched.empty());
}

TEST(Threads, barrier_that_a_thread_misses_is_incomplete) {
  TraceBuilder b(1, 3);
  for (LocationIndex l = 0; l < 3; ++l) {
    team(b, l, 10, K::team_begin);
    b.add(l, 20, K::barrier_enter);
    b.add(l, 21, K::barrier_leave);
    if (l != 1) b.add(l, 22, K::barrier_enter);
    if (l != 1) b.add(l, 23, K::barrier_leave);
    team(b, l, 30, K::team_end);
  }
  const CheckReport report = b.check();
  EXPECT_EQ(thread(report).count, 6);
  EXPECT_EQ(report.unmatched, (Counters{{"thread_barriers_incomplete", 1}}));
}

TEST(Threads, create_begin_end_wait) {
  TraceBuilder b(2, 2);
  const auto event = [&](LocationIndex l, std::uint64_t time, K kind, std::uint64_t id) {
    trace::Event& e = b.add(l, time, kind);
    e.comm = k_team;
    e.id = id;
  };
  event(0, 10, K::thread_create, 1);
  event(0, 50, K::thread_wait, 1);
  event(1, 20, K::thread_begin, 1);
  event(1, 60, K::thread_end, 1);     // waited for too early
  event(2, 10, K::thread_create, 1);  // another process, the same number
  event(3, 5, K::thread_begin, 2);    // created by nobody
  event(3, 6, K::thread_end, 2);      // detached
  const CheckReport report = b.check();
  EXPECT_EQ(thread(report).count, 2);
  EXPECT_EQ(thread(report).violations, 1);
  EXPECT_EQ(thread(report).worst->margin_ticks, -10);
  EXPECT_EQ(report.unmatched, (Counters{{"threads", 2}}));
}

TEST(Threads, locks_follow_the_order_of_acquisition) {
  TraceBuilder b(1, 2);
  lock(b, 0, 10, K::lock_acquire, 1);
  lock(b, 0, 20, K::lock_release, 1);
  lock(b, 1, 15, K::lock_acquire, 2);  // before it was released
  lock(b, 1, 30, K::lock_release, 2);
  lock(b, 1, 31, K::lock_acquire, 3);  // the same thread again: no edge
  lock(b, 1, 40, K::lock_release, 3);
  lock(b, 0, 45, K::lock_acquire, 4);
  lock(b, 0, 46, K::lock_acquire, 5, 2);    // another lock
  lock(b, 1, 1, K::lock_release, 4, 1, 4);  // another paradigm
  lock(b, 0, 47, K::lock_acquire, 5);       // order 4 was not released yet
  const CheckReport report = b.check();
  EXPECT_EQ(thread(report).count, 2);
  EXPECT_EQ(thread(report).violations, 1);
  EXPECT_EQ(thread(report).worst->margin_ticks, -5);
}

TEST(Threads, nested_acquires_share_a_number) {
  TraceBuilder b(1, 2);
  lock(b, 0, 10, K::lock_acquire, 1);
  lock(b, 0, 11, K::lock_acquire, 1);
  lock(b, 0, 12, K::lock_release, 1);  // still held
  lock(b, 0, 20, K::lock_release, 1);
  lock(b, 1, 15, K::lock_acquire, 2);
  lock(b, 1, 25, K::lock_acquire, 2);
  const CheckReport report = b.check();
  EXPECT_EQ(thread(report).count, 1);
  EXPECT_EQ(thread(report).worst->margin_ticks, -5);  // 20 -> 15
}

TEST(Threads, lock_numbers_wrap) {
  TraceBuilder b(1, 2);
  lock(b, 0, 10, K::lock_acquire, 0xFFFFFFFFU);
  lock(b, 0, 20, K::lock_release, 0xFFFFFFFFU);
  lock(b, 1, 30, K::lock_acquire, 0);
  EXPECT_EQ(thread(b.check()).count, 1);
  EXPECT_EQ(thread(b.check()).worst->margin_ticks, 10);
}

TEST(Threads, locks_of_different_processes_are_different) {
  TraceBuilder b(2);
  lock(b, 0, 10, K::lock_acquire, 1);
  lock(b, 0, 20, K::lock_release, 1);
  lock(b, 1, 15, K::lock_acquire, 2);
  EXPECT_EQ(thread(b.check()).count, 0);
}

TEST(Threads, task_runs_after_its_creation) {
  TraceBuilder b(1, 3);
  task(b, 0, 100, K::task_create, 0, 1);
  task(b, 0, 110, K::task_create, 0, 2);
  task(b, 1, 105, K::task_switch, 0, 2);  // too early
  task(b, 2, 120, K::task_switch, 0, 1);
  task(b, 2, 121, K::task_switch, 0, 1);  // resumed: the first switch of each thread counts
  task(b, 1, 130, K::task_switch, 0, 1);
  task(b, 0, 111, K::task_create, 0, 3);
  task(b, 0, 112, K::task_switch, 0, 3);  // by its creator
  task(b, 0, 113, K::task_create, 0, 4);
  task(b, 0, 114, K::task_switch, 0, 4);
  task(b, 2, 150, K::task_switch, 0, 4);  // resumed by another thread
  const CheckReport report = b.check();
  EXPECT_EQ(thread(report).count, 4);
  EXPECT_EQ(thread(report).violations, 1);
  EXPECT_EQ(thread(report).worst->margin_ticks, -5);
}

TEST(Threads, task_created_twice_is_contradictory) {
  TraceBuilder b(1, 2);
  task(b, 0, 10, K::task_create, 0, 1);
  task(b, 1, 15, K::task_switch, 0, 1);
  task(b, 0, 20, K::task_create, 0, 1);
  const CheckReport report = b.check();
  EXPECT_EQ(thread(report).count, 0);
  EXPECT_EQ(report.unmatched, (Counters{{"thread_tasks", 1}}));
}

TEST(Threads, thread_created_twice_is_contradictory) {
  TraceBuilder b(1, 2);
  const auto event = [&](LocationIndex l, std::uint64_t time, K kind) {
    b.add(l, time, kind).comm = k_team;
  };
  event(0, 10, K::thread_create);
  event(0, 11, K::thread_create);
  event(0, 90, K::thread_wait);
  event(0, 91, K::thread_wait);
  event(1, 5, K::thread_begin);
  event(1, 95, K::thread_end);
  const CheckReport report = b.check();
  EXPECT_EQ(thread(report).count, 0);
  EXPECT_EQ(report.unmatched, (Counters{{"threads", 5}}));
}

TEST(Threads, team_forked_twice_is_contradictory) {
  TraceBuilder b(1, 3);
  for (LocationIndex l = 0; l < 3; ++l) {
    if (l > 0) b.add(l, 10, K::thread_fork);
    team(b, l, 5, K::team_begin);
    b.add(l, 20, K::barrier_enter);
    b.add(l, 21, K::barrier_leave);
    team(b, l, 30, K::team_end);
    if (l > 0) b.add(l, 31, K::thread_join);
  }
  const CheckReport report = b.check();
  EXPECT_EQ(thread(report).count, 0);
  EXPECT_EQ(report.unmatched, (Counters{{"thread_teams", 1}}));
}

TEST(Threads, join_closes_the_team_that_ended_last) {
  TraceBuilder b(1, 2);
  for (const std::uint64_t t : {10, 20}) {
    b.add(0, t, K::thread_fork);
    for (LocationIndex l = 0; l < 2; ++l) {
      team(b, l, t + 1, K::team_begin);
      team(b, l, t + 2 + 20 * l, K::team_end);
    }
  }
  b.add(0, 30, K::thread_join);  // after thread 1 ended the first team, before the second
  b.add(0, 50, K::thread_join);
  const CheckReport report = b.check();
  EXPECT_EQ(thread(report).count, 3);  // two begins, one end
  EXPECT_EQ(thread(report).violations, 1);
  EXPECT_EQ(thread(report).worst->margin_ticks, -12);
}

TEST(Threads, lock_held_twice_under_one_number_is_contradictory) {
  TraceBuilder b(1, 2);
  lock(b, 0, 10, K::lock_acquire, 1);
  lock(b, 0, 20, K::lock_release, 1);
  lock(b, 0, 30, K::lock_acquire, 2);
  lock(b, 1, 15, K::lock_acquire, 2);
  lock(b, 0, 40, K::lock_release, 2);
  lock(b, 1, 45, K::lock_acquire, 3);
  lock(b, 1, 50, K::lock_release, 3);
  lock(b, 0, 60, K::lock_acquire, 4);
  const CheckReport report = b.check();
  EXPECT_EQ(thread(report).count, 1);
  EXPECT_EQ(thread(report).worst->margin_ticks, 10);
  EXPECT_EQ(report.unmatched, (Counters{{"thread_locks", 1}}));
}

// Scalasca 2.5 uses 10 ns for threads whatever they share: here their class has a mu of its own.
TEST(Threads, threads_of_one_process_have_their_own_latency) {
  TraceBuilder b(1, 2);
  region(b, 2, 0);
  EXPECT_EQ(b.check({}, MuTicks{0, 1000, 1000}).below_latency, 0);
  EXPECT_EQ(b.check({}, MuTicks{20, 0, 0}).below_latency, 2);
}

TEST(Threads, kernels_lie_between_their_launch_and_the_call_that_waits) {
  const auto run = [](std::uint64_t begin, std::uint32_t kernels) {
    TraceBuilder b(1, 3);
    b.trace().definitions.locations[2].type = trace::LocationType::accelerator;
    for (const std::uint64_t time : {100, 110}) b.add(0, time, K::kernel_launch).peer = 2;
    b.add(0, 200, K::stream_wait);
    for (std::uint32_t k = 0; k < kernels; ++k) {
      b.add(2, begin + 30 * k, K::kernel_begin);
      b.add(2, begin + 30 * k + 30, K::kernel_end);
    }
    return b.check();
  };
  const CheckReport right = run(120, 2);
  EXPECT_EQ(thread(right).count, 3);
  EXPECT_EQ(thread(right).violations, 0);
  EXPECT_EQ(thread(right).worst->margin_ticks, 20);
  EXPECT_EQ(thread(run(90, 2)).violations, 1) << "the first kernel begins before its launch";
  EXPECT_EQ(thread(run(150, 2)).violations, 1) << "the second one is awaited before its end";
  const CheckReport incomplete = run(120, 1);
  EXPECT_EQ(thread(incomplete).count, 0);
  EXPECT_EQ(incomplete.skipped, (Counters{{"accelerators_unchecked", 1}}));
}

TEST(Threads, launches_of_two_threads_or_on_unknown_streams_tell_nothing) {
  for (const bool is_named : {true, false}) {
    TraceBuilder b(1, 4);
    for (const LocationIndex l : {2u, 3u}) {
      b.trace().definitions.locations[l].type = trace::LocationType::accelerator;
      b.add(l, 50, K::kernel_begin);
      b.add(l, 60, K::kernel_end);
    }
    b.add(2, 70, K::kernel_begin);
    b.add(2, 80, K::kernel_end);
    for (const LocationIndex l : {0u, 1u}) {
      b.add(l, 40, K::kernel_launch).peer = is_named ? 2 : k_none;
    }
    const CheckReport report = b.check();
    EXPECT_EQ(thread(report).count, 0);
    EXPECT_EQ(report.skipped, (Counters{{"accelerators_unchecked", 2}}));
  }
}

}  // namespace
}  // namespace entrain::verify
