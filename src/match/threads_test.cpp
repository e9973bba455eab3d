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

constexpr std::uint32_t k_team = 5;
constexpr std::uint8_t k_openmp = 3, k_pthread = 7;

Pairs threads(const TraceBuilder& b) { return pairs_of(b, EdgeKind::thread); }

void team(TraceBuilder& b, LocationIndex l, std::uint64_t begin, std::uint64_t end,
          std::uint32_t comm = k_team) {
  b.add(l, begin, K::team_begin).comm = comm;
  b.add(l, end, K::team_end).comm = comm;
}

void barrier(TraceBuilder& b, LocationIndex l, std::uint64_t enter, std::uint64_t leave) {
  b.add(l, enter, K::barrier_enter);
  b.add(l, leave, K::barrier_leave);
}

void lock(TraceBuilder& b, LocationIndex l, std::uint64_t time, K kind, std::uint32_t order,
          std::uint32_t id = 1, std::uint8_t paradigm = k_openmp) {
  trace::Event& event = b.add(l, time, kind);
  event.op = paradigm;
  event.peer = id;
  event.tag = order;
}

void task(TraceBuilder& b, LocationIndex l, std::uint64_t time, K kind, std::uint32_t creator,
          std::uint32_t generation) {
  trace::Event& event = b.add(l, time, kind);
  event.comm = k_team;
  event.peer = creator;
  event.tag = generation;
}

TEST(Threads, fork_before_team_begins_and_team_ends_before_join) {
  TraceBuilder b(1, 3);
  b.add(0, 10, K::thread_fork);
  for (LocationIndex l = 0; l < 3; ++l) team(b, l, 11 + l, 21 + l);
  b.add(0, 30, K::thread_join);
  EXPECT_EQ(
      threads(b),
      (Pairs{{{0, 10}, {1, 12}}, {{0, 10}, {2, 13}}, {{1, 22}, {0, 30}}, {{2, 23}, {0, 30}}}));
}

TEST(Threads, every_fork_has_the_next_use_of_its_team) {
  TraceBuilder b(1, 2);
  for (std::uint64_t t = 100; t <= 200; t += 100) {
    b.add(0, t, K::thread_fork);
    team(b, 0, t + 1, t + 5);
    b.add(0, t + 9, K::thread_join);
    team(b, 1, t + 2, t + 6);
  }
  EXPECT_EQ(
      threads(b),
      (Pairs{
          {{0, 100}, {1, 102}}, {{0, 200}, {1, 202}}, {{1, 106}, {0, 109}}, {{1, 206}, {0, 209}}}));
}

TEST(Threads, nested_teams_join_from_inside_out) {
  TraceBuilder b(1, 3);
  b.add(0, 10, K::thread_fork);
  b.add(0, 11, K::team_begin).comm = 5;
  b.add(0, 12, K::thread_fork);
  team(b, 0, 13, 14, 6);
  b.add(0, 15, K::thread_join);
  b.add(0, 16, K::team_end).comm = 5;
  b.add(0, 17, K::thread_join);
  team(b, 1, 11, 16, 5);
  team(b, 2, 13, 14, 6);
  EXPECT_EQ(
      threads(b),
      (Pairs{{{0, 10}, {1, 11}}, {{0, 12}, {2, 13}}, {{1, 16}, {0, 17}}, {{2, 14}, {0, 15}}}));
}

TEST(Threads, teams_of_different_processes_are_different) {
  TraceBuilder b(2, 2);
  b.add(0, 10, K::thread_fork);
  for (LocationIndex l = 0; l < 4; ++l) team(b, l, 11 + l, 20 + l);
  EXPECT_EQ(threads(b), (Pairs{{{0, 10}, {1, 12}}}));  // process 1 has no fork, nobody a join
}

TEST(Threads, barrier_of_a_team_is_everybody_before_everybody_else) {
  TraceBuilder b(1, 2);
  for (LocationIndex l = 0; l < 2; ++l) {
    b.add(l, 10, K::team_begin).comm = k_team;
    barrier(b, l, 20 + l, 30 + l);
    barrier(b, l, 40 + l, 50 + l);
    b.add(l, 60, K::team_end).comm = k_team;
  }
  EXPECT_EQ(
      threads(b),
      (Pairs{{{0, 20}, {1, 31}}, {{0, 40}, {1, 51}}, {{1, 21}, {0, 30}}, {{1, 41}, {0, 50}}}));
}

TEST(Threads, barrier_in_serial_code_shifts_nothing) {
  TraceBuilder b(1, 2);
  barrier(b, 0, 1, 2);
  for (LocationIndex l = 0; l < 2; ++l) {
    b.add(l, 10, K::team_begin).comm = k_team;
    barrier(b, l, 20 + l, 30 + l);
    b.add(l, 60, K::team_end).comm = k_team;
  }
  EXPECT_EQ(threads(b), (Pairs{{{0, 20}, {1, 31}}, {{1, 21}, {0, 30}}}));
}

