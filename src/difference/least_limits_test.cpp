// SPDX-License-Identifier: BSD-3-Clause
#include "difference/least_limits.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "base/random.hpp"
#include "difference/oracle_testing.hpp"

namespace entrain::difference {
namespace {

constexpr std::int64_t k_life = 1'000'000;  ///< ticks
constexpr std::int64_t k_most_ppb = 100'000'000;
constexpr std::int64_t k_any_ppb = 1'000 * k_most_ppb;  ///< a wander that excludes no mean

/// Clocks of which the first one is the reference, their edges, and ranges of their mean rates.
struct Clocked {
  std::vector<ClockLimits> clocks;
  std::vector<Edge> edges{};
  std::vector<RateRange> means{};

  [[nodiscard]] Constraints view() const {
    return {.clocks = clocks, .reference = 0, .edges = edges};
  }
  /// Whether clocks with these means exist whose rates leave them by no more than `wander`.
  [[nodiscard]] bool feasible_at(const std::vector<std::int64_t>& rates, std::int64_t wander,
                                 std::int64_t rounding = 0) const {
    Constraints limited = view();
    std::vector<ClockLimits> own = clocks;
    for (std::size_t c = 0; c < own.size(); ++c) {
      own[c].rate = {rates[c] - wander, rates[c] + wander};
      own[c].mean->rates = {rates[c] - rounding, rates[c] + rounding};
    }
    limited.clocks = own;
    return Oracle(limited).feasible();
  }
  /// The least wander beside these means, found by halving.
  [[nodiscard]] std::int64_t least_wander(const std::vector<std::int64_t>& rates) const {
    std::int64_t low = -1, high = k_any_ppb;
    while (high - low > 1) {
      const std::int64_t middle = (low + high) / 2;
      (feasible_at(rates, middle) ? high : low) = middle;
    }
    return high;
  }
};

/// Messages between clocks that wander about straight lines, some of them too early.
Clocked random_run(std::uint64_t seed, std::uint64_t clocks) {
  RandomStream random(seed, 3);
  Clocked run;
  std::vector<std::int64_t> offset, rate;
  for (std::uint64_t c = 0; c < clocks; ++c) {
    run.clocks.push_back(
        {.rate = {0, 0}, .mean = MeanLimit{.rates = {0, 0}, .first = 0, .last = k_life}});
    run.means.push_back(c == 0 ? RateRange{0, 0} : RateRange::within(k_most_ppb));
    offset.push_back(c == 0 ? 0 : static_cast<std::int64_t>(random.below(300)));
    rate.push_back(c == 0 ? 0 : static_cast<std::int64_t>(random.below(400)) - 200);
  }
  for (std::uint64_t n = 4 + random.below(14); n > 0; --n) {
    const auto from = static_cast<std::uint32_t>(random.below(clocks));
    const auto to = static_cast<std::uint32_t>((from + 1 + random.below(clocks - 1)) % clocks);
    const auto sent = static_cast<std::int64_t>(1'000 + random.below(k_life - 3'000));
    const auto way = static_cast<std::int64_t>(random.below(40)) - (random.below(4) == 0 ? 30 : 0);
    const auto shown = [&](std::uint32_t c, std::int64_t time) {
      return time + offset[c] + rate[c] * time / k_life;
    };
    run.edges.push_back({{from, shown(from, sent)}, {to, shown(to, sent + way)}, 0});
  }
  if (seed % 32 == 31) {  // at one time, each has received before the other one sent
    run.edges.push_back({{0, 5'000}, {1, 4'000}, 0});
    run.edges.push_back({{1, 4'000}, {0, 4'990}, 0});
  }
  return run;
}

std::vector<std::int64_t> zeros(const Clocked& run) {
  return std::vector<std::int64_t>(run.clocks.size(), 0);
}

/// With two clocks one mean is unknown, and the wander it needs is a convex function of it.
TEST(LeastLimits, equal_the_least_of_all_means_of_one_clock) {
  int contradicted = 0, wandering = 0;
  for (std::uint64_t seed = 0; seed < 48; ++seed) {
    SCOPED_TRACE(seed);
    const Clocked run = random_run(seed, 2);
    System system(run.view());
    Effort effort;
    const auto found = find_least_limits(system, run.means, {}, zeros(run), effort);
    if (!found) {
      ++contradicted;
      ASSERT_TRUE(found.error().certificate);
      EXPECT_FALSE(run.feasible_at({0, 0}, k_any_ppb, k_any_ppb));
      continue;
    }
    std::int64_t low = -k_most_ppb, high = k_most_ppb;
    while (high - low > 2) {
      const std::int64_t third = (high - low) / 3;
      const bool falls = run.least_wander({0, low + third}) > run.least_wander({0, high - third});
      (falls ? low : high) = falls ? low + third : high - third;
    }
    const std::int64_t least = std::min({run.least_wander({0, low}), run.least_wander({0, high}),
                                         run.least_wander({0, (low + high) / 2})});
    EXPECT_TRUE(found->is_least);
    EXPECT_GE(found->ppb, least - 1);
    EXPECT_LE(found->ppb, least + 2);
    wandering += found->ppb > 2 ? 1 : 0;
  }
  EXPECT_GE(contradicted, 1);
  EXPECT_GT(wandering, 10);
}

/// No other means, near or far, get along with less; and what is found is enough.
TEST(LeastLimits, are_enough_and_no_more_in_2000_random_runs) {
  int contradicted = 0, wandering = 0;
  for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
    SCOPED_TRACE(seed);
    RandomStream random(seed, 4);
    const Clocked run = random_run(seed, 2 + seed % 5);
    System system(run.view());
    Effort effort;
    const auto found = find_least_limits(system, run.means, {}, zeros(run), effort);
    if (!found) {
      ++contradicted;
      EXPECT_FALSE(run.feasible_at(zeros(run), k_most_ppb, k_most_ppb));
      continue;
    }
    EXPECT_TRUE(found->is_least);
    EXPECT_TRUE(run.feasible_at(found->means, found->ppb + 1, 1));
    if (found->ppb <= 3) continue;
    ++wandering;
    for (int n = 0; n < 12; ++n) {
      std::vector<std::int64_t> other = found->means;
      const std::int64_t reach = std::int64_t{4} << (2 * n % 20);
      for (std::size_t c = 1; c < other.size(); ++c) {
        other[c] += static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(2 * reach)));
        other[c] -= reach;
      }
      ASSERT_FALSE(run.feasible_at(other, found->ppb - 3));
    }
  }
  EXPECT_GT(contradicted, 10);
  EXPECT_GT(wandering, 300);
}

