// SPDX-License-Identifier: BSD-3-Clause
#include "base/two_threads.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

namespace entrain {
namespace {

constexpr std::size_t k_large = 1'000'000;

TEST(TwoThreads, both_are_done_whenever_the_call_returns) {
  for (const unsigned threads : {1u, 2u, 0u}) {
    TwoThreads halves(threads);
    std::array<int, 2> done{};
    for (int job = 1; job <= 20'000; ++job) {
      halves(job % 3 == 0 ? 10 : k_large, [&](unsigned half) { ++done[half]; });
      ASSERT_EQ(done[0], job);
      ASSERT_EQ(done[1], job);
    }
  }
}

TEST(TwoThreads, a_helper_that_sleeps_is_woken) {
  TwoThreads halves(2);
  std::array<int, 2> done{};
  for (int job = 1; job <= 3; ++job) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    halves(k_large, [&](unsigned half) {
      if (half == static_cast<unsigned>(job) % 2)
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      ++done[half];
    });
    EXPECT_EQ(done[0], job);
    EXPECT_EQ(done[1], job);
  }
}

TEST(TwoThreads, an_exception_of_either_is_passed_on) {
  TwoThreads halves(2);
  for (const unsigned bad : {0u, 1u, 0u, 1u}) {
    const auto body = [&](unsigned half) {
      if (half == bad) throw std::runtime_error("no");
    };
    EXPECT_THROW(halves(k_large, body), std::runtime_error);
  }
  int done = 0;
  halves(1, [&](unsigned) { ++done; });
  EXPECT_EQ(done, 2);
}

TEST(TwoThreads, who_works_alone_stays_on_one_thread) {
  TwoThreads halves(2);
  halves.work_alone(true);
  std::array<std::thread::id, 2> who;
  halves(k_large, [&](unsigned half) { who[half] = std::this_thread::get_id(); });
  EXPECT_EQ(who[0], std::this_thread::get_id());
  EXPECT_EQ(who[1], std::this_thread::get_id());
}

TEST(TwoThreads, unused_ones_end_too) { const TwoThreads halves(2); }

}  // namespace
}  // namespace entrain
