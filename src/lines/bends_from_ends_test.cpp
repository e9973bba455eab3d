// SPDX-License-Identifier: BSD-3-Clause
#include "lines/bends_from_ends.hpp"

#include <cmath>
#include <cstdlib>
#include <random>

#include <gtest/gtest.h>

namespace entrain::lines {
namespace {

constexpr double k_s = 1e9;

/// Calls of three ranks, each of which ends within 1 us; the second clock wanders.
struct WanderingCalls {
  constraints::CallEnds calls;
  std::vector<SimultaneousEnds::Line> lines;

  WanderingCalls(double amplitude, int number, double step_s = 0.05) {
    std::mt19937 random(1);  // NOLINT: the same each time
    for (int i = 0; i < number; ++i) {
      calls.first.push_back(calls.ends.size());
      const double time = (10 + i * step_s) * k_s;
      for (std::uint32_t c = 0; c < 3; ++c) {
        const double noise = static_cast<double>(random() % 1000);
        const double wander = c == 1 ? true_wander(amplitude, time) : 0;
        calls.ends.push_back({c, static_cast<std::uint64_t>(time + noise + wander)});
      }
    }
    calls.first.push_back(calls.ends.size());
    lines.resize(3);
    for (SimultaneousEnds::Line& line : lines)
      line.at = calls.ends.empty() ? 0 : calls.ends[0].time;
  }
  static double true_wander(double amplitude, double time) {
    return amplitude * std::sin(time / k_s);
  }
  [[nodiscard]] std::optional<SimultaneousEnds> run(unsigned threads = 1) const {
    const FitControl control{.threads = threads, .check = [] { return Result<void>(); }};
    SimultaneousEnds ends{.lines = lines};
    const Result<bool> found = find_bends(calls, ends, control);
    EXPECT_TRUE(found);
    return found && *found ? std::optional(ends) : std::nullopt;
  }
};

TEST(BendsFromEnds, a_clock_that_wanders_is_followed_within_the_noise) {
  const WanderingCalls wandering(100'000, 1000);
  const auto found = wandering.run();
  ASSERT_TRUE(found);
  ASSERT_EQ(found->bends.size(), 3U);
  EXPECT_LT(found->spread, 1'000);
  double largest = 0;
  for (double time = 12 * k_s; time < 58 * k_s; time += k_s / 10) {
    const auto stamp = static_cast<std::uint64_t>(time);
    const double apart = bend_at(found->bends[1], stamp) - bend_at(found->bends[0], stamp);
    largest = std::max(largest, std::abs(apart + WanderingCalls::true_wander(100'000, time)));
  }
  EXPECT_LT(largest, 10'000);
}

TEST(BendsFromEnds, are_the_same_with_any_number_of_threads) {
  const WanderingCalls wandering(100'000, 10'000, 0.005);
  const auto alone = wandering.run(1), together = wandering.run(3);
  ASSERT_TRUE(alone && together);
  EXPECT_EQ(alone->spread, together->spread);
  for (std::size_t c = 0; c < 3; ++c) {
    ASSERT_EQ(alone->bends[c].size(), together->bends[c].size());
    for (std::size_t k = 0; k < alone->bends[c].size(); ++k) {
      EXPECT_EQ(alone->bends[c][k].at, together->bends[c][k].at);
      EXPECT_EQ(alone->bends[c][k].offset, together->bends[c][k].offset);
    }
  }
}

TEST(BendsFromEnds, noise_is_no_wander) { EXPECT_FALSE(WanderingCalls(0, 1000).run()); }

TEST(BendsFromEnds, few_ends_show_no_wander) {
  EXPECT_FALSE(WanderingCalls(100'000, 12).run());
  EXPECT_FALSE(WanderingCalls(100'000, 0).run());
}

TEST(BendsFromEnds, between_points_is_a_straight_line) {
  const std::vector<SimultaneousEnds::Bend> bends{{100, 0}, {200, 50}};
  EXPECT_EQ(bend_at(bends, 50), 0);
  EXPECT_EQ(bend_at(bends, 150), 25);
  EXPECT_EQ(bend_at(bends, 300), 50);
  EXPECT_EQ(bend_at({}, 300), 0);
}

}  // namespace
}  // namespace entrain::lines