/// Cycles of a system are cycles of one with more constraints, and tell the same limit sooner.
TEST(LeastLimits, known_cycles_save_steps_and_change_nothing) {
  std::uint64_t spent = 0, spent_anew = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const Clocked run = random_run(seed, 2 + seed % 5);
    Clocked part = run;
    part.edges.resize(run.edges.size() * 3 / 4);
    std::vector<Cycle> known;
    Effort before, effort, effort_anew;
    System of_part(part.view()), system(run.view()), anew(run.view());
    if (!find_least_limits(of_part, run.means, {}, zeros(run), before, &known)) continue;
    const auto found = find_least_limits(system, run.means, {}, zeros(run), effort, &known);
    const auto expected = find_least_limits(anew, run.means, {}, zeros(run), effort_anew);
    ASSERT_EQ(found.has_value(), expected.has_value());
    if (!found) continue;
    EXPECT_LE(std::abs(found->ppb - expected->ppb), 2);
    spent += effort.spent;
    spent_anew += effort_anew.spent;
  }
  EXPECT_LT(4 * spent, 3 * spent_anew);
}

/// The least wander of many clocks, each with a mean of its own, takes too many steps.
TEST(LeastLimits, a_search_that_ends_early_finds_a_wander_that_suffices) {
  constexpr std::uint32_t k_clocks = 400;
  Clocked run;
  RandomStream random(7, 5);
  for (std::uint32_t c = 0; c < k_clocks; ++c) {
    run.clocks.push_back(
        {.rate = {0, 0}, .mean = MeanLimit{.rates = {0, 0}, .first = 0, .last = k_life}});
    run.means.push_back(RateRange::within(c == 0 ? 0 : k_most_ppb));
    if (c == 0) continue;
    const auto rate = static_cast<std::int64_t>(100 + random.below(800));  // ticks per life
    for (std::int64_t time = 1'000; time < k_life; time += 100'000) {
      const std::int64_t shown = time + rate * time / k_life + (time / 100'000 % 2 != 0 ? 30 : 0);
      run.edges.push_back({{0, time}, {c, shown + 2}, 0});
      run.edges.push_back({{c, shown}, {0, time + 2}, 0});
    }
  }
  System system(run.view());
  Effort effort;
  const auto found = find_least_limits(system, run.means, {}, zeros(run), effort);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->is_least);
  EXPECT_LT(found->ppb, 10'000'000);
  for (std::uint32_t c = 0; c < k_clocks; ++c) {
    ASSERT_TRUE(run.means[c].contains(found->means[c]));
    const std::int64_t mean = found->means[c], wander = found->ppb + 1;
    system.set_rate(c, {mean - wander, mean + wander});
    system.set_mean(c, {mean - 1, mean + 1});
  }
  EXPECT_TRUE(greatest_below(system, Values(system.nodes(), 0), effort));
  // Beside a given wander nothing is known.
  const auto wider = find_least_limits(system, run.means, 1'000, zeros(run), effort);
  EXPECT_TRUE(!wider || wider->is_least);
}

TEST(LeastLimits, ranges_of_means_grow_no_more_than_they_have_to) {
  int grown = 0;
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE(seed);
    Clocked run = random_run(seed, 2);
    constexpr std::int64_t k_wander_ppb = 20'000, k_mean_ppb = 10'000;
    run.means[1] = RateRange::within(k_mean_ppb);
    System system(run.view());
    Effort effort;
    const auto found = find_least_limits(system, run.means, k_wander_ppb, zeros(run), effort);
    // The means that are possible are those of an interval: its ends by all paths.
    std::optional<std::int64_t> least;
    for (std::int64_t ppb = -400'000; ppb <= 400'000; ppb += 500) {
      if (!run.feasible_at({0, ppb}, k_wander_ppb)) continue;
      const std::int64_t beyond = std::max<std::int64_t>(std::abs(ppb) - k_mean_ppb, 0);
      least = std::min(least.value_or(beyond), beyond);
    }
    if (!found) {
      EXPECT_FALSE(least);
      continue;
    }
    if (!least) continue;  // an interval of less than a step
    EXPECT_LE(found->ppb, *least + 2);
    EXPECT_GE(found->ppb, *least - 500);
    grown += found->ppb > 2 ? 1 : 0;
  }
  EXPECT_GT(grown, 8);
}

}  // namespace
}  // namespace entrain::difference
