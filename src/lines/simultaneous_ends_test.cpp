// SPDX-License-Identifier: BSD-3-Clause
#include "lines/simultaneous_ends.hpp"

#include <algorithm>
#include <random>
#include <utility>

#include <gtest/gtest.h>

namespace entrain::lines {
namespace {

constexpr double k_most_rate = 5e-4;

struct Calls {
  entrain::Clocks clocks;
  std::vector<CollectiveInstance> instances;
  std::vector<InstanceMember> members;

  explicit Calls(std::size_t count) : clocks{.clocks = std::vector<entrain::Clock>(count)} {}
  /// Of clocks from `first` on.
  void add(const std::vector<std::uint64_t>& ends, bool coincide = true, std::uint32_t first = 0) {
    const auto count = static_cast<std::uint32_t>(ends.size());
    instances.push_back({.ends_coincide = coincide, .first = members.size(), .ends = count});
    for (std::uint32_t c = 0; c < count; ++c)
      members.push_back({.clock = first + c, .time = ends[c]});
  }
  std::optional<std::vector<ClockMap>> run(std::optional<std::uint32_t> reference = {}) {
    Edges edges;
    edges.instances = instances;
    edges.members = members;
    const auto ends = find_simultaneous_ends(clocks, edges, 1, nullptr);
    if (!ends || !*ends) return std::nullopt;
    return maps_of(**ends, reference, k_most_rate);
  }
};

TEST(SimultaneousEnds, a_clock_that_is_late_is_set_and_the_others_stay) {
  Calls calls(3);
  for (std::uint64_t t = 1'000'000; t < 1'010'000; t += 1000) calls.add({t, t + 1, t + 30'000});
  const auto found = calls.run();
  ASSERT_TRUE(found);
  EXPECT_TRUE((*found)[0].is_identity());
  EXPECT_TRUE((*found)[1].is_identity());
  EXPECT_NEAR(static_cast<double>((*found)[2](1'035'000)), 1'005'000, 2);
}

/// The second clock drifts, and has the lower median of the offsets.
TEST(SimultaneousEnds, the_clock_that_stays_is_one_by_which_most_others_stay) {
  SimultaneousEnds ends;
  ends.spread = 100;
  for (const auto& [offset, rate] : {std::pair(-3e7, 0.0), {-10, 2e-4}, {0, 0.0}, {10, 0.0}}) {
    ends.lines.push_back({.offset = offset,
                          .rate = rate,
                          .at = 1'500'000'000,
                          .events = {1'000'000'000, 2'000'000'000},
                          .number = 100});
  }
  const auto found = maps_of(ends, std::nullopt, k_most_rate);
  ASSERT_TRUE(found);
  EXPECT_TRUE((*found)[2].is_identity());
  EXPECT_TRUE((*found)[3].is_identity());
  EXPECT_NEAR(static_cast<double>((*found)[1](2'000'000'000)), 2'000'100'000, 100);
  EXPECT_NEAR(static_cast<double>((*found)[0](1'500'000'000)), 1'470'000'000, 100);
}

/// Each has a time of its own: one that was not set decides.
TEST(SimultaneousEnds, of_as_many_that_stay_the_one_with_more_votes_does) {
  Calls calls(3);
  for (std::uint64_t t = 1'000'000; t < 1'010'000; t += 1000) {
    calls.add({t - 50'000, t, t + 30'000});
  }
  Edges edges;
  edges.instances = calls.instances;
  edges.members = calls.members;
  const auto ends = find_simultaneous_ends(calls.clocks, edges, 1, nullptr);
  ASSERT_TRUE(ends && *ends);
  for (const std::size_t whole : {0U, 1U, 2U}) {
    std::vector<char> votes(3, 1);
    votes[whole] = 2;
    const auto maps = maps_of(**ends, std::nullopt, k_most_rate, votes);
    ASSERT_TRUE(maps);
    for (std::size_t c = 0; c < 3; ++c) EXPECT_EQ((*maps)[c].is_identity(), c == whole) << c;
  }
}

/// A file of few calls, or of none, says nothing against the others.
TEST(SimultaneousEnds, a_clock_with_few_ends_or_none_does_not_hold_up_the_others) {
  for (const std::size_t few : {0U, 1U, 3U}) {
    Calls calls(4);
    for (std::uint64_t t = 1'000'000, k = 0; k < 100; t += 1000, ++k) {
      if (k < few) {
        calls.add({t, t + 1, t + 30'000, t + 500'000});
      } else {
        calls.add({t, t + 1, t + 30'000});
      }
    }
    const auto found = calls.run(0);
    ASSERT_TRUE(found) << few;
    EXPECT_NEAR(static_cast<double>((*found)[2](1'035'000)), 1'005'000, 2);
    if (few == 0) {
      EXPECT_TRUE((*found)[3].is_identity());
    } else {
      EXPECT_NEAR(static_cast<double>((*found)[3](1'500'000)), 1'000'000, 2) << few;
    }
  }
}

TEST(SimultaneousEnds, lines_of_few_ends_lie_at_their_middle) {
  Calls calls(3);
  for (std::uint64_t t = 1'000'000, k = 0; k < 100; t += 1000, ++k) {
    if (k < 97) {
      calls.add({t, t + 1});
    } else {
      calls.add({t, t + 1, t + 500'000});
    }
  }
  Edges edges;
  edges.instances = calls.instances;
  edges.members = calls.members;
  const auto ends = find_simultaneous_ends(calls.clocks, edges, 1, nullptr);
  ASSERT_TRUE(ends && *ends);
  EXPECT_EQ((*ends)->lines[2].at, 1'598'000U);
}

TEST(SimultaneousEnds, without_ends_that_coincide_nothing_is_set) {
  Calls calls(2);
  for (std::uint64_t t = 0; t < 9000; t += 1000) calls.add({t, t + 5}, false);
  EXPECT_FALSE(calls.run());
}

TEST(SimultaneousEnds, a_drift_that_stands_out_is_taken_away) {
  Calls calls(3);
  for (std::uint64_t t = 0; t < 100'000'000'000; t += 1'000'000'000) {
    calls.add({t, t + 1, t + 1'000'000 + t / 20'000});
  }
  const auto found = calls.run();
  ASSERT_TRUE(found);
  EXPECT_NEAR(static_cast<double>((*found)[2](1'000'000)), 0, 50);
  EXPECT_NEAR(static_cast<double>((*found)[2](100'006'000'000)), 100'000'000'000, 50);
}

/// Calls of pairs beside those of all. That offsets converge late, tests/training has cases of.
TEST(SimultaneousEnds, a_drift_is_taken_away_where_pairs_call_too) {
  int found = 0;
  std::ptrdiff_t staying = 0;
  for (unsigned seed = 0; seed < 40; ++seed) {
    std::mt19937 draw(seed);
    const std::uint64_t step = 10'000'000 + draw() % 90'000'000;
    const std::uint32_t wrong = seed % 8;
    Calls calls(8);
    const auto end = [&](std::uint32_t clock, std::uint64_t t) {
      const auto late = static_cast<std::uint64_t>(std::exponential_distribution(5e-4)(draw));
      return t + late + (clock == wrong ? 1'600'000'000 + t / 17'000 : 0);  // 59 ppm
    };
    for (std::uint64_t t = 0; t < 2'000'000'000; t += step) {
      for (std::uint32_t first = 0; first < 8; first += 2) {
        const std::uint64_t at = t + draw() % (step / 2);
        calls.add({end(first, at), end(first + 1, at)}, true, first);
      }
      std::vector<std::uint64_t> all;
      for (std::uint32_t c = 0; c < 8; ++c) all.push_back(end(c, t + step / 2));
      calls.add(all);
    }
    const auto maps = calls.run();
    if (!maps) continue;
    ++found;
    staying +=
        std::count_if(maps->begin(), maps->end(), [](const auto& m) { return m.is_identity(); });
    EXPECT_NEAR(static_cast<double>((*maps)[wrong](1'600'000'000)), 0, 10'000);
  }
  EXPECT_GE(found, 38);
  EXPECT_GE(staying, 38 * 7);
}

TEST(SimultaneousEnds, a_clock_that_wanders_gets_a_map_with_bends) {
  Calls calls(3);
  const auto wander = [](std::uint64_t time) {  // up to 100 us, there and back again
    const std::uint64_t phase = time % 20'000'000'000;
    return (phase < 10'000'000'000 ? phase : 20'000'000'000 - phase) / 100'000;
  };
  for (std::uint64_t t = 1'000'000; t < 100'000'000'000; t += 50'000'000) {
    calls.add({t, t + t / 50'000'000 % 3, t + wander(t)});
  }
  const auto found = calls.run();
  ASSERT_TRUE(found);
  for (std::uint64_t t = 5'001'000'000; t < 95'000'000'000; t += 1'050'000'000) {
    const auto error = (*found)[2](t + wander(t)) - (*found)[0](t);
    EXPECT_LT(std::abs(error), 20'000) << t;  // at its corners
  }
}

TEST(SimultaneousEnds, the_reference_keeps_its_time_though_it_is_the_one_that_differs) {
  Calls calls(3);
  for (std::uint64_t t = 0; t < 100'000'000'000; t += 1'000'000'000) {
    calls.add({t, t + 1, t + 1'000'000 + t / 20'000});
  }
  const auto found = calls.run(2);
  ASSERT_TRUE(found);
  EXPECT_TRUE((*found)[2].is_identity());
  EXPECT_NEAR(static_cast<double>((*found)[0](0)), 1'000'000, 50);
  EXPECT_NEAR(static_cast<double>((*found)[1](100'000'000'000)), 100'006'000'000, 50);
}

TEST(SimultaneousEnds, a_clock_that_runs_faster_than_any_can_is_not_set_by_them) {
  Calls calls(3);
  for (std::uint64_t t = 0; t < 100'000'000'000; t += 1'000'000'000) {
    calls.add({t, t + 1, t + t / 1000});
  }
  EXPECT_FALSE(calls.run());
}

TEST(SimultaneousEnds, a_drift_about_the_right_time_is_taken_away) {
  Calls calls(3);
  for (std::int64_t t = 0; t < 100'000'000'000; t += 1'000'000'000) {
    const auto stamp = static_cast<std::uint64_t>(t + 10'000'000);
    calls.add({stamp, stamp + 1,
               static_cast<std::uint64_t>(t + 10'000'000 + (t - 49'500'000'000) / 20'000)});
  }
  const auto found = calls.run();
  ASSERT_TRUE(found);
  EXPECT_NEAR(static_cast<double>((*found)[2](10'000'000 - 2'475'000)), 10'000'000, 50);
}

TEST(SimultaneousEnds, clocks_that_no_call_connects_are_not_set_together) {
  Calls calls(4);
  for (std::uint64_t t = 1'000'000; t < 1'010'000; t += 1000) {
    calls.add({t, t + 30'000});
    calls.instances.push_back({.ends_coincide = true, .first = calls.members.size(), .ends = 2});
    calls.members.push_back({.clock = 2, .time = t});
    calls.members.push_back({.clock = 3, .time = t + 500'000});
  }
  EXPECT_FALSE(calls.run());
}

TEST(SimultaneousEnds, lines_of_a_component_are_those_to_its_first_clock) {
  constraints::CallEnds calls;
  for (std::uint64_t t = 1'000'000; t < 1'010'000; t += 1000) {
    for (const std::vector<constraints::CallEnds::End>& call :
         {std::vector<constraints::CallEnds::End>{{0, t}, {2, t + 30}}, {{1, t}, {3, t + 500}}}) {
      calls.first.push_back(calls.ends.size());
      calls.ends.insert(calls.ends.end(), call.begin(), call.end());
    }
  }
  calls.first.push_back(calls.ends.size());
  EXPECT_EQ(spread_of(calls), 15);
  const auto ends = find_simultaneous_ends(4, calls, {.check = [] { return Result<void>(); }});
  ASSERT_TRUE(ends && *ends);
  const std::vector<ClockLine> lines = lines_of(**ends);
  EXPECT_EQ(lines[0].offset, 0);
  EXPECT_EQ(lines[1].offset, 0);
  EXPECT_NEAR(static_cast<double>(lines[2].offset), -30, 1);
  EXPECT_NEAR(static_cast<double>(lines[3].offset), -500, 1);
  EXPECT_EQ(lines[3].component, 1u);
}

TEST(SimultaneousEnds, who_is_asked_to_stop_stops) {
  constraints::CallEnds calls{.ends = {{0, 1}, {1, 2}}, .first = {0, 2}};
  for (int i = 0; i < 3; ++i) {
    calls.first.insert(calls.first.end() - 1, calls.ends.size());
    calls.ends.insert(calls.ends.end(), {{0, 1}, {1, 2}});
    calls.first.back() = calls.ends.size();
  }
  const auto ends = find_simultaneous_ends(
      2, calls, {.check = [] { return fail(ErrorKind::interrupted, "stop"); }});
  EXPECT_FALSE(ends);
}

}  // namespace
}  // namespace entrain::lines
