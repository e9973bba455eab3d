// SPDX-License-Identifier: BSD-3-Clause
#include "trace/workers.hpp"

#include <atomic>
#include <vector>

#include <gtest/gtest.h>

#include "trace/testing.hpp"

namespace entrain::trace {
namespace {

using trace::testing::TraceBuilder;

/// A trace with so many events on each location.
trace::Trace trace_of(std::uint32_t processes, std::uint64_t events) {
  TraceBuilder b(processes);
  for (std::uint32_t p = 0; p < processes; ++p) {
    for (std::uint64_t i = 0; i < events; ++i) b.add(p, i, trace::EventKind::send);
  }
  return b.trace();
}

/// Members of the team of run(), after a check that each location has one owner who works.
unsigned members_at_work(const trace::Trace& trace, unsigned threads) {
  Workers workers(threads);
  std::vector<std::atomic<int>> visits(trace.locations.size());
  std::atomic<unsigned> members = 0, speakers = 0;
  const auto done =
      workers.run(trace, trace::undivided(trace.definitions),
                  [&](const trace::Share& share, unsigned own_threads) -> Result<void> {
                    ++members;
                    EXPECT_EQ(own_threads, 1u);
                    EXPECT_EQ(&share.trace, &trace);
                    if (workers.speaks(share.team)) ++speakers;
                    for (const LocationIndex l : share.own()) ++visits[l];
                    return {};
                  });
  EXPECT_TRUE(done);
  EXPECT_EQ(speakers, 1u);
  for (const auto& visit : visits) EXPECT_EQ(visit, 1);
  return members;
}

TEST(Workers, threads_share_out_a_large_trace) {
  EXPECT_EQ(members_at_work(trace_of(4, 80'000), 3), 3u);
  EXPECT_EQ(members_at_work(trace_of(4, 80'000), 1), 1u);
}

TEST(Workers, a_small_trace_and_one_process_need_no_team) {
  EXPECT_EQ(members_at_work(trace_of(4, 10), 3), 1u);
  EXPECT_EQ(members_at_work(trace_of(2, 70'000), 3), 1u);
  EXPECT_EQ(members_at_work(trace_of(1, 300'000), 3), 1u);
  EXPECT_EQ(members_at_work(trace_of(0, 0), 3), 1u);
}

TEST(Workers, an_error_of_a_member_is_returned) {
  Workers workers(2);
  const trace::Trace trace = trace_of(4, 80'000);
  const auto failed = workers.run(trace, trace::undivided(trace.definitions),
                                  [&](const trace::Share& share, unsigned) -> Result<void> {
                                    if (share.team.rank() == 1) return fail(ErrorKind::input, "no");
                                    return {};
                                  });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "no");
}

TEST(Workers, several_processes_ask_for_each_size_once_and_keep_their_threads) {
  const trace::Trace trace = trace_of(4, 1);
  std::atomic<int> asked = 0;
  const auto done = run_team(2, [&](Team& processes) -> Result<void> {
    Workers workers(processes, 5);
    EXPECT_FALSE(workers.alone());
    const std::vector<std::uint64_t> weight =
        workers.weigh(trace.definitions, [&](LocationIndex l) -> std::uint64_t {
          ++asked;
          return 10 * l;
        });
    EXPECT_EQ(weight, (std::vector<std::uint64_t>{0, 10, 20, 30}));
    const trace::Partition partition = trace::divide(trace.definitions, weight, 2);
    return workers.run(trace, partition, [&](const trace::Share& share, unsigned threads) {
      EXPECT_EQ(threads, 5u);
      EXPECT_EQ(&share.team, &processes);
      EXPECT_TRUE(workers.speaks(share.team));
      return Result<void>();
    });
  });
  EXPECT_TRUE(done);
  EXPECT_EQ(asked, 4);  // once for each location
}

TEST(Workers, one_process_asks_for_no_size) {
  Workers workers(5);
  const std::vector<std::uint64_t> weight =
      workers.weigh(trace_of(3, 0).definitions, [](LocationIndex) {
        ADD_FAILURE();
        return std::uint64_t{0};
      });
  EXPECT_EQ(weight, std::vector<std::uint64_t>(3, 0));
}

}  // namespace
}  // namespace entrain::trace
