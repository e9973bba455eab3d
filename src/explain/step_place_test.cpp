// SPDX-License-Identifier: BSD-3-Clause
#include "explain/step_place.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace entrain::explain {
namespace {

using Role = BoundedEvent::Role;

ClockMap shifted(std::int64_t by) { return *ClockMap::from_knots({{0, by}, {1, by}}); }

/// Sends at these stamps, whose messages arrive at these common times.
std::vector<BoundedEvent> sends(std::vector<std::pair<std::uint64_t, std::int64_t>> all) {
  std::vector<BoundedEvent> events;
  for (const auto& [stamp, arrival] : all) events.push_back({stamp, arrival, Role::cause});
  return events;
}

TEST(StepPlace, leaves_the_shortest_delays) {
  const auto events = sends({{400, 405}, {500, 505}, {610, 515}, {720, 625}});
  const ClockMap before = shifted(0), after = shifted(-100);
  for (const std::size_t known : {1, 2}) {
    EXPECT_EQ(place_step(events, known, before, after), 2u) << known;
  }
}

TEST(StepPlace, stays_where_nothing_is_better) {
  const ClockMap before = shifted(0), after = shifted(-100);
  const auto pinned = sends({{400, 405}, {610, 515}});
  EXPECT_EQ(place_step(pinned, 1, before, after), 1u);
  auto events = sends({{400, 405}, {500, 505}, {610, 515}});
  events[1].role = Role::fixed;
  EXPECT_EQ(place_step(events, 1, before, after), 1u);
}

TEST(StepPlace, is_never_between_equal_stamps_nor_where_time_would_run_backward) {
  const ClockMap before = shifted(0), after = shifted(-100);
  const auto equal = sends({{400, 405}, {500, 505}, {500, 505}, {610, 515}});
  EXPECT_EQ(place_step(equal, 1, before, after), 3u);
  // Between 500 and 560 the clock would go from 500 back to 460.
  const auto near = sends({{400, 405}, {500, 505}, {560, 700}, {720, 625}});
  EXPECT_EQ(place_step(near, 1, before, after), 3u);
}

/// The sum of slacks with a step at `place`, if that can be reached from `known`.
std::optional<std::int64_t> slacks(const std::vector<BoundedEvent>& events, std::size_t place,
                                   std::size_t known, const ClockMap& before,
                                   const ClockMap& after) {
  std::int64_t sum = 0;
  for (std::size_t e = 0; e < events.size(); ++e) {
    const std::int64_t time = e < place ? before(events[e].stamp) : after(events[e].stamp);
    const auto limit = static_cast<std::int64_t>(events[e].limit);
    const std::int64_t slack = events[e].role == Role::cause ? limit - time : time - limit;
    const bool moves = (e < place) != (e < known);
    if (moves && slack < 0) return std::nullopt;
    sum += slack;
  }
  const std::uint64_t last = events[place - 1].stamp, first = events[place].stamp;
  const bool in_order = last != first && before(last) <= after(first);
  return place == known || in_order ? std::optional(sum) : std::nullopt;
}

TEST(StepPlace, is_that_of_all_places_tried_one_by_one) {
  std::mt19937_64 random(1);
  const auto draw = [&](std::uint64_t most) { return random() % (most + 1); };
  std::size_t moved = 0;
  for (int i = 0; i < 10'000; ++i) {
    const std::int64_t size = static_cast<std::int64_t>(draw(200)) - 60;
    const std::size_t count = 2 + draw(8), step = 1 + draw(count - 2);
    std::vector<BoundedEvent> events;
    std::uint64_t time = 1'000;
    for (std::size_t e = 0; e < count; ++e) {
      time += draw(60);
      const std::uint64_t stamp = time + static_cast<std::uint64_t>(e < step ? 0 : size);
      const auto delay = static_cast<std::int64_t>(draw(40));
      const bool cause = draw(1) == 0;
      events.push_back({stamp, static_cast<std::int64_t>(time) + (cause ? delay : -delay),
                        cause ? Role::cause : Role::effect});
    }
    if (!std::ranges::is_sorted(events, {}, &BoundedEvent::stamp)) continue;
    const ClockMap before = shifted(0), after = shifted(-size);
    const std::size_t known = 1 + draw(count - 2);
    std::int64_t least = *slacks(events, known, known, before, after);
    for (std::size_t place = 1; place < count; ++place) {
      least = std::min(least, slacks(events, place, known, before, after).value_or(least));
    }
    const std::size_t found = place_step(events, known, before, after);
    EXPECT_EQ(slacks(events, found, known, before, after), least) << i;
    moved += found != known ? 1 : 0;
  }
  EXPECT_GT(moved, 1'000u);
}

}  // namespace
}  // namespace entrain::explain
