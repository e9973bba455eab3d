// SPDX-License-Identifier: BSD-3-Clause
#include "fit/active_set_selector.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace entrain::fit {
namespace {

constexpr std::int64_t k_anywhere_span = 1'000'000'000;

/// Constraints anywhere between some clocks.
struct Anywhere {
  explicit Anywhere(std::size_t count, std::uint64_t seed = 1) {
    RandomStream random(seed, 0);
    for (std::size_t i = 0; i < count; ++i) {
      ClockConstraint constraint;
      constraint.from = static_cast<std::uint32_t>(random.below(k_clocks));
      constraint.to = (constraint.from + 1) % k_clocks;
      constraint.from_time = static_cast<std::int64_t>(random.below(k_anywhere_span));
      constraint.to_time = constraint.from_time + static_cast<std::int64_t>(random.below(1000));
      constraint.slack = static_cast<std::int64_t>(random.below(1'000'000));
      constraints.push_back(constraint);
    }
    problem.clocks = k_clocks;
    problem.end = k_anywhere_span;
    problem.knots = 9;
    problem.constraints = constraints;
  }
  static std::vector<double> errors(RandomStream& random, double size) {
    std::vector<double> v(k_clocks * 9);
    for (double& x : v) x = random.uniform(-size, size);
    return v;
  }

  static constexpr std::uint32_t k_clocks = 6;
  std::vector<ClockConstraint> constraints;
  CausalProblem problem;
};

TEST(ConstraintTable, knows_every_constraint) {
  const Anywhere some(500);
  const ConstraintTable table(some.problem);
  RandomStream random(2, 0);
  const std::vector<double> v = Anywhere::errors(random, 1e6);
  const std::vector<float> rough(v.begin(), v.end());
  ASSERT_EQ(table.rows().size(), 500u);
  for (std::size_t i = 0; i < 500; ++i) {
    EXPECT_NEAR(static_cast<double>(table.rows()[i].excess(rough)),
                table.constraint_at(i).excess(v), 2);
  }
}

TEST(ActiveSetSelector, selects_until_none_is_violated) {
  const Anywhere some(20'000);
  const ConstraintTable table(some.problem);
  RandomStream random(3, 0);
  for (const double size : {1e6, 1e3, 3e5}) {
    const std::vector<double> v = Anywhere::errors(random, size);
    ActiveSetSelector selector(table);
    selector.begin();
    std::set<std::uint32_t> selected;
    for (std::vector<std::uint32_t> more = selector.select(v, 0); !more.empty();
         more = selector.select(v, 0)) {
      EXPECT_TRUE(std::is_sorted(more.begin(), more.end()));
      EXPECT_LE(more.size(), 2 * Anywhere::k_clocks * 9u);
      for (const std::uint32_t number : more) EXPECT_TRUE(selected.insert(number).second);
    }
    std::set<std::uint32_t> violated;
    double worst = 0;
    for (std::uint32_t i = 0; i < some.constraints.size(); ++i) {
      if (table.constraint_at(i).excess(v) > 0) violated.insert(i);
      worst = std::max(worst, table.constraint_at(i).excess(v));
    }
    EXPECT_EQ(selected, violated);
    EXPECT_EQ(selector.worst(v), worst);
  }
}

TEST(ActiveSetSelector, misses_none_as_unknowns_move) {
  const Anywhere some(5'000);
  const ConstraintTable table(some.problem);
  ActiveSetSelector moving(table);
  moving.begin();
  RandomStream random(4, 0);
  std::vector<double> v(Anywhere::k_clocks * 9, 0.0);
  for (int round = 0; round < 60; ++round) {
    const double size = std::pow(10.0, random.uniform(0, 6));
    const std::vector<double> step = Anywhere::errors(random, size);
    for (std::size_t i = 0; i < v.size(); ++i) v[i] += step[i];
    ActiveSetSelector fresh(table);
    EXPECT_EQ(moving.worst(v), fresh.worst(v));
  }
}

TEST(ActiveSetSelector, misses_none_after_it_has_looked_further_than_needed) {
  const Anywhere some(20'000);
  const ConstraintTable table(some.problem);
  ActiveSetSelector selector(table);
  RandomStream random(6, 0);
  std::vector<double> v = Anywhere::errors(random, 3e5);
  for (const double reach : {1e7, 1e5, 1e6}) {
    selector.begin();
    EXPECT_FALSE(selector.select(v, reach).empty());
    for (const double size : {1e2, 1e3, 1e1, 1e5, 1e4, 1e5}) {
      const std::vector<double> step = Anywhere::errors(random, size);
      for (std::size_t i = 0; i < v.size(); ++i) v[i] += step[i];
      ActiveSetSelector fresh(table);
      EXPECT_EQ(selector.worst(v), fresh.worst(v)) << reach << " " << size;
    }
  }
}

TEST(ActiveSetSelector, the_tightest_come_first) {
  Anywhere some(0);
  for (const std::int64_t slack : {-5, -50, 7}) {
    ClockConstraint constraint;
    constraint.to = 1;
    constraint.slack = slack;
    some.constraints.push_back(constraint);
  }
  some.problem.constraints = some.constraints;
  const ConstraintTable table(some.problem);
  ActiveSetSelector selector(table);
  selector.begin();
  const std::vector<double> v(Anywhere::k_clocks * 9, 0.0);
  EXPECT_EQ(selector.select(v, 0), std::vector<std::uint32_t>{1});
  EXPECT_EQ(selector.select(v, 0), std::vector<std::uint32_t>{0});
  EXPECT_TRUE(selector.select(v, 0).empty());
  EXPECT_EQ(selector.select(v, 8), std::vector<std::uint32_t>{2});
}

TEST(ActiveSetSelector, threads_select_the_same) {
  Anywhere some(200'000);
  const ConstraintTable one_table(some.problem);
  CausalProblem by_three = some.problem;
  by_three.threads = 3;
  const ConstraintTable three_table(by_three);
  ActiveSetSelector one(one_table), three(three_table);
  one.begin();
  three.begin();
  RandomStream random(5, 0);
  const std::vector<double> v = Anywhere::errors(random, 1e5);
  EXPECT_EQ(one.select(v, 1000), three.select(v, 1000));
}

}  // namespace
}  // namespace entrain::fit
