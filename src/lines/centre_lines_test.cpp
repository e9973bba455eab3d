// SPDX-License-Identifier: BSD-3-Clause
#include "lines/centre_lines.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace entrain::lines {
namespace {

constexpr std::int64_t k_span = 60'000'000'000;
constexpr double k_typical = 3e-5;

/// Straight clocks that are roughly aligned, and messages between any two of them.
struct Straight {
  Straight(std::uint64_t seed, std::uint32_t clocks, int messages) : random(seed, 0) {
    for (std::uint32_t c = 0; c < clocks; ++c) {
      offsets.push_back(uniform(-1e5, 1e5));
      rates.push_back(uniform(-1e-6, 1e-6));
    }
    for (int i = 0; i < messages; ++i) {
      const auto from = static_cast<std::uint32_t>(random.below(clocks));
      const auto to = static_cast<std::uint32_t>((from + 1 + random.below(clocks - 1)) % clocks);
      const double sent = uniform(0, k_span);
      const double received = sent + 1'000 - 20'000 * std::log(uniform(1e-9, 1));
      const std::int64_t s = reading(from, sent), r = reading(to, received);
      constraints.push_back({from, to, s, r, r - s});
    }
  }
  double uniform(double low, double high) {
    return low + (high - low) * static_cast<double>(random.below(1'000'000'000)) * 1e-9;
  }
  [[nodiscard]] std::int64_t reading(std::uint32_t clock, double truth) const {
    return std::llround(truth * (1 + rates[clock]) + offsets[clock]);
  }
  [[nodiscard]] std::optional<std::vector<ClockLine>> found() const {
    const std::vector<double> equal(rates.size(), 0);
    return find_centre_lines(rates.size(), constraints, equal, k_typical);
  }

  RandomStream random;
  std::vector<double> offsets, rates;
  std::vector<constraints::ClockConstraint> constraints;
};

double moved(const ClockLine& line, std::int64_t time) {
  return static_cast<double>(line.offset) + line.rate * static_cast<double>(time - line.base);
}

double slack_of(const constraints::ClockConstraint& one, const std::vector<ClockLine>& lines) {
  return static_cast<double>(one.slack) + moved(lines[one.to], one.to_time) -
         moved(lines[one.from], one.from_time);
}

/// The cost that the search minimises, straight from its definition, with all constraints.
double cost(const std::vector<constraints::ClockConstraint>& constraints,
            const std::vector<ClockLine>& lines) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<double>> slacks;
  for (const constraints::ClockConstraint& one : constraints)
    slacks[std::minmax(one.from, one.to)].push_back(slack_of(one, lines));
  double sum = 0;
  for (const auto& [pair, all] : slacks) {
    const double least = *std::min_element(all.begin(), all.end());
    if (!(least > 0)) return std::numeric_limits<double>::infinity();
    double inverse = 0;
    for (const double s : all) inverse += std::pow(least / s, 64);
    sum += std::pow(std::pow(inverse, 1.0 / 64) * 1'000 / least, 3);
  }
  return sum;
}

/// Least cost by compass search over offsets and rates of all clocks but the first one.
double least_cost(const Straight& straight, std::vector<ClockLine> lines) {
  double best = cost(straight.constraints, lines);
  for (double step = 4'000; step > 2; step /= 2) {
    for (bool any = true; any;) {
      any = false;
      for (std::size_t c = 1; c < lines.size(); ++c) {
        for (const int way : {1, -1, 2, -2, 3, -3}) {
          std::vector<ClockLine> there = lines;
          // Both ends together, the first one, or the last one.
          const double by = way > 0 ? step : -step;
          if (std::abs(way) < 3) there[c].offset += std::llround(by);
          if (std::abs(way) == 2) there[c].rate -= by / k_span;
          if (std::abs(way) == 3) there[c].rate += by / k_span;
          const double after = cost(straight.constraints, there);
          if (!(after < best * (1 - 1e-6))) continue;
          best = after;
          lines = there;
          any = true;
        }
      }
    }
  }
  return best;
}

TEST(CentreLines, meet_all_constraints_of_straight_clocks) {
  int open = 0;
  for (std::uint64_t seed = 0; seed < 10'000; ++seed) {
    RandomStream random(seed, 1);
    const auto clocks = static_cast<std::uint32_t>(2 + random.below(5));
    const Straight straight(seed, clocks, 4 + static_cast<int>(random.below(80)));
    const auto lines = straight.found();
    ASSERT_TRUE(lines) << seed;
    for (const constraints::ClockConstraint& one : straight.constraints) {
      const bool bound = (*lines)[one.from].component == (*lines)[one.to].component;
      if (bound) {
        ASSERT_GT(slack_of(one, *lines), 0) << seed;
      }
      open += bound ? 0 : 1;
    }
  }
  EXPECT_GT(open, 0);
}

TEST(CentreLines, cost_as_little_as_an_exhaustive_search_finds) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    RandomStream random(seed, 2);
    const Straight straight(seed, static_cast<std::uint32_t>(2 + random.below(3)), 200);
    const auto lines = straight.found();
    ASSERT_TRUE(lines) << seed;
    const double found = cost(straight.constraints, *lines);
    EXPECT_LT(found, 1.01 * least_cost(straight, *lines)) << seed;
  }
}

TEST(CentreLines, are_the_truth_where_latencies_are_the_same_both_ways) {
  const Straight straight(3, 4, 20'000);
  const auto lines = straight.found();
  ASSERT_TRUE(lines);
  for (const double truth : {0.0, 0.5 * k_span, 1.0 * k_span}) {
    const auto error = [&](std::uint32_t c) {
      const std::int64_t time = straight.reading(c, truth);
      return static_cast<double>(time) + moved((*lines)[c], time);
    };
    for (std::uint32_t c = 1; c < 4; ++c) EXPECT_NEAR(error(c), error(0), 60) << c;
  }
}

TEST(CentreLines, of_a_clock_of_another_frequency_turn_no_other_clock) {
  Straight straight(4, 3, 0);
  straight.rates.assign(3, 0);
  for (int i = 0; i < 600; ++i) {
    const auto other = static_cast<std::uint32_t>(1 + i % 2);
    const double sent = k_span * (i + 0.5) / 600;
    for (const auto& [from, to] : {std::pair{0U, other}, {other, 0U}}) {
      const std::int64_t s = straight.reading(from, sent);
      const std::int64_t r = straight.reading(to, sent + straight.uniform(3'000, 9'000));
      straight.constraints.push_back({from, to, s, r, r - s});
    }
  }
  const std::vector<double> of_maps{0, 0, -0.04};  // the third one counts 4 % faster
  const auto lines = find_centre_lines(3, straight.constraints, of_maps, k_typical);
  ASSERT_TRUE(lines);
  EXPECT_LT(std::abs((*lines)[1].rate - (*lines)[0].rate) * k_span, 1'000);
}

TEST(CentreLines, do_not_exist_where_clocks_bend) {
  std::vector<constraints::ClockConstraint> constraints;
  for (std::int64_t t = 0; t < 1'000'000; t += 100'000) {
    // Clock 1 is 5,000 ticks ahead in the middle of the run.
    const std::int64_t ahead = t > 300'000 && t < 700'000 ? 5'000 : 0;
    constraints.push_back({0, 1, t, t + 100 + ahead, 100 + ahead});
    constraints.push_back({1, 0, t + 500 + ahead, t + 600, 100 - ahead});
  }
  const std::vector<double> rates(2, 0);
  EXPECT_FALSE(find_centre_lines(2, constraints, rates, k_typical));
}

TEST(CentreLines, clocks_that_bound_each_other_around_a_cycle_belong_together) {
  const std::vector<constraints::ClockConstraint> constraints{
      {0, 1, 0, 130, 130}, {1, 2, 200, 170, -30}, {2, 0, 300, 500, 200}, {0, 3, 400, 410, 10}};
  const std::vector<double> rates(4, 0);
  const auto lines = find_centre_lines(4, constraints, rates, k_typical);
  ASSERT_TRUE(lines);
  EXPECT_EQ((*lines)[1].component, 0u);
  EXPECT_EQ((*lines)[2].component, 0u);
  EXPECT_EQ((*lines)[3].component, 3u);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(slack_of(constraints[i], *lines), 100, 2);
}

/// Messages of 10 ticks there and back, ten times in 1,000 ticks.
std::vector<constraints::ClockConstraint> a_short_exchange() {
  std::vector<constraints::ClockConstraint> constraints;
  for (std::int64_t t = 0; t < 1'000; t += 100) {
    constraints.push_back({0, 1, t, t + 10, 10});
    constraints.push_back({1, 0, t + 50, t + 60, 10});
  }
  // The last ones allow a line that goes up by 10,000 ppm.
  constraints.push_back({0, 1, 1'000, 1'030, 30});
  return constraints;
}

TEST(CentreLines, few_messages_do_not_turn_a_clock) {
  const std::vector<double> rates(2, 0);
  const auto lines = find_centre_lines(2, a_short_exchange(), rates, k_typical);
  ASSERT_TRUE(lines);
  EXPECT_LT(std::abs((*lines)[1].rate), k_typical);
  EXPECT_LE(std::abs((*lines)[1].offset), 1);
}

TEST(CentreLines, rates_that_nothing_determines_are_those_of_stamps) {
  // The map of clock 1 is already 150 ppm too fast.
  const std::vector<double> rates{0, 1.5e-4};
  const auto lines = find_centre_lines(2, a_short_exchange(), rates, k_typical);
  ASSERT_TRUE(lines);
  EXPECT_NEAR((*lines)[1].rate, -1.5e-4, 1e-5);
}

TEST(CentreLines, nothing_is_known_without_edges) {
  const std::vector<double> rates(2, 0);
  const auto lines = find_centre_lines(2, {}, rates, k_typical);
  ASSERT_TRUE(lines);
  EXPECT_EQ((*lines)[1].component, 1u);
  EXPECT_EQ((*lines)[1].offset, 0);
}

}  // namespace
}  // namespace entrain::lines
