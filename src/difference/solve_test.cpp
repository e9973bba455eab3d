// SPDX-License-Identifier: BSD-3-Clause
#include "difference/solve.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "base/random.hpp"
#include "difference/oracle_testing.hpp"

namespace entrain::difference {
namespace {

constexpr Exact operator""_ticks(unsigned long long ticks) { return Exact{ticks} * k_tick; }

/// Constraints and what their spans refer to.
struct Instanced {
  std::vector<ClockLimits> clocks;
  std::vector<Edge> edges{};
  std::vector<Session> sessions{};
  std::vector<std::vector<Event>> members{};  ///< begins, ends, begins, ends, ...
  std::vector<std::int64_t> delays{};         ///< delay of every instance
  std::vector<std::int64_t> offsets{};
  std::vector<Instance> instances{};

  [[nodiscard]] Constraints view() {
    instances.clear();
    for (std::size_t i = 0; i < delays.size(); ++i) {
      instances.push_back({members[2 * i], members[2 * i + 1], delays[i]});
    }
    return {.clocks = clocks,
            .reference = 0,
            .edges = edges,
            .sessions = sessions,
            .instances = instances,
            .offsets = offsets};
  }
};

TEST(Solve, a_message_each_way_bounds_an_error) {
  // Clock 1 may change its error by 1 % of the time. It receives at 60 what left at 40, and what it
  // sends at 30 arrives at 45; 2 ticks at least.
  Instanced given{.clocks = {{}, {.rate = RateRange::within(10'000'000)}},
                  .edges = {{{0, 40}, {1, 60}, 2}, {{1, 30}, {0, 45}, 2}}};
  const Constraints constraints = given.view();
  const System system(constraints);
  Effort effort;
  const auto bounds = find_bounds(system, effort);
  ASSERT_TRUE(bounds);
  const Node sent = *system.find({1, 30}), received = *system.find({1, 60});
  EXPECT_TRUE(bounds->upper[sent] == 13_ticks);
  EXPECT_TRUE(bounds->lower[received] == -18_ticks);
  EXPECT_EQ(ceil_ticks(bounds->upper[received]), 14);  // 13.3
  EXPECT_EQ(floor_ticks(bounds->lower[sent]), -19);    // -18.3
}

TEST(Solve, a_contradiction_names_its_cycle) {
  Instanced given{.clocks = {{}, {}}, .edges = {{{0, 100}, {1, 90}, 0}, {{1, 95}, {0, 90}, 0}}};
  const Constraints constraints = given.view();
  const System system(constraints);
  Effort effort;
  const auto bounds = find_bounds(system, effort);
  ASSERT_FALSE(bounds);
  const Certificate& certificate = bounds.error().certificate.value();
  EXPECT_TRUE(certificate.length == -15_ticks);
  ASSERT_EQ(certificate.steps.size(), 3u);  // two messages, and from 90 to 95 on clock 1
  EXPECT_EQ(certificate.rate_ticks, 5);
}

TEST(Solve, a_search_ends_with_its_effort) {
  Instanced given{.clocks = {{}, {}}, .edges = {{{0, 100}, {1, 90}, 0}, {{1, 95}, {0, 190}, 0}}};
  const Constraints constraints = given.view();
  Effort effort{.most = 1};
  const auto bounds = find_bounds(System(constraints), effort);
  ASSERT_FALSE(bounds);
  EXPECT_FALSE(bounds.error().certificate);
}

/// Every clock of a chain hands on what it lacks, at times that go to and fro.
TEST(Solve, paths_that_turn_at_each_clock_take_few_steps) {
  constexpr std::uint32_t k_clocks = 20'000;
  Instanced given{.clocks =
                      std::vector<ClockLimits>(k_clocks, {.rate = RateRange::within(10'000)})};
  for (std::uint32_t c = 1; c < k_clocks; ++c) {
    given.edges.push_back({{c - 1, 100 + c}, {c, c}, 0});
  }
  const Constraints constraints = given.view();
  const System system(constraints);
  Effort effort{.most = 100 * std::uint64_t{system.nodes()}};
  const auto least = least_above(system, Values(system.nodes(), 0), effort);
  ASSERT_TRUE(least);
  EXPECT_GE(ceil_ticks((*least)[*system.find({k_clocks - 1, k_clocks - 1})]), 99 * k_clocks);
}

/// Limits the mean rates of some clocks over their lives.
void add_mean_limits(Instanced& given, RandomStream& random) {
  std::map<std::uint32_t, std::vector<std::int64_t>> stamps;
  for (const Edge& edge : given.edges) {
    for (const Event& event : {edge.cause, edge.effect}) stamps[event.clock].push_back(event.stamp);
  }
  for (const auto& [clock, own] : stamps) {
    if (random.below(3) != 0) continue;
    const auto rate = [&] { return static_cast<std::int64_t>(random.below(20'000'000)); };
    const auto [first, last] = std::ranges::minmax(own);
    given.clocks[clock].mean = MeanLimit{.rates = {-rate(), rate()},
                                         .first = first,
                                         .last = last,
                                         .slack_ticks = static_cast<std::int64_t>(random.below(5))};
  }
}

/// A random system of a few clocks. `strict`: limits so narrow that about half of the systems have
/// no solution.
Instanced random_system(RandomStream& random, bool strict) {
  Instanced result;
  const std::uint64_t clocks = 2 + random.below(4);
  std::vector<std::int64_t> truth;  // errors of straight clocks at 0
  for (std::uint64_t c = 0; c < clocks; ++c) {
    const auto rate = [&] { return static_cast<std::int64_t>(random.below(4) * 10'000'000); };
    result.clocks.push_back({.rate = {-rate(), rate()}});
    truth.push_back(c == 0 ? 0 : static_cast<std::int64_t>(random.below(400)) - 200);
    result.offsets.push_back(random.below(2) == 0 ? 0 : truth.back());
  }
  const auto event = [&](std::int64_t time) {
    const auto clock = static_cast<std::uint32_t>(random.below(clocks));
    const auto noise = strict ? static_cast<std::int64_t>(random.below(61)) - 30 : 0;
    return Event{clock, 1'000 + time - truth[clock] + noise};
  };
  const auto time = [&] { return static_cast<std::int64_t>(random.below(1'000)); };
  for (std::uint64_t n = 1 + random.below(24); n > 0; --n) {
    const std::int64_t sent = time();
    const auto delay = static_cast<std::int64_t>(random.below(3));
    const auto extra = static_cast<std::int64_t>(random.below(20));
    result.edges.push_back({event(sent), event(sent + delay + extra), delay});
  }
  for (std::uint64_t n = random.below(3); n > 0; --n) {
    const Event at = event(time());
    const std::int64_t error = truth[at.clock];
    result.sessions.push_back({at, error - static_cast<std::int64_t>(random.below(9)),
                               error + static_cast<std::int64_t>(random.below(9))});
  }
  for (std::uint64_t n = random.below(3); n > 0; --n) {
    const std::int64_t middle = time();
    std::vector<Event> begins, ends;
    for (std::uint64_t m = random.below(5); m > 0; --m) {
      begins.push_back(event(middle - static_cast<std::int64_t>(random.below(20))));
    }
    for (std::uint64_t m = random.below(5); m > 0; --m) {
      ends.push_back(event(middle + 3 + static_cast<std::int64_t>(random.below(20))));
    }
    result.members.push_back(std::move(begins));
    result.members.push_back(std::move(ends));
    result.delays.push_back(static_cast<std::int64_t>(random.below(4)));
  }
  add_mean_limits(result, random);
  return result;
}

/// A certificate proves itself: its constraints are there, and their sum is below 0.
void expect_proof(const Certificate& certificate) {
  ASSERT_FALSE(certificate.steps.empty());
  Exact sum = 0;
  for (std::size_t i = 0; i < certificate.steps.size(); ++i) {
    const Certificate::Step& step = certificate.steps[i];
    EXPECT_EQ(step.to, certificate.steps[(i + 1) % certificate.steps.size()].from);
    EXPECT_TRUE(step.length < k_unbounded);
    sum += step.length;
  }
  EXPECT_TRUE(sum == certificate.length);
  EXPECT_TRUE(sum < 0);
}

void expect_bounds(const System& system, const Bounds& bounds, const Oracle& oracle) {
  for (const auto& [event, index] : oracle.events()) {
    const Node node = system.find(event).value();
    const Exact upper = oracle.upper(event), lower = oracle.lower(event);
    EXPECT_TRUE(is_unbounded(upper) ? is_unbounded(bounds.upper[node])
                                    : bounds.upper[node] == upper);
    EXPECT_TRUE(is_unbounded(lower) ? is_unbounded(bounds.lower[node])
                                    : bounds.lower[node] == lower);
  }
}

void expect_projection(const System& system, const Bounds& bounds, const Oracle& oracle,
                       RandomStream& random) {
  Values estimate(system.nodes(), 0);
  for (Node node = 1; node < system.stamped(); ++node) {
    estimate[node] = (Exact{static_cast<std::int64_t>(random.below(600))} - 300) * k_tick;
  }
  std::map<Event, Exact> clipped;
  for (const auto& [event, index] : oracle.events()) {
    const Node node = system.find(event).value();
    clipped[event] = std::clamp(estimate[node], bounds.lower[node], bounds.upper[node]);
  }
  Effort effort;
  const auto projected = project(system, bounds, estimate, effort);
  ASSERT_TRUE(projected);
  EXPECT_TRUE((*projected)[0] == 0);
  for (const auto& [event, index] : oracle.events()) {
    const Exact expected =
        floor_div(oracle.greatest_below(clipped, event) + oracle.least_above(clipped, event), 2);
    EXPECT_TRUE((*projected)[system.find(event).value()] == expected);
  }
  // What is a solution stays as it is.
  const auto again = project(system, bounds, *projected, effort);
  ASSERT_TRUE(again);
  for (Node node = 0; node < system.stamped(); ++node) {
    const Exact moved = (*again)[node] - (*projected)[node];
    EXPECT_TRUE(moved >= -1 && moved <= 1);  // floors of halves
  }
}

TEST(Solve, equals_all_pairs_of_stamps_and_all_paths) {
  int feasible = 0;
  constexpr int k_systems = 10'000;
  for (int n = 0; n < k_systems; ++n) {
    SCOPED_TRACE(n);
    RandomStream random(17, static_cast<std::uint64_t>(n));
    Instanced given = random_system(random, n % 2 == 1);
    const Constraints constraints = given.view();
    const Oracle oracle(constraints);
    const System system(constraints);
    Effort effort;
    const auto bounds = find_bounds(system, effort);
    ASSERT_EQ(bounds.has_value(), oracle.feasible());
    if (bounds) {
      ++feasible;
      expect_bounds(system, *bounds, oracle);
      expect_projection(system, *bounds, oracle, random);
    } else {
      expect_proof(bounds.error().certificate.value());
    }
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(feasible, k_systems / 4);
  EXPECT_LT(feasible, k_systems - k_systems / 10);
}

TEST(Solve, the_least_rate_is_the_least_one) {
  int raised = 0;
  for (std::uint64_t n = 0; n < 2'000; ++n) {
    SCOPED_TRACE(n);
    RandomStream random(18, n);
    Instanced given = random_system(random, true);
    const Constraints constraints = given.view();
    System system(constraints);
    Effort effort;
    const auto least = set_least_rate(system, effort);
    const auto feasible_at = [&](std::int64_t ppb) {
      std::vector<ClockLimits> limits = given.clocks;
      for (ClockLimits& clock : limits) clock.rate = RateRange::within(ppb);
      Constraints changed = constraints;
      changed.clocks = limits;
      return Oracle(changed).feasible();
    };
    if (!least) {
      EXPECT_FALSE(feasible_at(std::int64_t{1} << 40));
      expect_proof(least.error().certificate.value());
      continue;
    }
    const std::int64_t rate = least->ppb;
    EXPECT_TRUE(feasible_at(rate));
    if (rate > 0) {
      ++raised;
      EXPECT_FALSE(feasible_at(rate - 1));
    }
  }
  EXPECT_GT(raised, 100);
}

/// Pairs of clocks that contradict themselves, chained by messages that do not.
TEST(Solve, a_search_may_go_on_after_the_first_cycles) {
  constexpr std::uint32_t k_pairs = 40;
  std::vector<ClockLimits> clocks(2 * k_pairs, {.rate = RateRange::within(1'000)});
  std::vector<Edge> edges;
  for (std::uint32_t p = 0; p < k_pairs; ++p) {
    // Pair p needs p + 1 rounds of its cycle to be lower than what the chain demands.
    edges.push_back({{2 * p, 1'000'000 * p}, {2 * p + 1, 1'000'000 * p + 100}, 0});
    edges.push_back({{2 * p + 1, 1'000'000 * p + 100}, {2 * p, 1'000'000 * p}, 1});
    if (p > 0) edges.push_back({{2 * p - 1, 1'000'000 * p - 500'000}, {2 * p, 1'000'000 * p}, 0});
  }
  const System system({.clocks = clocks, .reference = 0, .edges = edges});
  Effort effort{.more_cycles = true};
  const auto solved = greatest_below(system, Values(system.nodes(), 0), effort);
  ASSERT_FALSE(solved);
  ASSERT_TRUE(solved.error().certificate);
  std::set<Node> nodes;
  std::size_t steps = 0;
  const auto check = [&](const Certificate& cycle) {
    EXPECT_LT(cycle.length, 0);
    Exact length = 0;
    for (const Certificate::Step& step : cycle.steps) {
      length += step.length;
      nodes.insert(step.to);
      ++steps;
    }
    EXPECT_EQ(length, cycle.length);
  };
  check(*solved.error().certificate);
  std::ranges::for_each(solved.error().more, check);
  EXPECT_EQ(nodes.size(), steps) << "cycles have no node in common";
  EXPECT_EQ(solved.error().more.size() + 1, k_pairs);
}

}  // namespace
}  // namespace entrain::difference
