// SPDX-License-Identifier: BSD-3-Clause
#include "bounds/difference_constraints.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.hpp"

namespace entrain::bounds {
namespace {

using ::testing::ElementsAre;

constexpr std::int64_t k_open = ErrorIntervals::k_unbounded;

ConstraintGrid problem(std::uint32_t clocks, std::uint32_t windows,
                       std::span<const ClockConstraint> constraints) {
  ConstraintGrid problem;
  problem.clocks = clocks;
  problem.width = 100;
  problem.windows = windows;
  problem.constraints = constraints;
  return problem;
}

std::pair<std::int64_t, std::int64_t> of(const ErrorIntervals& intervals, std::uint32_t clock,
                                         std::uint32_t window) {
  const auto interval = intervals.of(clock, window);
  return {interval.lower, interval.upper};
}
using Pair = std::pair<std::int64_t, std::int64_t>;

TEST(DifferenceConstraints, the_example_of_the_header) {
  const std::vector<ClockConstraint> constraints{{0, 1, 40, 60, 60 - 40 - 2},
                                                 {1, 0, 30, 45, 45 - 30 - 2}};
  ConstraintGrid one_window;
  one_window.clocks = 2;
  one_window.width = 100;
  one_window.constraints = constraints;
  const ErrorIntervals found = DifferenceConstraints(one_window).intervals({10'000'000, {}});
  EXPECT_EQ(found.of(1, 0).lower, -14);
  EXPECT_EQ(found.of(1, 0).upper, 19);
}

TEST(DifferenceConstraints, messages_both_ways_give_an_interval_that_grows_with_the_distance) {
  const std::vector<ClockConstraint> constraints{{0, 1, 150, 150, 10}, {1, 0, 150, 150, 5}};
  const ErrorIntervals found =
      DifferenceConstraints(problem(2, 4, constraints)).intervals({10'000'000, {}});
  EXPECT_EQ(of(found, 1, 1), Pair(-5, 10));
  EXPECT_EQ(of(found, 1, 0), Pair(-6, 11));
  EXPECT_EQ(of(found, 1, 2), Pair(-6, 11));
  EXPECT_EQ(of(found, 1, 3), Pair(-7, 12));
  for (std::uint32_t w = 0; w < 4; ++w) EXPECT_EQ(of(found, 0, w), Pair(0, 0));
}

TEST(DifferenceConstraints, ends_are_moved_to_the_middle_and_costs_rounded_up) {
  // 10 ticks from the middle at 1 % are 0.1 ticks, 90 are 0.9, and 40 are 0.4; the reference costs
  // nothing.
  const std::vector<ClockConstraint> constraints{{0, 1, 0, 160, 10}, {1, 2, 60, 190, 0}};
  const ErrorIntervals found =
      DifferenceConstraints(problem(3, 2, constraints)).intervals({10'000'000, {}});
  EXPECT_EQ(of(found, 1, 1), Pair(-k_open, 11));
  EXPECT_EQ(of(found, 2, 1), Pair(-k_open, 12));
  // A limit of its own for clock 1: 10 % of 10 and of 90 ticks.
  const ErrorIntervals own =
      DifferenceConstraints(problem(3, 2, constraints)).intervals({10'000'000, {0, 90'000'000, 0}});
  EXPECT_EQ(of(own, 1, 1), Pair(-k_open, 11));
  EXPECT_EQ(of(own, 2, 1), Pair(-k_open, 10 + 1 + 9 + 1));
}

TEST(DifferenceConstraints, chains_tie_clocks_that_never_talk_to_the_reference) {
  const std::vector<ClockConstraint> constraints{
      {0, 1, 50, 50, 3}, {1, 0, 50, 50, 4}, {1, 2, 50, 50, 20}, {2, 1, 50, 50, 10}};
  const ErrorIntervals found = DifferenceConstraints(problem(4, 1, constraints)).intervals({});
  EXPECT_EQ(of(found, 2, 0), Pair(-14, 23));
  EXPECT_EQ(of(found, 3, 0), Pair(-k_open, k_open));
  EXPECT_FALSE(found.of(3, 0).bounded());
}

/// A chain of clocks from the reference in the order that Bellman and Ford like least.
std::vector<ClockConstraint> long_chain(std::uint32_t clocks, std::int64_t slack) {
  std::vector<ClockConstraint> constraints;
  for (std::uint32_t c = clocks; --c > 0;) {
    constraints.push_back({c - 1, c, 50, 50, slack});
    constraints.push_back({c, c - 1, 50, 50, 7});
  }
  return constraints;
}

TEST(DifferenceConstraints, long_chains_in_the_worst_order_take_few_steps) {
  constexpr std::uint32_t k_clocks = 40'000;
  const auto constraints = long_chain(k_clocks, 5);
  const DifferenceConstraints proof(problem(k_clocks, 1, constraints));
  EXPECT_FALSE(proof.contradiction({}));
  const ErrorIntervals found = proof.intervals({});
  EXPECT_FALSE(proof.is_exhausted());
  EXPECT_EQ(of(found, k_clocks - 1, 0), Pair(-7 * 39'999, 5 * 39'999));
}

TEST(DifferenceConstraints, what_takes_too_many_steps_ends) {
  constexpr std::uint32_t k_clocks = 10'000;
  const auto constraints = long_chain(k_clocks, -5);  // all labels fall, again and again
  const DifferenceConstraints proof(problem(k_clocks, 1, constraints));
  EXPECT_FALSE(proof.contradiction({}));
  EXPECT_TRUE(proof.is_exhausted());
}

TEST(DifferenceConstraints, what_contradicts_tells_the_rate_that_it_takes) {
  // At least 0 at one time, at most -10 200 ticks later.
  const std::vector<ClockConstraint> constraints{{1, 0, 50, 50, 0}, {0, 1, 250, 250, -10}};
  const DifferenceConstraints proof(problem(2, 3, constraints));
  const auto found = proof.contradiction({40'000'000, {}});
  ASSERT_TRUE(found);
  EXPECT_THAT(found->clocks, ElementsAre(0, 1));
  EXPECT_EQ(found->begin, 50);
  EXPECT_EQ(found->end, 250);
  EXPECT_EQ(found->needed_ppb, 50'000'000);
  EXPECT_FALSE(proof.contradiction({50'000'000, {}}));
  // 1 % more are left to clock 1.
  EXPECT_EQ(proof.contradiction({0, {0, 10'000'000}})->needed_ppb, 40'000'000);
  const auto least = proof.least_rate();
  EXPECT_FALSE(least.contradiction);
  EXPECT_GE(least.rate_ppb, 50'000'000);
  EXPECT_LE(least.rate_ppb, 50'000'000 + 50'000'000 / 16);
}

TEST(DifferenceConstraints, no_rate_explains_what_contradicts_at_one_time) {
  const std::vector<ClockConstraint> constraints{{1, 0, 50, 50, 0}, {0, 1, 50, 50, -1}};
  const auto least = DifferenceConstraints(problem(2, 3, constraints)).least_rate();
  ASSERT_TRUE(least.contradiction);
  EXPECT_FALSE(least.contradiction->needed_ppb);
}

TEST(DifferenceConstraints, constraints_beyond_all_measure_say_nothing) {
  constexpr std::int64_t k_far = std::int64_t{1} << 60;
  const std::vector<ClockConstraint> constraints{
      {0, 1, 0, k_far, 5}, {1, 0, -k_far, 50, 5}, {0, 1, 50, 50, k_far}, {1, 1, 50, 50, -7}};
  const DifferenceConstraints proof(problem(2, 1, constraints));
  EXPECT_FALSE(proof.contradiction({}));
  EXPECT_FALSE(proof.intervals({}).of(1, 0).bounded());
}

/// Shortest paths of a matrix of costs between (clock, window) pairs, the reference being one node.
class Oracle {
 public:
  Oracle(const ConstraintGrid& problem, const RateLimits& limits)
      : problem_(problem), size_(problem.clocks * problem.windows + 1) {
    cost_.assign(size_ * size_, k_open);
    for (std::size_t i = 0; i < size_; ++i) cost_[i * size_ + i] = 0;
    for (std::uint32_t c = 0; c < problem.clocks; ++c) {
      for (std::uint32_t w = 1; w < problem.windows; ++w) {
        if (c == problem.reference) continue;
        const std::int64_t step = up(problem.width, limits.of(c));
        lower(node(c, w - 1), node(c, w), step);
        lower(node(c, w), node(c, w - 1), step);
      }
    }
    for (const ClockConstraint& constraint : problem.constraints) {
      const std::uint32_t w = problem.window_of(constraint.to_time);
      const auto moved = [&](std::uint32_t c, std::int64_t time) {
        return c == problem.reference ? 0 : up(std::abs(time - problem.middle(w)), limits.of(c));
      };
      lower(node(constraint.from, w), node(constraint.to, w),
            constraint.slack * 256 + moved(constraint.from, constraint.from_time) +
                moved(constraint.to, constraint.to_time));
    }
    for (std::size_t k = 0; k < size_; ++k) {
      for (std::size_t i = 0; i < size_; ++i) {
        for (std::size_t j = 0; j < size_; ++j) {
          if (at(i, k) != k_open && at(k, j) != k_open) lower(i, j, at(i, k) + at(k, j));
        }
      }
    }
  }
  [[nodiscard]] std::int64_t at(std::size_t i, std::size_t j) const { return cost_[i * size_ + j]; }
  [[nodiscard]] std::size_t node(std::uint32_t c, std::uint32_t w) const {
    return c == problem_.reference ? 0 : 1 + std::size_t{w} * problem_.clocks + c;
  }
  [[nodiscard]] bool contradicts() const {
    for (std::size_t i = 0; i < size_; ++i) {
      if (at(i, i) < 0) return true;
    }
    return false;
  }

