// SPDX-License-Identifier: BSD-3-Clause
#include "record/clocks/clock_points.hpp"

#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace entrain::record {
namespace {

ProcessRecord process(std::uint32_t rank, std::uint32_t parent,
                      std::vector<ClockSample> samples = {}) {
  ProcessRecord record;
  record.rank = rank;
  record.parent = parent;
  record.host = "node" + std::to_string(rank);
  record.measured = rank != 0;
  record.samples = std::move(samples);
  return record;
}

TEST(Clocks, the_shortest_round_trip_of_a_session_counts) {
  const auto points = clock_points({process(0, 0), process(1, 0,
                                                           {{0, 1000, 5000, 100, true},
                                                            {0, 1200, 5260, 20, true},
                                                            {0, 1300, 9999, 10, false},
                                                            {1, 3000, 7050, 31, true}})});
  ASSERT_EQ(points[1].size(), 2u);
  EXPECT_EQ(points[1][0].local, 1200u);
  EXPECT_EQ(points[1][0].offset, 4060);
  EXPECT_EQ(points[1][0].half_width, 11u);  // half of 20, and a tick of the clocks
  EXPECT_EQ(points[1][1].offset, 4050);
  EXPECT_EQ(points[1][1].half_width, 17u);
  // The master has a record wherever somebody measured against it.
  ASSERT_EQ(points[0].size(), 2u);
  EXPECT_EQ(points[0][0].offset, 0);
  EXPECT_EQ(points[0][0].half_width, 0u);
}

TEST(Clocks, who_shares_a_clock_shares_its_records) {
  auto shares = process(2, 1);
  shares.shares_parents_clock = true;
  const auto points =
      clock_points({process(0, 0), process(1, 0, {{0, 10, 30, 4, true}, {1, 110, 131, 4, true}}),
                    shares, ProcessRecord{}});
  ASSERT_EQ(points[2].size(), 2u);
  EXPECT_EQ(points[2][1].offset, 21);
  EXPECT_TRUE(points[3].empty());
}

TEST(Clocks, between_and_beyond_records_the_line_goes_on) {
  const std::vector<ClockPoint> points{{0, 1000, 100, 4}, {1, 2000, 200, 8}, {2, 4000, 200, 2}};
  EXPECT_EQ(master_time(points, 1000), 1100u);
  EXPECT_EQ(master_time(points, 1500), 1650u);
  EXPECT_EQ(master_time(points, 500), 550u);
  EXPECT_EQ(master_time(points, 3000), 3200u);
  EXPECT_EQ(master_time(points, 9000), 9200u);
  EXPECT_EQ(half_width_at(points, 1000), 4u);
  EXPECT_EQ(half_width_at(points, 1500), 6u);
  EXPECT_EQ(half_width_at(points, 0), 16u);  // (2 * 4 + 1 * 8): both ends may tilt the line
  EXPECT_EQ(master_time({}, 77), 77u);
  EXPECT_EQ(master_time({{0, 10, -3, 1}}, 77), 74u);
}

TEST(Clocks, the_slowest_are_dropped) {
  std::vector<ClockSample> samples(10);
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i].round_trip = (i * 7) % 10;
  drop_slowest(samples, 0.29);
  for (const ClockSample& sample : samples) EXPECT_EQ(sample.kept, sample.round_trip < 8);
}

/// A chain of clocks with constant rates, measured over ways of unequal length.
RC_GTEST_PROP(Clocks, bounds_hold_along_a_chain, ()) {
  const auto draw = [](double least, double most) {
    return least + (most - least) * *rc::gen::inRange(0, 1'000'001) / 1e6;
  };
  const int length = *rc::gen::inRange(2, 6);
  std::vector<long double> offset{0}, rate{0};
  std::vector<ProcessRecord> processes{process(0, 0)};
  const auto shown = [&](std::size_t clock, long double time) {
    return std::floor(time + offset[clock] + rate[clock] * time);
  };
  for (int i = 1; i < length; ++i) {
    const auto own = static_cast<std::size_t>(i);
    offset.push_back(draw(0, 1e7));
    rate.push_back(draw(-1e-4, 1e-4));
    std::vector<ClockSample> samples;
    for (std::uint32_t session = 0; session < 3; ++session) {
      for (int n = 0; n < 5; ++n) {
        const long double sent = 1e10L + session * 1e9L + i * 1e6L + n * 1e4L;
        const long double arrived = sent + draw(1, 5000), back = arrived + draw(1, 5000);
        ClockSample sample;
        sample.session = session;
        const auto from = static_cast<std::uint64_t>(shown(own, sent));
        sample.round_trip = static_cast<std::uint64_t>(shown(own, back)) - from;
        sample.local = from + sample.round_trip / 2;
        sample.parent = static_cast<std::uint64_t>(shown(own - 1, arrived));
        samples.push_back(sample);
      }
    }
    processes.push_back(process(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(i - 1),
                                std::move(samples)));
  }
  const auto points = clock_points(processes);
  for (std::size_t i = 1; i < points.size(); ++i) {
    RC_ASSERT(points[i].size() == 3u);
    for (const ClockPoint& point : points[i]) {
      const long double local = static_cast<long double>(point.local);
      const long double time = (local - offset[i]) / (1 + rate[i]);
      const long double error = local + static_cast<long double>(point.offset) - time;
      RC_ASSERT(std::fabs(error) <= static_cast<long double>(point.half_width) + 1);
    }
  }
}

}  // namespace
}  // namespace entrain::record
