// SPDX-License-Identifier: BSD-3-Clause
#include "base/executor.hpp"

#include <atomic>
#include <chrono>
#include <limits>
#include <new>
#include <numeric>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace entrain {
namespace {

TEST(ParallelFor, calls_every_index_once) {
  for (const unsigned threads : {1u, 2u, 8u}) {
    std::vector<std::atomic<int>> calls(1000);
    ASSERT_TRUE(parallel_for(threads, calls.size(), [&](std::size_t i) {
      ++calls[i];
      return Result<void>();
    }));
    for (const auto& n : calls) EXPECT_EQ(n, 1);
  }
}

TEST(WorkerCount, a_limit_holds_for_all_cores_only) {
  const unsigned all = worker_count(0);
  limit_workers(1);
  EXPECT_EQ(worker_count(0), 1u);
  EXPECT_EQ(worker_count(3), 3u);
  limit_workers(std::numeric_limits<unsigned>::max());
  EXPECT_EQ(worker_count(0), all);
}

TEST(ParallelFor, no_work_is_fine) {
  EXPECT_TRUE(parallel_for(4, 0, [](std::size_t) { return Result<void>(); }));
}

/// Threads of one loop that begin late may help another one.
TEST(ParallelFor, uses_no_more_threads_than_asked_for) {
  std::atomic<bool> ends{false};
  std::thread other([&] {
    while (!ends) for_each_in_parallel(16, 16, [](std::size_t) {});
  });
  std::atomic<int> running{0}, most{0};
  for (int round = 0; round < 50; ++round) {
    for_each_in_parallel(2, 40, [&](std::size_t) {
      const int now = ++running;
      for (int before = most; now > before && !most.compare_exchange_weak(before, now);) {
      }
      std::this_thread::sleep_for(std::chrono::microseconds(50));
      --running;
    });
  }
  ends = true;
  other.join();
  EXPECT_LE(most, 2);
}

TEST(ParallelFor, reports_an_error_and_stops) {
  for (const unsigned threads : {1u, 4u}) {
    std::atomic<std::size_t> calls{0};
    const auto result = parallel_for(threads, 100000, [&](std::size_t i) -> Result<void> {
      ++calls;
      if (i == 3) return fail(ErrorKind::input, "three");
      return {};
    });
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().message, "three");
    EXPECT_LT(calls, 100000u);
  }
}

TEST(ParallelFor, passes_an_exception_on) {
  for (const unsigned threads : {1u, 4u}) {
    EXPECT_THROW(static_cast<void>(parallel_for(threads, 100,
                                                [](std::size_t i) -> Result<void> {
                                                  if (i == 7) throw std::bad_alloc();
                                                  return {};
                                                })),
                 std::bad_alloc);
  }
}

}  // namespace
}  // namespace entrain