 private:
  static std::int64_t up(std::int64_t distance, std::int64_t ppb) {
    return (distance * ppb * 256 + 999'999'999) / 1'000'000'000;
  }
  void lower(std::size_t i, std::size_t j, std::int64_t cost) {
    cost_[i * size_ + j] = std::min(cost_[i * size_ + j], cost);
  }
  const ConstraintGrid& problem_;
  std::size_t size_;
  std::vector<std::int64_t> cost_;
};

TEST(DifferenceConstraints, intervals_are_the_shortest_paths) {
  int contradictions = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    RandomStream random(seed, 1);
    std::vector<ClockConstraint> constraints;
    const auto clocks = static_cast<std::uint32_t>(2 + random.below(4));
    const auto windows = static_cast<std::uint32_t>(1 + random.below(5));
    for (std::uint64_t n = random.below(25); n > 0; --n) {
      ClockConstraint constraint;
      constraint.from = static_cast<std::uint32_t>(random.below(clocks));
      constraint.to = static_cast<std::uint32_t>(random.below(clocks));
      constraint.from_time = static_cast<std::int64_t>(random.below(windows * 100));
      constraint.to_time = static_cast<std::int64_t>(random.below(windows * 100));
      constraint.slack = static_cast<std::int64_t>(random.below(60)) - (seed % 3 == 0 ? 20 : 0);
      if (constraint.from != constraint.to) constraints.push_back(constraint);
    }
    ConstraintGrid random_problem = problem(clocks, windows, constraints);
    random_problem.reference = static_cast<std::uint32_t>(random.below(clocks));
    RateLimits limits{static_cast<std::int64_t>(random.below(100'000'000)), {}};
    for (std::uint32_t c = 0; c < clocks && seed % 2 == 0; ++c) {
      limits.extra_ppb.push_back(static_cast<std::int64_t>(random.below(100'000'000)));
    }
    const DifferenceConstraints proof(random_problem);
    const Oracle oracle(random_problem, limits);
    ASSERT_EQ(proof.contradiction(limits).has_value(), oracle.contradicts()) << seed;
    if (oracle.contradicts()) {
      ++contradictions;
      continue;
    }
    const ErrorIntervals found = proof.intervals(limits);
    for (std::uint32_t c = 0; c < clocks; ++c) {
      for (std::uint32_t w = 0; w < windows; ++w) {
        const std::int64_t back = oracle.at(oracle.node(c, w), 0);
        const std::int64_t there = oracle.at(0, oracle.node(c, w));
        const auto up = [](std::int64_t parts) {  // to whole ticks
          return static_cast<std::int64_t>(std::ceil(static_cast<double>(parts) / 256));
        };
        ASSERT_EQ(of(found, c, w),
                  Pair(back == k_open ? -k_open : -up(back), there == k_open ? k_open : up(there)))
            << "seed " << seed << ", clock " << c << ", window " << w;
      }
    }
    const auto least = proof.least_rate();
    if (least.contradiction) continue;
    EXPECT_FALSE(Oracle(random_problem, {least.rate_ppb, {}}).contradicts());
    const std::int64_t below = least.rate_ppb - least.rate_ppb / 8 - 2'000'000;
    if (below < 0) continue;
    EXPECT_TRUE(Oracle(random_problem, {below, {}}).contradicts()) << seed;
  }
  EXPECT_GT(contradictions, 20);
}

/// A clock whose error has a known largest rate.
struct WanderingClock {
  double offset = 0, rate = 0, period = 1, phase = 0;
  [[nodiscard]] double error(double time) const {
    const double wave = period / (2 * std::numbers::pi);
    return offset + rate * wave * std::sin(time / wave + phase);
  }
};

TEST(DifferenceConstraints, the_truth_is_inside_and_more_messages_never_widen_it) {
  constexpr std::uint32_t k_clocks = 5, k_windows = 40;
  constexpr std::int64_t k_rate_ppb = 20'000'000;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    RandomStream random(seed, 2);
    std::vector<WanderingClock> clocks(k_clocks);
    for (std::uint32_t c = 1; c < k_clocks; ++c) {
      clocks[c] = {random.uniform(-500, 500), random.uniform(0, 0.02), random.uniform(300, 9'000),
                   random.uniform(0, 6)};
    }
    std::vector<ClockConstraint> constraints;
    for (int m = 0; m < 200; ++m) {
      const auto from = static_cast<std::uint32_t>(random.below(k_clocks));
      const auto to =
          static_cast<std::uint32_t>((from + 1 + random.below(k_clocks - 1)) % k_clocks);
      const double sent = random.uniform(0, 3'000), latency = random.uniform(1, 60);
      // The reading of a clock at a true time: its error depends on the reading.
      const auto shown = [&](std::uint32_t c, double time) {
        double x = time;
        for (int i = 0; i < 50; ++i) x = time + clocks[c].error(x);
        return x;
      };
      const double s = shown(from, sent), r = shown(to, sent + latency);
      ClockConstraint constraint{from, to, std::llround(s), std::llround(r), 0};
      constraint.slack = static_cast<std::int64_t>(std::ceil(r - s)) + 1;  // 1: times are rounded
      constraints.push_back(constraint);
    }
    ConstraintGrid few = problem(k_clocks, k_windows, constraints);
    few.constraints = std::span(constraints).first(100);
    const ErrorIntervals wide = DifferenceConstraints(few).intervals({k_rate_ppb, {}});
    const ConstraintGrid all = problem(k_clocks, k_windows, constraints);
    const DifferenceConstraints proof(all);
    EXPECT_FALSE(proof.contradiction({k_rate_ppb, {}}));
    const ErrorIntervals found = proof.intervals({k_rate_ppb, {}});
    for (std::uint32_t c = 0; c < k_clocks; ++c) {
      for (std::uint32_t w = 0; w < k_windows; ++w) {
        const double error = clocks[c].error(static_cast<double>(all.middle(w)));
        const auto interval = found.of(c, w);
        ASSERT_LE(static_cast<double>(interval.lower), error) << seed << ' ' << c << ' ' << w;
        ASSERT_GE(static_cast<double>(interval.upper), error) << seed << ' ' << c << ' ' << w;
        ASSERT_LE(wide.of(c, w).lower, interval.lower);
        ASSERT_GE(wide.of(c, w).upper, interval.upper);
      }
    }
  }
}

}  // namespace
}  // namespace entrain::bounds
