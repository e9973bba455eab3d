// SPDX-License-Identifier: BSD-3-Clause
#include "explain/explain.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/edge_list.hpp"
#include "base/random.hpp"
#include "difference/oracle_testing.hpp"
#include "explain/explained.hpp"

namespace entrain::explain {

void PrintTo(const Step& step, std::ostream* out) {
  *out << "clock " << step.clock << " from " << step.before << " to " << step.after;
}

namespace {

using difference::Edge;
using difference::Event;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Clocks within 1 %, the last one of which is the reference, which has no stamps.
struct Messages {
  std::vector<difference::ClockLimits> limits;
  std::vector<Edge> edges{};
  std::vector<std::vector<Event>> ends{};  ///< instances whose ends coincide within 5 ticks
  std::vector<Evidence> evidence{};        ///< evidence of edges
  bool are_timers = false, is_weak_guessed = false;
  bool is_limit_given = false, may_be_exchanged = false, are_apart = false;
  /// Constraints that are active at first, by an estimate that all clocks are right; 0: all are.
  std::size_t active = 0;

  explicit Messages(std::size_t clocks)
      : limits(clocks + 1, {.rate = difference::RateRange::within(10'000'000)}) {}

  void talk(std::uint32_t a, std::uint32_t b, std::int64_t at, std::int64_t ahead) {
    edges.push_back({{a, at}, {b, at + 10 + ahead}, 0});
    edges.push_back({{b, at + 5 + ahead}, {a, at + 15}, 0});
  }
  void exchange() {
    may_be_exchanged = true;
    for (Edge& edge : edges) std::swap(edge.cause, edge.effect);
  }
  void limit_rates(std::int64_t ppb) {
    for (difference::ClockLimits& one : limits) one.rate = difference::RateRange::within(ppb);
  }
  [[nodiscard]] Explanation explain(std::uint64_t most = UINT64_MAX) const {
    std::vector<difference::Instance> instances;
    for (const std::vector<Event>& one : ends) instances.push_back({one, one, -5});
    difference::Effort effort{.most = most};
    const auto found = entrain::explain::explain(
        {.clocks = limits,
         .reference = static_cast<std::uint32_t>(limits.size() - 1),
         .edges = edges,
         .instances = instances},
        {.edges = evidence,
         .are_timers = are_timers,
         .are_apart = are_apart,
         .is_weak_guessed = is_weak_guessed,
         .may_be_exchanged = may_be_exchanged,
         .is_limit_given = is_limit_given},
        effort, active == 0 ? Estimate() : [](Event) { return 0; }, active);
    Explanation stopped;
    stopped.bits = -1;
    return found.value_or(stopped);
  }
};

TEST(Explain, what_is_feasible_needs_no_explanation) {
  Messages run(2);
  run.talk(0, 1, 1'000, 300);
  run.talk(0, 1, 2'000, 305);
  const Explanation found = run.explain();
  EXPECT_EQ(found.bits, 0);
  EXPECT_THAT(found.steps, IsEmpty());
}

/// Clock 2 is right with both others before it was set, and afterwards.
TEST(Explain, a_clock_that_was_set) {
  for (const std::int64_t step : {500, -500}) {
    Messages run(3);
    for (std::int64_t t = 10'000; t < 20'000; t += 1'000) {
      const std::int64_t ahead = t < 15'000 ? 0 : step;
      run.talk(0, 2, t, ahead);
      run.talk(1, 2, t + 30, ahead);
      run.talk(0, 1, t + 60, 0);
    }
    const Explanation found = run.explain();
    EXPECT_EQ(found.bits, Prices::step);
    EXPECT_THAT(found.steps, ElementsAre(Step{2, 14'040, 15'005 + step}));
    EXPECT_THAT(found.edges, IsEmpty());
  }
}

TEST(Explain, a_pair_that_does_not_belong_together) {
  Messages run(2);
  for (std::int64_t t = 10'000; t < 20'000; t += 1'000) run.talk(0, 1, t, 0);
  run.edges.push_back({{0, 15'500}, {1, 14'500}, 0});
  const Explanation found = run.explain();
  EXPECT_EQ(found.bits, Prices::pair);
  EXPECT_THAT(found.edges, ElementsAre(20U));
}

/// A client that does not wait costs less to tell than a step, up to ten times.
TEST(Explain, weak_evidence_is_wrong_before_a_clock_was_set) {
  for (const std::int64_t late : {3, 20}) {
    Messages run(2);
    for (std::int64_t t = 10'000; t < 50'000; t += 1'000) run.talk(0, 1, t, 0);
    run.evidence.assign(run.edges.size(), Evidence::usual);
    for (std::int64_t t = 50'000 - 1'000 * late; t < 50'000; t += 1'000) {
      run.edges.push_back({{1, t + 900}, {0, t + 20}, 0});
      run.evidence.push_back(Evidence::weak);
    }
    const Explanation found = run.explain();
    if (late == 3) {
      EXPECT_EQ(found.bits, 3 * Prices::weak);
      EXPECT_THAT(found.edges, ElementsAre(80U, 81U, 82U));
    } else {
      EXPECT_GT(found.edges.size() + found.steps.size(), 0U);
      EXPECT_LE(found.bits, 20 * Prices::weak);
    }
  }
}

TEST(Explain, what_is_certain_stays) {
  Messages run(2);
  for (std::int64_t t = 10'000; t < 20'000; t += 1'000) run.talk(0, 1, t, 0);
  run.edges.push_back({{0, 15'500}, {1, 14'500}, 0});
  run.edges.push_back({{1, 14'500}, {0, 15'500}, 0});
  run.edges.push_back({{0, 15'600}, {1, 14'400}, 1});  // before what it follows
  run.evidence.assign(run.edges.size(), Evidence::certain);
  EXPECT_EQ(run.explain().bits, -1);
}

/// A single step over both would cost less, but no gap between stamps is so long.
TEST(Explain, a_clock_that_was_set_forward_twice) {
  Messages run(3);
  for (std::int64_t t = 10'000; t < 20'000; t += 100) {
    const std::int64_t ahead = t < 15'000 ? 0 : t < 15'500 ? 4'000 : 9'000;
    run.talk(0, 2, t, ahead);
    run.talk(1, 2, t + 30, ahead);
    run.talk(0, 1, t + 60, 0);
  }
  const Explanation found = run.explain();
  EXPECT_THAT(found.steps, ElementsAre(Step{2, 14'940, 19'005}, Step{2, 19'440, 24'505}));
  EXPECT_THAT(found.edges, IsEmpty());
}

/// Two wrong pairs are a circle of causes, which no step breaks where stamps are in order.
TEST(Explain, no_step_turns_events_around) {
  Messages run(2);
  for (std::int64_t t = 10'000; t < 30'000; t += 1'000) run.talk(0, 1, t, 0);
  for (const std::int64_t t : {12'000, 15'000, 18'000, 21'000, 24'000}) {
    run.edges.push_back({{0, t + 500}, {1, t - 500}, 0});
  }
  const Explanation found = run.explain();
  EXPECT_THAT(found.edges, ElementsAre(40U, 41U, 42U, 43U, 44U));
  EXPECT_THAT(found.steps, IsEmpty());
}

TEST(Explain, clocks_that_are_faster_than_assumed) {
  Messages run(2);
  run.limit_rates(1'000);
  for (std::int64_t t = 0; t < 10'000'000; t += 100'000) run.talk(0, 1, t, t / 2'000);
  const Explanation found = run.explain();
  ASSERT_TRUE(found.rate_ppb);
  EXPECT_NEAR(static_cast<double>(*found.rate_ppb), 250'000, 2'000);  // half of 500 ppm each
}

/// Messages both ways, of which some others imply, by clocks of which one may have been set.
TEST(Explain, edges_that_some_clocks_meet_are_not_explained_and_all_others_are) {
  int feasible = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    RandomStream random(seed, 3);
    Messages run(3);
    run.limit_rates(1'000);
    EdgeList list;
    for (std::uint64_t at = 1'000; at < 25'000; at += 1'000) {
      const auto from = static_cast<std::uint32_t>(random.below(3));
      const auto to = static_cast<std::uint32_t>((from + 1 + random.below(2)) % 3);
      const std::uint64_t set = at > 13'000 ? random.below(2) * (seed % 40) : 0;
      const std::uint64_t cause = at + (from == 2 ? set : 0);
      const std::uint64_t effect = at + random.below(50) + (to == 2 ? set : 0);
      list.add({from, cause}, {to, effect});
      run.edges.push_back(
          {{from, static_cast<std::int64_t>(cause)}, {to, static_cast<std::int64_t>(effect)}});
    }
    const difference::Oracle oracle({.clocks = run.limits, .reference = 3, .edges = run.edges});
    const Clocks clocks{.clocks = {{.name = "a"}, {.name = "b"}, {.name = "c"}}};
    const auto found = Explained::find(clocks, list.view(), {.rate_ppb = 1'000});
    ASSERT_EQ(found.has_value(), !oracle.feasible()) << seed;
    feasible += oracle.feasible() ? 1 : 0;
  }
  EXPECT_GT(feasible, 100);
  EXPECT_LT(feasible, 300);
}

/// No limit up to 10 % explains a counter that ticks half as fast again: hundreds of steps do.
TEST(Explain, a_clock_that_is_set_all_the_time_is_too_fast) {
  for (const std::uint64_t rate : {3, 2}) {
    EdgeList list;
    for (std::uint64_t k = 0, at = 0; k < 100; ++k, at += 1'000'000) {
      const std::uint64_t shown = rate == 3 ? at * 3 / 2 : at + (k < 50 ? 0 : 700'000);
      list.add({0, at}, {1, shown + 10});
      list.add({1, shown + 12}, {0, at + 20});
    }
    const Edges edges = list.view();
    const Clocks run{.clocks = {{.name = "a"}, {.name = "b"}}};
    const auto found = Explained::find(run, edges, {.rate_ppb = 1'000});
    ASSERT_TRUE(found);
    EXPECT_EQ(found->explanation().steps.size() > 1, rate == 3);
    EXPECT_EQ(found->told({}).is_too_fast, rate == 3);
  }
}

TEST(Explain, clocks_that_are_set_once_each_are_not_too_fast) {
  EdgeList list;
  for (std::uint32_t clock = 1; clock < 5; ++clock) {
    for (std::uint64_t k = 0, at = 100'000 * clock; k < 8; ++k, at += 1'000'000) {
      const std::uint64_t shown = at + (k < 4 ? 0 : 200'000 * clock);
      list.add({0, at}, {clock, shown + 10});
      list.add({clock, shown + 12}, {0, at + 20});
    }
  }
  const Edges edges = list.view();
  const Clocks run{
      .clocks = {{.name = "a"}, {.name = "b"}, {.name = "c"}, {.name = "d"}, {.name = "e"}}};
  const auto found = Explained::find(run, edges, {.rate_ppb = 1'000});
  ASSERT_TRUE(found);
  EXPECT_THAT(found->explanation().steps, SizeIs(4));
  EXPECT_FALSE(found->told({}).is_too_fast);
}

/// All clocks at up to 900 ppm could make up for a step of 1,800 ppm of the gap around it.
TEST(Explain, a_step_is_no_drift_of_all_clocks) {
  Messages run(3);
  run.limit_rates(1'000);
  for (std::int64_t t = 0; t < 10'000'000; t += 1'000'000) {
    const std::int64_t ahead = t < 5'000'000 ? 0 : 1'800;
    run.talk(0, 2, t, ahead);
    run.talk(1, 2, t + 100, ahead);
    run.talk(0, 1, t + 200, 0);
  }
  const Explanation found = run.explain();
  EXPECT_FALSE(found.rate_ppb);
  EXPECT_EQ(found.bits, Prices::step);
  EXPECT_THAT(found.steps, SizeIs(1));
}

/// Two clocks at 800 ppm in opposite directions need many steps, but one limit.
TEST(Explain, two_clocks_that_drift_apart_were_not_set) {
  Messages run(2);
  run.limit_rates(1'000);
  for (std::int64_t t = 0; t < 10'000'000; t += 500'000) run.talk(0, 1, t, t / 625);
  const Explanation found = run.explain();
  EXPECT_EQ(found.bits, Prices::rates_of_two);
  ASSERT_TRUE(found.rate_ppb);
  EXPECT_NEAR(static_cast<double>(*found.rate_ppb), 800'000, 5'000);
}

/// Five clocks that talk every 100,000 ticks; `shown` is what a clock shows at a time.
template <class Shown>
Messages five_clocks(const Shown& shown) {
  Messages run(5);
  run.limit_rates(Prices::usual_ppb);
  run.are_apart = true;
  for (std::int64_t t = 0; t < 40'000'000; t += 100'000) {
    const auto a = static_cast<std::uint32_t>(t / 100'000 % 5);
    const std::uint32_t b = (a + 1 + static_cast<std::uint32_t>(t / 500'000 % 4)) % 5;
    run.edges.push_back({{a, shown(a, t)}, {b, shown(b, t + 10)}, 0});
    run.edges.push_back({{b, shown(b, t + 20)}, {a, shown(a, t + 30)}, 0});
  }
  return run;
}

/// Each clock has its own rate: one at 1,500 ppm is no reason for others to drift.
TEST(Explain, a_fast_clock_beside_one_that_was_set) {
  const Explanation found = five_clocks([](std::uint32_t clock, std::int64_t t) {
                              if (clock == 1) return t + t * 3 / 2'000;
                              return t + (clock == 3 && t > 20'000'000 ? 700'000 : 0);
                            }).explain();
  EXPECT_EQ(found.bits, Prices::step + 2 * Prices::rate);
  ASSERT_THAT(found.steps, SizeIs(1));
  EXPECT_EQ(found.steps[0].clock, 3U);
  EXPECT_THAT(found.fast, ElementsAre(1U));
  ASSERT_TRUE(found.rate_ppb);
  EXPECT_NEAR(static_cast<double>(*found.rate_ppb), 1'400'000, 20'000);  // beside 100 ppm
}

/// Two clocks at 500 ppm could make up for a step of 600 ticks between calls of these two.
TEST(Explain, a_small_step_is_no_drift_of_two_clocks) {
  const auto shown = [](std::uint32_t clock, std::int64_t t) {
    return t + (clock == 3 && t > 20'000'000 ? 600 : 0);
  };
  const Explanation found = five_clocks(shown).explain();
  EXPECT_EQ(found.bits, Prices::step);
  EXPECT_THAT(found.steps, SizeIs(1));
  EXPECT_THAT(found.fast, IsEmpty());
}

/// Many clocks that nothing disciplines are told as all clocks.
TEST(Explain, all_clocks_may_drift) {
  const Explanation found = five_clocks([](std::uint32_t clock, std::int64_t t) {
                              return t + t * (2 * std::int64_t{clock} - 4) / 5'000;
                            }).explain();
  EXPECT_THAT(found.steps, IsEmpty());
  EXPECT_LE(found.bits, Prices::rates_of_all);
  ASSERT_TRUE(found.rate_ppb);
  EXPECT_LT(*found.rate_ppb, Prices::fastest_ppb);
}

/// Clocks 3 and 4 are set back in one pause. Just before it they talked to each other: steps within
/// that call would break the same cycles, but the pause is longer.
TEST(Explain, clocks_are_set_in_the_longer_gap) {
  Messages run(5);
  const auto call = [&](std::uint32_t a, std::uint32_t b, std::int64_t t) {
    const auto shown = [&](std::uint32_t clock, std::int64_t time) {
      return Event{clock, time - (clock >= 3 && time > 60'000 ? 2'000 : 0)};
    };
    run.edges.push_back({shown(a, t), shown(b, t + 4), 0});
    run.edges.push_back({shown(b, t + 60), shown(a, t + 64), 0});
  };
  const auto all_call = [&](std::int64_t t) {
    for (const std::uint32_t right : {0U, 1U, 2U}) {
      call(3, right, t + 200 * right);
      call(right, 4, t + 200 * right + 100);
    }
  };
  for (std::int64_t t = 10'000; t < 50'000; t += 4'000) all_call(t);
  call(4, 3, 50'000);
  for (std::int64_t t = 90'000; t < 120'000; t += 4'000) all_call(t);
  const Explanation found = run.explain();
  EXPECT_EQ(found.bits, 2 * Prices::step);
  ASSERT_THAT(found.steps, SizeIs(2));
  for (const Step& step : found.steps) EXPECT_GE(step.before, 50'060) << step.clock;
}

/// A wrong pair costs less than clocks that are faster than assumed, but a limit that the user
/// gave is refused first.
TEST(Explain, a_given_limit_is_raised_before_anything_else_is_supposed) {
  Messages run(2);
  run.limit_rates(1'000);
  for (std::int64_t t = 0; t < 10'000'000; t += 1'000'000) run.talk(0, 1, t, 0);
  run.edges.push_back({{0, 5'500'100}, {1, 5'500'000}, 0});
  EXPECT_THAT(run.explain().edges, ElementsAre(20U));
  run.is_limit_given = true;
  const Explanation found = run.explain();
  EXPECT_THAT(found.edges, IsEmpty());
  ASSERT_TRUE(found.rate_ppb);
  EXPECT_GT(*found.rate_ppb, 1'000);
  EXPECT_LT(*found.rate_ppb, Prices::fastest_ppb);
}

/// A clock is 500 ppm fast, and messages go one way first and the other way later: exchanged, all
/// edges would be met by clocks that stay. A limit that the user gave is raised before that.
TEST(Explain, a_limit_that_is_given_is_raised_before_causes_and_effects_are_exchanged) {
  Messages run(2);
  run.limit_rates(1'000);
  const auto fast = [](std::int64_t t) { return t + t / 2'000; };
  for (std::int64_t t = 1'000; t <= 20'000; t += 1'000) {
    run.edges.push_back({{0, t}, {1, fast(t) + 5}, 0});
    run.edges.push_back({{1, fast(t + 49'000)}, {0, t + 49'005}, 0});
  }
  run.may_be_exchanged = true;
  EXPECT_TRUE(run.explain().is_exchanged);
  run.is_limit_given = true;
  const Explanation found = run.explain();
  EXPECT_FALSE(found.is_exchanged);
  ASSERT_TRUE(found.rate_ppb);
  EXPECT_LE(*found.rate_ppb, Prices::fastest_ppb);
}

/// A rate of 2 % would explain all edges as they are.
TEST(Explain, causes_and_effects_are_exchanged) {
  Messages run(2);
  run.limit_rates(250'000);
  for (std::int64_t t = 1'000; t < 60'000; t += 1'000) {
    run.edges.push_back({{0, t}, {1, t + 10}, 0});
    run.edges.push_back({{1, t + 500}, {0, t + 510}, 0});
  }
  EXPECT_EQ(run.explain().bits, 0);
  run.exchange();
  const Explanation found = run.explain();
  EXPECT_TRUE(found.is_exchanged);
  EXPECT_EQ(found.bits, Prices::exchanged);
  run.may_be_exchanged = false;
  EXPECT_FALSE(run.explain().is_exchanged);
  EXPECT_TRUE(run.explain().rate_ppb);
}

/// Whatever is wrong besides has its price in both directions.
TEST(Explain, an_exchange_is_seen_beside_a_step_or_a_fast_clock) {
  for (const bool is_exchanged : {false, true}) {
    for (const std::int64_t step : {500, 0}) {
      Messages run(3);
      run.limit_rates(1'000);
      for (std::int64_t t = 0; t < 4'000'000; t += 100'000) {
        const std::int64_t ahead = step == 0 ? t / 2'000 : t < 2'000'000 ? 0 : step;
        run.talk(0, 2, t, ahead);
        run.talk(1, 2, t + 30, ahead);
        run.talk(0, 1, t + 60, 0);
      }
      run.may_be_exchanged = true;
      if (is_exchanged) run.exchange();
      const Explanation found = run.explain();
      EXPECT_EQ(found.is_exchanged, is_exchanged);
      EXPECT_EQ(found.bits,
                (is_exchanged ? Prices::exchanged : 0) + (step == 0 ? Prices::rate : Prices::step));
    }
  }
}

/// Ends are weak evidence, but many of them say more than a step costs.
TEST(Explain, ends_that_coincide_no_longer) {
  Messages run(3);
  for (std::int64_t t = 10'000; t < 40'000; t += 1'000) {
    const std::int64_t late = t == 17'000 ? 90 : 0, ahead = t < 25'000 ? 0 : 300;
    run.ends.push_back({{0, t + late}, {1, t}, {2, t + ahead}});
  }
  const Explanation found = run.explain();
  EXPECT_THAT(found.steps, ElementsAre(Step{2, 24'000, 25'300}));
  EXPECT_THAT(found.instances, ElementsAre(7U));
}

TEST(Explain, a_search_ends_with_its_effort) {
  Messages run(2);
  run.talk(0, 1, 1'000, 0);
  run.talk(0, 1, 2'000, 500);
  EXPECT_EQ(run.explain(1).bits, -1);
}

/// The same run without some edges, and with some gaps between stamps in which clocks were set.
bool is_explained(const Messages& run, const std::vector<Step>& steps,
                  const std::vector<std::uint32_t>& dropped) {
  Messages rest(run.limits.size() - 1 + steps.size());
  const auto part = [&](Event event) {
    // After its last step a clock is one of its own.
    for (std::size_t s = steps.size(); s-- > 0;) {
      if (steps[s].clock != event.clock || event.stamp < steps[s].after) continue;
      return Event{static_cast<std::uint32_t>(run.limits.size() - 1 + s), event.stamp};
    }
    return event;
  };
  for (std::uint32_t e = 0; e < run.edges.size(); ++e) {
    if (std::find(dropped.begin(), dropped.end(), e) != dropped.end()) continue;
    rest.edges.push_back({part(run.edges[e].cause), part(run.edges[e].effect), 0});
  }
  for (const Step& step : steps) {  // maps are increasing
    rest.edges.push_back({part({step.clock, step.before}), part({step.clock, step.after}), 1});
  }
  const auto reference = static_cast<std::uint32_t>(rest.limits.size() - 1);
  return difference::Oracle({.clocks = rest.limits, .reference = reference, .edges = rest.edges})
      .feasible();
}

double price_of(const Messages& run, std::uint32_t edge) {
  const bool is_weak = !run.evidence.empty() && run.evidence[edge] == Evidence::weak;
  return is_weak ? Prices::weak : Prices::pair;
}

/// Tries all explanations that are cheaper.
class Cheaper {
 public:
  Cheaper(const Messages& run, double bits) : run_(run), bits_(bits) {
    std::vector<Event> events;
    for (const Edge& edge : run.edges) events.push_back(edge.cause), events.push_back(edge.effect);
    std::sort(events.begin(), events.end());
    events.erase(std::unique(events.begin(), events.end()), events.end());
    for (std::size_t e = 1; e < events.size(); ++e) {
      if (events[e].clock != events[e - 1].clock) continue;
      gaps_.push_back({events[e].clock, events[e - 1].stamp, events[e].stamp});
    }
  }
  [[nodiscard]] bool exists() { return try_from(0, 0); }

 private:
  bool try_from(std::uint32_t place, double bits) {
    if (bits > bits_ - 1) return false;
    if (is_explained(run_, steps_, dropped_)) return true;
    const auto edges = static_cast<std::uint32_t>(run_.edges.size());
    for (std::uint32_t p = place; p < edges; ++p) {
      dropped_.push_back(p);
      if (try_from(p + 1, bits + price_of(run_, p))) return true;
      dropped_.pop_back();
    }
    for (std::uint32_t p = std::max(place, edges); p < edges + gaps_.size(); ++p) {
      steps_.push_back(gaps_[p - edges]);
      if (try_from(p + 1, bits + Prices::step)) return true;
      steps_.pop_back();
    }
    return false;
  }

  const Messages& run_;
  double bits_;
  std::vector<Step> gaps_, steps_;
  std::vector<std::uint32_t> dropped_;
};

/// A run with few constraints that are active at first is explained as one with all of them.
TEST(Explain, an_active_set_finds_what_all_constraints_find) {
  int raised = 0, stepped = 0, dropped = 0;
  for (std::uint64_t n = 0; n < 10'000; ++n) {
    SCOPED_TRACE(n);
    RandomStream random(42, n);
    Messages run(2 + random.below(3));
    const std::size_t clocks = run.limits.size() - 1;
    run.are_timers = n % 3 == 0;
    run.limit_rates(n % 2 == 0 ? 10'000'000 : 1'000);
    const std::int64_t scale = n % 2 == 0 ? 1 : 1'000;
    const bool is_fast = n % 4 == 1;
    const std::int64_t step = random.below(3) == 2 && !is_fast ? 200 : 0;
    const auto shown = [&](std::uint32_t clock, std::int64_t time) {
      const std::int64_t fast = clock == 1 && is_fast ? time * scale / 4'000 : 0;
      return Event{clock, time * scale + fast + (clock == 0 && time > 1'500 ? step : 0)};
    };
    for (std::uint64_t m = (is_fast ? 30 : 4) + random.below(12); m > 0; --m) {
      const auto a = static_cast<std::uint32_t>(random.below(clocks));
      const auto b = static_cast<std::uint32_t>((a + 1) % clocks);
      const auto sent = 1'000 + 4 * static_cast<std::int64_t>(random.below(250));
      const std::int64_t way =
          is_fast ? 0
                  : static_cast<std::int64_t>(random.below(40)) - (random.below(9) == 0 ? 60 : 0);
      run.edges.push_back({shown(a, sent), shown(b, sent + way), 0});
    }
    for (std::uint64_t m = is_fast ? 0 : random.below(4); m > 0; --m) {
      const auto time = 1'000 + static_cast<std::int64_t>(random.below(1'000));
      run.ends.emplace_back();
      for (std::uint32_t c = 0; c < clocks; ++c) {
        run.ends.back().push_back(shown(c, time + static_cast<std::int64_t>(random.below(10))));
      }
    }
    const Explanation of_all = run.explain();
    run.active = 1 + random.below(6);
    const Explanation found = run.explain();
    ASSERT_EQ(found.bits, of_all.bits);
    ASSERT_EQ(found.rate_ppb, of_all.rate_ppb);
    raised += found.rate_ppb ? 1 : 0;
    stepped += found.steps.empty() ? 0 : 1;
    dropped += found.edges.empty() ? 0 : 1;
  }
  EXPECT_GT(raised, 100);
  EXPECT_GT(stepped, 100);
  EXPECT_GT(dropped, 1'000);
}

TEST(Explain, is_the_cheapest_of_all) {
  int explained = 0, stepped = 0, weak = 0, equal = 0;
  for (std::uint64_t n = 0; n < 10'000; ++n) {
    SCOPED_TRACE(n);
    RandomStream random(41, n);
    Messages run(2 + random.below(2));
    const std::int64_t step = 200 * static_cast<std::int64_t>(random.below(2));
    const std::int64_t second = n % 3 == 0 ? 150 : 0;
    const auto set_at = 1'200 + static_cast<std::int64_t>(random.below(600));
    for (std::uint64_t m = 4 + random.below(6); m > 0; --m) {
      const auto a = static_cast<std::uint32_t>(random.below(run.limits.size() - 1));
      const auto b = static_cast<std::uint32_t>((a + 1) % (run.limits.size() - 1));
      const auto sent = 1'000 + static_cast<std::int64_t>(random.below(1'000));
      const std::int64_t way =
          static_cast<std::int64_t>(random.below(40)) - (random.below(9) == 0 ? 60 : 0);
      const auto shown = [&](std::uint32_t clock, std::int64_t time) {
        return Event{clock, time + (clock == 0 && time > set_at ? step : 0) +
                                (clock == 0 && time > set_at + 40 ? second : 0)};
      };
      run.edges.push_back({shown(a, sent), shown(b, sent + way), 0});
      run.evidence.push_back(n % 2 == 0 || random.below(3) > 0 ? Evidence::usual : Evidence::weak);
    }
    const Explanation found = run.explain();
    ASSERT_TRUE(is_explained(run, found.steps, found.edges));
    double bits = Prices::step * static_cast<double>(found.steps.size());
    for (const std::uint32_t edge : found.edges) bits += price_of(run, edge);
    ASSERT_GE(bits, found.bits);  // what could be dropped instead is dropped, too
    ASSERT_FALSE(Cheaper(run, found.bits).exists());
    ASSERT_TRUE(Cheaper(run, found.bits + 2).exists());
    equal += bits > found.bits ? 1 : 0;
    explained += found.bits > 0 ? 1 : 0;
    stepped += found.steps.empty() ? 0 : 1;
    weak += std::fmod(found.bits, Prices::pair) > 0 ? 1 : 0;
  }
  EXPECT_GT(explained, 1'000);
  EXPECT_GT(stepped, 10);
  EXPECT_GT(weak, 200);
  EXPECT_GT(equal, 100);
}

}  // namespace
}  // namespace entrain::explain
