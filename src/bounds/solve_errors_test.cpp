// SPDX-License-Identifier: BSD-3-Clause
#include "bounds/solve_errors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "bounds/prove.hpp"
#include "causal/random_clocks_testing.hpp"

namespace entrain::bounds {
namespace {

using causal::testing::RandomClocks;
using difference::Exact;
using difference::k_tick;
using ::testing::ElementsAre;

/// Messages both ways between two clocks at 50 and at 100'050, which take `way` by the lines; the
/// second pair shows clock 1 later by `later`.
ErrorProblem two_exchanges(std::int64_t way, std::int64_t later) {
  ErrorProblem problem{.clocks = 2, .reference = 0, .begin = 0, .edges = {}, .lives = {}};
  for (const std::int64_t at : {0, 100'000}) {
    const std::int64_t moved = at == 0 ? 0 : later;
    problem.edges.push_back({{0, at + 50}, {1, at + 50 + way + moved}, 0});
    problem.edges.push_back({{1, at + 50 + moved}, {0, at + 50 + way}, 0});
  }
  problem.lives = {{0, 200'000}, {0, 200'000}};
  return problem;
}

TEST(FindErrorBounds, are_what_messages_and_rates_leave) {
  const auto errors = find_error_bounds(two_exchanges(10, 0), {100'000, {}});
  ASSERT_TRUE(errors);
  // A message each way takes 10: its error is in [-10, 10]. 100 ppm of 49'950 are 5.
  const Interval there = (*errors)[1].interval(60), between = (*errors)[1].interval(50'050);
  EXPECT_EQ(there.upper, 10);
  EXPECT_EQ((*errors)[1].interval(50).lower, -10);
  EXPECT_EQ(between.upper, 15);
  EXPECT_EQ((*errors)[0].interval(7).width(), 0) << "the reference";
}

TEST(LeastWander, is_told_with_what_shows_it) {
  const ErrorProblem problem = two_exchanges(10, 120);
  const std::vector<RateRange> no_means{{0, 0}, {0, 0}}, all{{0, 0}, RateRange::within(k_ppb / 10)};
  const auto least = find_least_limit(problem, no_means, {}, std::vector<std::int64_t>{0, 0});
  ASSERT_TRUE(least);
  EXPECT_NEAR(static_cast<double>(least->ppb), 1'000'000, 20'000);
  EXPECT_THAT(least->shown.clocks, ElementsAre(0, 1));
  EXPECT_LE(least->shown.begin, 60);
  EXPECT_GE(least->shown.end, 100'000);
  // A clock that is fast all the time does not wander.
  const auto straight = find_least_limit(problem, all, {}, std::vector<std::int64_t>{0, 0});
  ASSERT_TRUE(straight);
  EXPECT_LE(straight->ppb, 2);
  EXPECT_GE(straight->means[1], 1'000'000 - 20'000);
  const auto wider = find_least_limit(problem, no_means, 0, std::vector<std::int64_t>{0, 0});
  EXPECT_FALSE(wider) << "ranges of one rate stay";
}

TEST(LeastWander, is_none_where_times_contradict_each_other) {
  const std::vector<RateRange> all{{0, 0}, RateRange::within(k_ppb / 10)};
  const auto least =
      find_least_limit(two_exchanges(-1, 0), all, {}, std::vector<std::int64_t>{0, 0});
  ASSERT_FALSE(least);
  EXPECT_TRUE(least.error().is_certain);
}

TEST(LeastWander, that_known_cycles_forbid_has_no_time) {
  const std::vector<RateRange> none{{0, 0}, {0, 0}};
  const std::vector<std::int64_t> near{0, 0};
  std::vector<difference::Cycle> known;
  const ErrorProblem problem = two_exchanges(10, 20'000'000);  // faster than any clock
  ASSERT_FALSE(find_least_limit(problem, none, {}, near, &known));
  const auto again = find_least_limit(problem, none, {}, near, &known);
  ASSERT_FALSE(again);
  EXPECT_TRUE(again.error().is_certain);
  EXPECT_EQ(again.error().begin, 0);
  EXPECT_EQ(again.error().end, 0);
}

TEST(NarrowLimits, find_the_mean_rate_from_bounds) {
  // 10 ppm of wander; the line may be wrong by 1000 ppm, but errors move by 20 in 100'000.
  const auto narrowed =
      narrow_limits(two_exchanges(10, 0), {{10'000, {{0, 0}, {-1'000'000, 1'000'000}}}, {}},
                    [](const ErrorBounds&) { return false; });
  ASSERT_TRUE(narrowed);
  EXPECT_LT(narrowed->limits.mean[1].upper_ppb, 250'000);
  EXPECT_GE(narrowed->limits.mean[1].upper_ppb, 200'000);
  EXPECT_LT(narrowed->errors[1].interval(0).upper, 12);
}

TEST(NarrowLimits, wander_averages_out_over_a_life) {
  // 100 ppm of wander, and mean rates up to 20 ppm. An exchange at the end of a life of a million.
  ErrorProblem problem{.clocks = 2, .reference = 0, .begin = 0, .edges = {}, .lives = {}};
  problem.edges = {{{0, 999'990}, {1, 1'000'000}, 0}, {{1, 999'990}, {0, 1'000'000}, 0}};
  problem.lives = {{0, 1'000'000}, {0, 1'000'000}};
  problem.is_mean_given = true;
  const auto narrowed = narrow_limits(problem, {{100'000, {{0, 0}, {-20'000, 20'000}}}, {}},
                                      [](const ErrorBounds&) { return false; });
  ASSERT_TRUE(narrowed);
  // 10 by the exchange, 20 by the mean rate; the rate alone would allow 120 of wander.
  EXPECT_LE(narrowed->errors[1].interval(0).upper, 10 + 20 + 4);
  EXPECT_GE(narrowed->errors[1].interval(0).upper, 10 + 20);
  EXPECT_GE(narrowed->errors[1].interval(0).lower, -10 - 20 - 4);
}

/// All pairs of a trace as constraints on errors, loosened as the proof loosens them.
std::vector<difference::Edge> pairs_of(const RandomClocks& clocks, const ProvenIntervals& proven) {
  std::vector<difference::Edge> pairs = clocks.pairs();
  for (difference::Edge& pair : pairs) {
    for (difference::Event* event : {&pair.cause, &pair.effect}) {
      event->stamp =
          proven.lines[event->clock](static_cast<std::uint64_t>(event->stamp)) - proven.begin;
      pair.delay -= proven.quantum[event->clock];
    }
  }
  return pairs;
}

/// How proofs compare with shortest paths over all pairs.
struct Compared {
  std::size_t proved = 0, tied = 0, contradicted = 0;

  /// `lives`: the trace if its limit on mean rates is given, else null.
  void compare(const ProvenIntervals& proven, const std::vector<difference::Edge>& pairs,
               const trace::Trace* lives) {
    if (proven.lines.empty() || proven.width <= 1) return;
    std::vector<difference::ClockLimits> limits(proven.lines.size(),
                                                {.rate = RateRange::within(k_most_rate_ppb)});
    const std::uint32_t reference = proven.clock_of[proven.reference];
    if (!proven.about.reason.empty()) {
      ++contradicted;
      EXPECT_FALSE(
          difference::Oracle({.clocks = limits, .reference = reference, .edges = pairs}).feasible())
          << proven.about.reason;
      return;
    }
    ++proved;
    std::vector<difference::ClockLimits> rates = limits;
    for (std::uint32_t c = 0; c < limits.size(); ++c) {
      const RateRange& rate = proven.errors[c].rate();
      limits[c].rate = rates[c].rate = {-rate.upper_ppb, -rate.lower_ppb};
    }
    const difference::Constraints constraints{
        .clocks = rates, .reference = reference, .edges = pairs};
    const difference::Oracle oracle(constraints);
    ASSERT_TRUE(oracle.feasible());
    if (lives != nullptr) limit_means(proven, *lives, limits);
    difference::Constraints tighter = constraints;
    tighter.clocks = limits;
    const difference::Oracle over_lives(tighter);
    ASSERT_TRUE(over_lives.feasible());
    for (const auto& [event, index] : oracle.events()) {
      if (index == 0) continue;
      compare(proven, event, {-oracle.upper(event), -oracle.lower(event)},
              {-over_lives.upper(event), -over_lives.lower(event)});
    }
  }

 private:
  struct Range {
    Exact lower = 0, upper = 0;
  };

  /// Limits changes over lives to the mean rates that the proof leaves in the end. It may have used
  /// larger ones.
  static void limit_means(const ProvenIntervals& proven, const trace::Trace& trace,
                          std::vector<difference::ClockLimits>& limits) {
    std::map<std::uint32_t, Lifetime> lives;
    for (LocationIndex l = 0; l < trace.locations.size(); ++l) {
      const std::uint32_t c = proven.clock_of[l];
      const trace::LocationSkeleton& stamps = trace.locations[l];
      if (c == proven.clock_of[proven.reference] || stamps.event_count == 0) continue;
      const std::int64_t first = proven.lines[c](stamps.first) - proven.begin;
      const std::int64_t last = proven.lines[c](stamps.last) - proven.begin;
      Lifetime& life = lives.try_emplace(c, Lifetime{first, last}).first->second;
      life = {std::min(life.first, first), std::max(life.last, last)};
    }
    for (const auto& [c, life] : lives) {
      if (proven.limits.mean.empty() || life.first >= life.last) continue;
      const RateRange& mean = proven.limits.mean[c];
      limits[c].mean = difference::MeanLimit{.rates = {-mean.upper_ppb, -mean.lower_ppb},
                                             .first = life.first,
                                             .last = life.last,
                                             .slack_ticks = 2};
    }
  }

  /// `rates`: by limits on rates alone; `all`: also by changes over lives.
  void compare(const ProvenIntervals& proven, const difference::Event& event, const Range& rates,
               const Range& all) {
    const auto found = proven.errors[event.clock].at(proven.begin + event.stamp);
    ASSERT_EQ(difference::is_unbounded(rates.upper), difference::is_unbounded(found.upper));
    ASSERT_EQ(difference::is_unbounded(rates.lower), difference::is_unbounded(found.lower));
    if (difference::is_unbounded(rates.upper) || difference::is_unbounded(rates.lower)) return;
    ++tied;
    ASSERT_TRUE(found.upper >= all.upper && found.upper <= rates.upper + 2 * k_tick);
    ASSERT_TRUE(found.lower <= all.lower && found.lower >= rates.lower - 2 * k_tick);
  }
};

/// Bounds are the shortest paths over all pairs, though few of these are constraints.
TEST(ProveIntervals, equal_the_shortest_paths_of_10000_random_traces) {
  Compared compared;
  for (std::uint64_t seed = 0; seed < 10'000 && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    RandomClocks clocks(seed);
    clocks::Presynchronised presync;
    presync.method = PresyncMethod::causal;
    presync.maps = clocks.estimate();
    const auto proven = prove_intervals(clocks.context(), clocks.domains(), presync, {});
    ASSERT_TRUE(proven) << proven.error().message;
    compared.compare(*proven, pairs_of(clocks, *proven), nullptr);
  }
  EXPECT_GT(compared.proved, 8'000);
  EXPECT_GT(compared.contradicted, 5);
  EXPECT_GT(compared.tied, 50'000);
}

/// A measurement of a clock against the first one: this showed `shown`, give or take `half_width`.
struct Measured {
  LocationIndex location = 0;
  std::uint64_t local = 0, shown = 0;
  std::int64_t half_width = 0;
};

/// Random measurements of the clocks of a trace whose maps are about right.
std::vector<Measured> measurements_of(const trace::Trace& trace, std::span<const ClockMap> maps,
                                      RandomStream& random) {
  std::vector<Measured> all;
  for (LocationIndex l = 1; l < trace.locations.size(); ++l) {
    const trace::LocationSkeleton& location = trace.locations[l];
    if (location.event_count == 0) continue;
    for (std::uint64_t n = random.below(3); n > 0; --n) {
      const std::uint64_t local = location.first + random.below(location.last - location.first + 1);
      const std::int64_t of_first = maps[0](local) - static_cast<std::int64_t>(local);
      all.push_back({l, local, static_cast<std::uint64_t>(maps[l](local) - of_first),
                     200 + static_cast<std::int64_t>(random.below(3'000))});
    }
  }
  return all;
}

/// Both constraints that a measurement makes, loosened as the proof loosens them.
void add_pairs(const ProvenIntervals& proven, const Measured& measured,
               std::vector<difference::Edge>& pairs) {
  const std::uint32_t first = proven.clock_of[0], other = proven.clock_of[measured.location];
  if (first == other) return;
  const difference::Event a{first, proven.lines[first](measured.shown) - proven.begin};
  const difference::Event b{other, proven.lines[other](measured.local) - proven.begin};
  const std::int64_t reach = measured.half_width + measured.half_width / 1'000 + 1 +
                             proven.quantum[first] + proven.quantum[other];
  pairs.push_back({a, b, -reach});
  pairs.push_back({b, a, -reach});
}

TEST(ProveIntervals, equal_the_shortest_paths_with_sessions_and_given_limits) {
  Compared compared;
  std::uint64_t sessions = 0;
  Solo solo;
  for (std::uint64_t seed = 0; seed < 3'000 && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    RandomClocks clocks(seed);
    RandomStream random(seed, 7);
    clocks::Presynchronised presync;
    presync.method = PresyncMethod::causal;
    presync.maps = clocks.estimate();
    trace::Trace trace = clocks.context().trace();
    if (trace.locations[0].event_count == 0) continue;
    trace.locations[0].clock_offsets = {{trace.locations[0].first, 0, 0}};
    const auto measured = measurements_of(trace, presync.maps, random);
    for (const Measured& one : measured) {
      trace.locations[one.location].clock_offsets.push_back(
          {one.local, static_cast<std::int64_t>(one.shown - one.local),
           static_cast<double>(one.half_width)});
    }
    constraints::Context context{.share = {solo, clocks.context().share.partition, trace},
                                 .graph = clocks.context().graph,
                                 .mu = clocks.context().mu};
    context.prior.mean_ppb = random.below(2) == 0 ? 500'000 : 600'000;  // wall clocks, timers
    context.prior.mean_given = random.below(2) == 0;
    BoundsOption option;
    if (random.below(2) == 0) option.max_rate_ppm = static_cast<double>(1 + random.below(300));
    const auto proven = prove_intervals(context, clocks.domains(), presync, option);
    if (!proven) continue;  // the given limit is too small
    ASSERT_EQ(proven->reference, 0u);
    sessions += proven->about.sessions;
    if (proven->lines.empty() || proven->width <= 1) continue;
    std::vector<difference::Edge> pairs = pairs_of(clocks, *proven);
    for (const Measured& one : measured) add_pairs(*proven, one, pairs);
    compared.compare(*proven, pairs, context.prior.mean_given ? &trace : nullptr);
  }
  EXPECT_GT(compared.proved, 1'500);
  EXPECT_GT(compared.contradicted, 5);
  EXPECT_GT(compared.tied, 10'000);
  EXPECT_GT(sessions, 3'000);
}

/// Bounds do not depend on how good the lines are that errors are measured against: they are as
/// narrow as those of stamps under the sum of both limits on rates.
TEST(ProveIntervals, are_as_narrow_as_limits_on_stamps_make_them) {
  constexpr std::int64_t k_mean_ppb = 600'000, k_wander_ppb = 10'000;
  std::vector<double> ratios;
  for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
    RandomClocks clocks(seed);
    clocks::Presynchronised presync;
    presync.method = PresyncMethod::causal;
    presync.maps = clocks.estimate();
    constraints::Context context = clocks.context();
    context.prior.limited = true;
    context.prior.mean_ppb = k_mean_ppb;
    BoundsOption option;
    option.max_rate_ppm = static_cast<double>(k_wander_ppb) / 1e3;
    const auto proven = prove_intervals(context, clocks.domains(), presync, option);
    if (!proven || !proven->about.reason.empty() || proven->about.least_mean_rate_ppm) continue;
    const std::vector<difference::ClockLimits> limits(
        proven->lines.size(), {.rate = RateRange::within(k_mean_ppb + k_wander_ppb)});
    std::vector<difference::Edge> pairs = clocks.pairs();
    for (difference::Edge& pair : pairs) {
      pair.delay -= proven->quantum[pair.cause.clock] + proven->quantum[pair.effect.clock];
    }
    const difference::Constraints constraints{
        .clocks = limits, .reference = proven->clock_of[proven->reference], .edges = pairs};
    const difference::Oracle oracle(constraints);
    if (!oracle.feasible()) continue;
    for (const auto& [event, index] : oracle.events()) {
      const Exact widest = oracle.upper(event) - oracle.lower(event);
      if (index == 0 || difference::is_unbounded(oracle.upper(event)) ||
          difference::is_unbounded(oracle.lower(event))) {
        continue;
      }
      const auto stamp = static_cast<std::uint64_t>(event.stamp);
      const auto found = proven->errors[event.clock].at(proven->lines[event.clock](stamp));
      const Exact rounding = 8 * k_tick;  // of times along lines
      ratios.push_back(static_cast<double>(found.upper - found.lower - rounding) /
                       static_cast<double>(std::max<Exact>(widest, k_tick)));
      EXPECT_LE(ratios.back(), 1.05) << seed << " clock " << event.clock << " at " << event.stamp;
    }
  }
  ASSERT_GT(ratios.size(), 3'000u);
  std::ranges::sort(ratios);
  EXPECT_LE(ratios[ratios.size() / 2], 1);
}

}  // namespace
}  // namespace entrain::bounds
