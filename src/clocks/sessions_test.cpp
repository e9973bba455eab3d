// SPDX-License-Identifier: BSD-3-Clause
#include "clocks/sessions.hpp"

#include <gtest/gtest.h>

namespace entrain::clocks {
namespace {

/// A session of a clock that is `offset` late: the ways there and back take these ticks.
Session session_at(std::uint64_t begin, std::int64_t offset,
                   const std::vector<std::pair<std::uint64_t, std::uint64_t>>& ways) {
  Session session;
  std::uint64_t sent = begin;
  const Sample* best = nullptr;
  for (const auto& [there, back] : ways) {
    const std::uint64_t round_trip = there + back;
    const std::uint64_t local = sent + round_trip / 2;
    const auto answered = static_cast<std::int64_t>(sent + there) + offset;
    session.samples.push_back({local, answered - static_cast<std::int64_t>(local), round_trip});
    sent += round_trip + 1;
  }
  for (const Sample& s : session.samples) {
    if (best == nullptr || s.round_trip < best->round_trip) best = &s;
  }
  session.record = {best->local, best->offset, static_cast<double>(best->round_trip + 1) / 2};
  return session;
}

TEST(Condense, the_example_of_the_header) {
  Sessions clock;
  clock.sessions.push_back({{1'000, 500, 20}, {{1'000, 500, 40, true}, {1'100, 525, 40, true}}});
  const std::vector<SessionPoint> points = condense(clock, Condensing::shortest);
  ASSERT_EQ(points.size(), 1u);
  EXPECT_EQ(points[0].local, 1'000u);
  EXPECT_EQ(points[0].offset, 512);
  EXPECT_NEAR(*points[0].half_width, 8.5275, 1e-9);
}

TEST(Condense, shortest_takes_the_shortest_way_of_each_direction) {
  // The fastest exchange is lopsided; another one has the short way back.
  const Sessions clock{{session_at(1'000, 500, {{100, 300}, {310, 100}, {1'000, 1'000}})}};
  const auto points = condense(clock, Condensing::shortest);
  ASSERT_EQ(points.size(), 1u);
  EXPECT_NEAR(static_cast<double>(points[0].offset), 500, 2);
  // 100 ticks each way are open, and a little for the unknown rate.
  EXPECT_GE(*points[0].half_width, 100);
  EXPECT_LE(*points[0].half_width, 105);
  // The fastest exchange alone is 100 ticks off.
  EXPECT_EQ(record_points(clock)[0].offset, 400);
}

TEST(Condense, mean_is_that_of_the_kept_exchanges) {
  Sessions clock{{session_at(0, 0, {{10, 10}, {10, 30}, {500, 10}})}};
  clock.sessions[0].samples[2].kept = false;
  const auto mean = condense(clock, Condensing::mean);
  EXPECT_EQ(mean[0].offset, -5);  // of 0 and -10
  EXPECT_EQ(mean[0].local, 26u);  // of 10 and 41
  // (10 + 20) / 2, what the record adds for the steps of the clock, a tick of rounding.
  EXPECT_NEAR(*mean[0].half_width, 15 + 0.5 + 1, 0.51);
  // 4 : 1 in favour of the exchange of half the length.
  EXPECT_EQ(condense(clock, Condensing::weighted)[0].offset, -2);
}

TEST(Condense, a_long_session_follows_the_rate) {
  // 1000 ppm; the sessions last as long as a thousandth of the distance between them.
  const auto drifting = [](std::uint64_t begin) {
    Session session;
    for (int i = 0; i < 11; ++i) {
      const std::uint64_t local = begin + static_cast<std::uint64_t>(i) * 100'000;
      // One-sided delays, alternating; all but the first are slow by 1 us.
      const std::int64_t delay = i == 0 ? 0 : i % 2 == 0 ? 900 : -900;
      session.samples.push_back(
          {local, static_cast<std::int64_t>(local / 1'000) + delay, i == 0 ? 1'500u : 2'000u});
    }
    session.record = {begin, static_cast<std::int64_t>(begin / 1'000), 750};
    return session;
  };
  const Sessions clock{{drifting(1'000'000'000), drifting(2'000'000'000), drifting(3'000'000'000)}};
  for (const SessionPoint& point : condense(clock, Condensing::shortest)) {
    EXPECT_NEAR(static_cast<double>(point.offset), static_cast<double>(point.local) / 1'000,
                *point.half_width);
    EXPECT_LT(*point.half_width, 400);
  }
}

TEST(Condense, contradictions_leave_the_shortest_round_trip) {
  Session session = session_at(0, 7, {{10, 10}, {20, 20}});
  session.samples[1].offset += 1'000'000;  // a clock that was set in between
  const auto points = condense({{session}}, Condensing::shortest);
  EXPECT_EQ(points[0].offset, 7);
  EXPECT_GE(*points[0].half_width, 10);
}

TEST(Condense, records_count_where_no_exchange_is_left) {
  Sessions clock{{{{100, 5, 30}, {}}, {{200, 6, 0}, {}}}};
  for (const Condensing rule : {Condensing::shortest, Condensing::mean, Condensing::weighted}) {
    const auto points = condense(clock, rule);
    EXPECT_EQ(points[0].offset, 5);
    EXPECT_EQ(*points[0].half_width, 30);
    EXPECT_FALSE(points[1].half_width) << "a tracer that writes 0 does not know";
  }
  clock.reference = true;
  EXPECT_EQ(*condense(clock, Condensing::shortest)[1].half_width, 0);
}

}  // namespace
}  // namespace entrain::clocks