TEST(Threads, barrier_that_a_thread_misses_is_counted) {
  TraceBuilder b(1, 2);
  for (LocationIndex l = 0; l < 2; ++l) {
    b.add(l, 10, K::team_begin).comm = k_team;
    barrier(b, l, 20 + l, 30 + l);
    if (l == 0) barrier(b, l, 40, 50);
    b.add(l, 60, K::team_end).comm = k_team;
  }
  const Graph graph = build_graph(b.trace(), {});
  EXPECT_EQ(pairs_of(graph, EdgeKind::thread).size(), 2u);
  EXPECT_EQ(graph.unmatched, (Counters{{"thread_barriers_incomplete", 1}}));
}

TEST(Threads, create_before_begin_and_end_before_wait) {
  TraceBuilder b(1, 3);
  const auto event = [&](LocationIndex l, std::uint64_t time, K kind, std::uint64_t id) {
    trace::Event& e = b.add(l, time, kind);
    e.comm = k_team;
    e.id = id;
  };
  event(0, 10, K::thread_create, 1);
  event(0, 11, K::thread_create, 2);
  event(0, 50, K::thread_wait, 1);
  event(1, 22, K::thread_begin, 2);
  event(1, 32, K::thread_end, 2);  // detached: nobody waits for it
  event(2, 21, K::thread_begin, 1);
  event(2, 31, K::thread_end, 1);
  EXPECT_EQ(threads(b), (Pairs{{{0, 10}, {2, 21}}, {{0, 11}, {1, 22}}, {{2, 31}, {0, 50}}}));
}

TEST(Threads, release_before_the_next_acquire_of_the_same_lock) {
  TraceBuilder b(1, 2);
  lock(b, 0, 10, K::lock_acquire, 1);
  lock(b, 0, 20, K::lock_release, 1);
  lock(b, 1, 30, K::lock_acquire, 2);
  lock(b, 1, 40, K::lock_release, 2);
  lock(b, 1, 41, K::lock_acquire, 3);  // the same thread again: its stream orders it
  lock(b, 1, 42, K::lock_release, 3);
  lock(b, 0, 50, K::lock_acquire, 4);
  lock(b, 0, 51, K::lock_acquire, 3, 2);             // another lock
  lock(b, 0, 52, K::lock_acquire, 3, 1, k_pthread);  // another paradigm's lock 1
  lock(b, 0, 53, K::lock_acquire, 6);                // order 5 is missing
  EXPECT_EQ(threads(b), (Pairs{{{0, 20}, {1, 30}}, {{1, 42}, {0, 50}}}));
}

TEST(Threads, nested_acquires_share_a_number) {
  TraceBuilder b(1, 2);
  lock(b, 0, 10, K::lock_acquire, 1);
  lock(b, 0, 11, K::lock_acquire, 1);
  lock(b, 0, 18, K::lock_release, 1);  // still held
  lock(b, 0, 20, K::lock_release, 1);
  lock(b, 1, 30, K::lock_acquire, 2);
  lock(b, 1, 31, K::lock_acquire, 2);
  EXPECT_EQ(threads(b), (Pairs{{{0, 20}, {1, 30}}}));
}

TEST(Threads, lock_numbers_wrap_at_32_bits) {
  TraceBuilder b(1, 2);
  lock(b, 0, 10, K::lock_acquire, 0xFFFFFFFFu);
  lock(b, 0, 20, K::lock_release, 0xFFFFFFFFu);
  lock(b, 1, 30, K::lock_acquire, 0);
  EXPECT_EQ(threads(b), (Pairs{{{0, 20}, {1, 30}}}));
}

TEST(Threads, locks_of_different_processes_are_different) {
  TraceBuilder b(2, 2);
  lock(b, 0, 10, K::lock_acquire, 1);
  lock(b, 0, 20, K::lock_release, 1);
  lock(b, 2, 30, K::lock_acquire, 2);
  EXPECT_THAT(threads(b), IsEmpty());
}

TEST(Threads, a_task_is_created_before_any_other_thread_runs_it) {
  TraceBuilder b(1, 3);
  task(b, 0, 10, K::task_create, 0, 1);
  task(b, 0, 11, K::task_create, 0, 2);
  task(b, 0, 12, K::task_switch, 0, 2);
  task(b, 1, 30, K::task_switch, 0, 1);
  task(b, 1, 31, K::task_switch, 0, 1);
  task(b, 2, 20, K::task_switch, 0, 1);
  task(b, 1, 40, K::task_switch, 0, 2);
  task(b, 1, 50, K::task_switch, 1, 1);  // created by nobody that was recorded
  EXPECT_EQ(threads(b), (Pairs{{{0, 10}, {1, 30}}, {{0, 10}, {2, 20}}, {{0, 11}, {1, 40}}}));
}

