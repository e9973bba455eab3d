// SPDX-License-Identifier: BSD-3-Clause
#include "record/base/timer.hpp"

#include <gmock/gmock.h>

#include <tuple>

namespace entrain::record {
namespace {

constexpr std::uint64_t k_epoch = 1'000'000'000'000;

VirtualCluster cluster() {
  VirtualCluster cluster;
  cluster.nodes = 4;
  cluster.offset_s = 0.001;
  cluster.drift_ppm = 10;
  return cluster;
}

Timer on_node(std::uint64_t node, const VirtualCluster& cluster) {
  Timer timer;
  timer.make_virtual(cluster, node, k_epoch);
  return timer;
}

TEST(Timer, readings_do_not_fall) {
  for (const TimerKind kind : {TimerKind::monotonic_raw, TimerKind::tsc}) {
    Timer timer;
    std::string problem;
    timer.set_up(kind, problem);
    std::uint64_t last = 0;
    for (int i = 0; i < 1000; ++i) {
      const Stamp now = timer.now();
      EXPECT_GE(now.local, last);
      EXPECT_EQ(now.local, now.truth);
      last = now.local;
    }
    EXPECT_EQ(timer.granularity(), 1u);
    EXPECT_FALSE(timer.is_virtual());
  }
}

TEST(Timer, the_clocks_of_the_system_are_those) {
  for (const auto& [kind, clock, name] :
       {std::tuple(TimerKind::monotonic, CLOCK_MONOTONIC, "CLOCK_MONOTONIC"),
        std::tuple(TimerKind::realtime, CLOCK_REALTIME, "CLOCK_REALTIME")}) {
    Timer timer;
    std::string problem;
    timer.set_up(kind, problem);
    timespec before;
    clock_gettime(clock, &before);
    const std::uint64_t now = timer.now().local;
    timespec after;
    clock_gettime(clock, &after);
    const auto ns = [](const timespec& time) {
      return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U +
             static_cast<std::uint64_t>(time.tv_nsec);
    };
    EXPECT_GE(now, ns(before));
    EXPECT_LE(now, ns(after));
    EXPECT_STREQ(timer.name(), name);
    EXPECT_EQ(timer.ticks_per_second(), 1'000'000'000u);
  }
}

TEST(Timer, counts_have_a_rate) {
  Timer timer;
  std::string problem;
  timer.set_up(TimerKind::tsc, problem, true);
  if (!problem.empty()) GTEST_SKIP() << problem;
  const Stamp begin = timer.now();
  Stamp end = timer.now();
  while (end.truth - begin.truth < 5'000'000) end = timer.now();
  const double rate = static_cast<double>(end.local - begin.local) /
                      static_cast<double>(end.truth - begin.truth) * 1e9;
  EXPECT_NEAR(static_cast<double>(timer.ticks_per_second()), rate, 1e-2 * rate);
}

TEST(Timer, node_0_keeps_true_time) {
  const Timer timer = on_node(0, cluster());
  EXPECT_TRUE(timer.is_virtual());
  EXPECT_EQ(timer.skewed(k_epoch), k_epoch);
  EXPECT_EQ(timer.skewed(k_epoch + 12'345'678'901), k_epoch + 12'345'678'901);
}

TEST(Timer, virtual_clocks_are_wrong_within_their_limits_and_the_same_in_each_process) {
  constexpr std::int64_t k_second = 1'000'000'000;
  std::int64_t sum = 0;
  for (std::uint64_t node = 1; node < 4; ++node) {
    const Timer timer = on_node(node, cluster()), same = on_node(node, cluster());
    const auto error_at = [&](std::uint64_t time) {
      return static_cast<std::int64_t>(timer.skewed(time) - time);
    };
    const std::int64_t begin = error_at(k_epoch), end = error_at(k_epoch + 100 * k_second);
    EXPECT_LE(std::abs(begin), 1'000'000);
    EXPECT_LE(std::abs(end - begin), 1'000'001);  // 100 s of 10 ppm
    EXPECT_NE(begin, end);
    EXPECT_EQ(same.skewed(k_epoch + k_second), timer.skewed(k_epoch + k_second));
    sum += begin;
  }
  EXPECT_NE(on_node(1, cluster()).skewed(k_epoch), on_node(2, cluster()).skewed(k_epoch));
  EXPECT_NE(sum, 0);
}

TEST(Timer, wander_comes_back_after_its_period) {
  VirtualCluster wandering = cluster();
  wandering.drift_ppm = 0;
  wandering.wander_ppm = 50;
  wandering.wander_period_s = 10;
  const Timer timer = on_node(2, wandering);
  const auto error_at = [&](std::uint64_t ns) {
    return static_cast<std::int64_t>(timer.skewed(k_epoch + ns) - k_epoch - ns);
  };
  const std::int64_t begin = error_at(0);
  EXPECT_NEAR(static_cast<double>(error_at(10'000'000'000)), static_cast<double>(begin), 2.0);
  std::int64_t most = 0;
  for (std::uint64_t s = 1; s < 10; ++s) {
    most = std::max(most, std::abs(error_at(s * 1'000'000'000) - begin));
  }
  EXPECT_GT(most, 50'000);  // the amplitude is 10 s * 50 ppm / (2 pi) = 80 us
  EXPECT_LT(most, 160'000);
}

TEST(Timer, coarse_clocks_advance_in_steps) {
  VirtualCluster coarse = cluster();
  coarse.resolution_ns = 1000;
  const Timer timer = on_node(1, coarse);
  EXPECT_EQ(timer.granularity(), 1000u);
  for (std::uint64_t time = k_epoch; time < k_epoch + 5000; time += 7) {
    EXPECT_EQ(timer.skewed(time) % 1000, 0u);
  }
  EXPECT_THAT(timer.description(), testing::HasSubstr("resolution_ns=1000"));
}

}  // namespace
}  // namespace entrain::record