TEST(Threads, a_task_created_twice_orders_nothing) {
  TraceBuilder b(1, 2);
  task(b, 0, 10, K::task_create, 0, 1);
  task(b, 0, 11, K::task_create, 0, 1);
  task(b, 1, 30, K::task_switch, 0, 1);
  const Graph graph = build_graph(b.trace(), {});
  EXPECT_EQ(pair_count(graph), 0u);
  EXPECT_EQ(graph.unmatched, (Counters{{"thread_tasks", 1}}));
}

TEST(Threads, a_thread_created_twice_orders_nothing) {
  TraceBuilder b(1, 3);
  for (const auto& [l, kind] : {std::pair{0u, K::thread_create},
                                {0u, K::thread_create},
                                {1u, K::thread_begin},
                                {1u, K::thread_end},
                                {2u, K::thread_end},
                                {0u, K::thread_wait}}) {
    b.add(l, 10 + 10 * l, kind).comm = k_team;
  }
  const Graph graph = build_graph(b.trace(), {});
  EXPECT_EQ(pair_count(graph), 0u);
  EXPECT_EQ(graph.unmatched, (Counters{{"threads", 4}}));
}

TEST(Threads, a_team_forked_twice_orders_nothing) {
  TraceBuilder b(1, 3);
  for (LocationIndex l = 0; l < 3; ++l) {
    if (l < 2) b.add(l, 10, K::thread_fork);
    b.add(l, 11, K::team_begin).comm = k_team;
    barrier(b, l, 12, 13);
    b.add(l, 14, K::team_end).comm = k_team;
    if (l < 2) b.add(l, 15, K::thread_join);
  }
  const Graph graph = build_graph(b.trace(), {});
  EXPECT_EQ(pair_count(graph), 0u);
  EXPECT_EQ(graph.unmatched, (Counters{{"thread_teams", 1}}));
}

TEST(Threads, a_team_end_closes_the_teams_inside_that_never_ended) {
  TraceBuilder b(1, 2);
  b.add(0, 10, K::thread_fork);
  b.add(0, 11, K::team_begin).comm = 5;
  b.add(0, 12, K::team_begin).comm = 6;
  b.add(0, 13, K::team_end).comm = 5;
  b.add(0, 14, K::team_end).comm = 6;
  b.add(0, 15, K::thread_join);
  team(b, 1, 11, 12, 5);
  EXPECT_EQ(threads(b), (Pairs{{{0, 10}, {1, 11}}, {{1, 12}, {0, 15}}}));
}

TEST(Threads, a_join_closes_the_team_that_ended_last) {
  TraceBuilder b(1, 2);
  for (const std::uint64_t t : {10, 20}) {
    b.add(0, t, K::thread_fork);
    team(b, 0, t + 1, t + 2);
    team(b, 1, t + 1, t + 2);
  }
  b.add(0, 30, K::thread_join);
  b.add(0, 31, K::thread_join);
  EXPECT_EQ(threads(b), (Pairs{{{0, 10}, {1, 11}}, {{0, 20}, {1, 21}}, {{1, 22}, {0, 30}}}));
}

TEST(Threads, a_barrier_stands_in_the_team_in_which_it_was_entered) {
  TraceBuilder b(1, 2);
  for (LocationIndex l = 0; l < 2; ++l) {
    b.add(l, 10, K::team_begin).comm = k_team;
    b.add(l, 20, K::barrier_enter);
    if (l == 1) b.add(l, 21, K::barrier_leave);  // lost on thread 0
    barrier(b, l, 30, 31);
  }
  const Graph graph = build_graph(b.trace(), {});
  EXPECT_EQ(pairs_of(graph, EdgeKind::thread), (Pairs{{{0, 30}, {1, 31}}, {{1, 30}, {0, 31}}}));
  EXPECT_EQ(graph.unmatched, (Counters{{"thread_barriers_incomplete", 1}}));
}

TEST(Threads, a_lock_held_by_two_threads_under_one_number_orders_nothing) {
  TraceBuilder b(1, 3);
  lock(b, 0, 10, K::lock_acquire, 1);
  lock(b, 0, 20, K::lock_release, 1);
  lock(b, 1, 30, K::lock_acquire, 2);
  lock(b, 2, 31, K::lock_acquire, 2);
  lock(b, 1, 40, K::lock_release, 2);
  lock(b, 0, 50, K::lock_acquire, 3);
  lock(b, 0, 60, K::lock_release, 3);
  lock(b, 1, 70, K::lock_acquire, 4);
  const Graph graph = build_graph(b.trace(), {});
  EXPECT_EQ(pairs_of(graph, EdgeKind::thread), (Pairs{{{0, 60}, {1, 70}}}));
  EXPECT_EQ(graph.unmatched, (Counters{{"thread_locks", 1}}));
}

}  // namespace
}  // namespace entrain::match
