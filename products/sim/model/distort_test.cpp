// SPDX-License-Identifier: BSD-3-Clause
#include "sim/model/distort.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include <gtest/gtest.h>

#include "trace/testing.hpp"

namespace entrain::sim {
namespace {

constexpr std::uint64_t k_start = 1'800'000'000'000;
constexpr std::uint64_t k_init = 2'000'000'000;           // end of MPI_Init after the start
constexpr std::uint64_t k_distort_span = 60'000'000'000;  // to the end, one minute of nanoseconds
constexpr std::uint64_t k_distort_seeds = 200;

/// `processes` processes of two locations each, two processes per node. Only the first location
/// of a process calls MPI_Init and MPI_Finalize.
trace::Trace make_trace(std::uint32_t processes) {
  trace::Trace trace;
  trace.path = "made up";
  trace.definitions.clock.resolution_hz = 1'000'000'000;
  for (std::uint32_t l = 0; l < 2 * processes; ++l) {
    trace::Location location;
    location.id = l / 2 + (std::uint64_t{l % 2} << 32);
    trace.definitions.locations.push_back(location);
    trace.definitions.process_of.push_back(l / 2);
    trace.definitions.node_of.push_back(l / 4);
    trace::LocationSkeleton skeleton;
    skeleton.event_count = 100;
    skeleton.first = k_start + 1000 * l;
    skeleton.last = k_start + k_distort_span - 500 * l;
    if (l % 2 == 0) {
      for (const auto& [time, kind] :
           {std::pair{skeleton.first, trace::EventKind::init_enter},
            std::pair{k_start + k_init + l, trace::EventKind::init_leave},
            std::pair{k_start + k_distort_span - 1'000'000, trace::EventKind::finalize_enter},
            std::pair{skeleton.last, trace::EventKind::finalize_leave}}) {
        trace::Event event;
        event.time = time;
        event.kind = kind;
        skeleton.events.push_back(event);
      }
    }
    trace.locations.push_back(skeleton);
  }
  return trace;
}

std::vector<ClockMap> identities(const trace::Trace& trace) {
  return std::vector<ClockMap>(trace.locations.size());
}

Distortion distorted(const trace::Trace& trace, const DistortOptions& options) {
  return distort(trace, identities(trace), options).value();
}

ClockMap linear(const std::vector<trace::ClockOffset>& records) {
  std::vector<ClockKnot> knots;
  for (const trace::ClockOffset& record : records) knots.push_back({record.time, record.offset});
  return ClockMap::from_knots(std::move(knots)).value();
}

/// Largest |corrected - master's clock| over all locations between the measurements, ticks.
double largest_error_after_linear(const Distortion& distortion) {
  double largest = 0;
  for (std::size_t l = 0; l < distortion.maps.size(); ++l) {
    const ClockMap correction = linear(distortion.clock_offsets[l]);
    for (std::uint64_t x = k_init + 100; x < k_distort_span - 2'000'000;
         x += k_distort_span / 701) {
      const auto shown = static_cast<std::uint64_t>(distortion.maps[l](k_start + x));
      const std::int64_t error = correction(shown) - distortion.maps[0](k_start + x);
      largest = std::max(largest, std::fabs(static_cast<double>(error)));
    }
  }
  return largest;
}

TEST(Distort, is_deterministic) {
  const trace::Trace trace = make_trace(4);
  DistortOptions options;
  options.seed = 17;
  const Distortion a = distorted(trace, options);
  options.threads = 3;
  const Distortion b = distorted(trace, options);
  EXPECT_EQ(a.maps, b.maps);
  options.seed = 18;
  EXPECT_NE(a.maps, distorted(trace, options).maps);
}

TEST(Distort, clocks_belong_to_units) {
  const trace::Trace trace = make_trace(4);
  DistortOptions options;
  const auto different = [&](DistortUnit unit) {
    options.unit = unit;
    const Distortion d = distorted(trace, options);
    std::vector<std::int64_t> shown;
    for (const ClockMap& map : d.maps) shown.push_back(map(k_start + 5'000'000'000));
    std::sort(shown.begin(), shown.end());
    shown.erase(std::unique(shown.begin(), shown.end()), shown.end());
    EXPECT_EQ(shown.size(), d.report.clocks);
    return d.report.clocks;
  };
  EXPECT_EQ(different(DistortUnit::location), 8u);
  EXPECT_EQ(different(DistortUnit::process), 4u);
  EXPECT_EQ(different(DistortUnit::node), 2u);
}

TEST(Distort, records_are_taken_after_init_and_before_finalize) {
  const trace::Trace trace = make_trace(2);
  DistortOptions options;
  options.offset_noise_s = 0;
  const Distortion d = distorted(trace, options);
  for (std::size_t l = 0; l < 4; ++l) {
    ASSERT_EQ(d.clock_offsets[l].size(), 2u);
    const std::uint64_t begin = k_start + k_init + (l / 2) * 2,
                        end = k_start + k_distort_span - 1'000'000;
    EXPECT_NEAR(static_cast<double>(d.clock_offsets[l][0].time),
                static_cast<double>(d.maps[l](begin)), 2);
    EXPECT_NEAR(static_cast<double>(d.clock_offsets[l][1].time),
                static_cast<double>(d.maps[l](end)), 2);
    EXPECT_NEAR(static_cast<double>(d.clock_offsets[l][0].offset),
                static_cast<double>(d.maps[0](begin) - d.maps[l](begin)), 3);
  }
  EXPECT_EQ(d.clock_offsets[0][0].offset, 0);
  EXPECT_EQ(d.clock_offsets[0][1].offset, 0);
  EXPECT_NE(d.clock_offsets[2][0].offset, 0);
}

TEST(Distort, records_undo_offset_and_drift) {
  const trace::Trace trace = make_trace(4);
  DistortOptions options;
  options.wander_ppm = 0;
  options.offset_noise_s = 0;
  for (options.seed = 0; options.seed < k_distort_seeds; ++options.seed) {
    // A quotient of two rates is not a straight line, but by 1e-9 of the span only.
    ASSERT_LE(largest_error_after_linear(distorted(trace, options)), 4) << options.seed;
  }
}

TEST(Distort, noise_is_bounded_and_its_bound_is_recorded) {
  const trace::Trace trace = make_trace(4);
  DistortOptions options;
  options.wander_ppm = 0;
  options.offset_noise_s = 2e-6;
  double largest = 0;
  for (options.seed = 0; options.seed < k_distort_seeds; ++options.seed) {
    const Distortion d = distorted(trace, options);
    const double error = largest_error_after_linear(d);
    ASSERT_LE(error, 2000 + 5) << options.seed;
    largest = std::max(largest, error);
    EXPECT_DOUBLE_EQ(d.clock_offsets[2][0].stddev, 2000);
    EXPECT_EQ(d.clock_offsets[0][0].stddev, 0);
  }
  EXPECT_GT(largest, 1800);
}

TEST(Distort, sessions_lie_at_equal_distances) {
  DistortOptions options;
  options.offset_noise_s = 0;
  const Distortion two = distorted(make_trace(4), options);
  options.sessions = 9;
  const Distortion nine = distorted(make_trace(4), options);
  EXPECT_EQ(two.maps, nine.maps);
  for (std::size_t l = 0; l < nine.clock_offsets.size(); ++l) {
    const auto& records = nine.clock_offsets[l];
    ASSERT_EQ(records.size(), 9u);
    EXPECT_EQ(records.front().time, two.clock_offsets[l].front().time);
    EXPECT_EQ(records.back().time, two.clock_offsets[l].back().time);
    const double whole = static_cast<double>(records.back().time - records.front().time);
    for (std::size_t i = 0; i < records.size(); ++i) {
      const double share = static_cast<double>(records[i].time - records.front().time) / whole;
      EXPECT_NEAR(share, static_cast<double>(i) / 8, 1e-5);  // clocks are off by some 10 ppm
    }
  }
  EXPECT_LT(nine.report.largest_residual_s, 0.2 * two.report.largest_residual_s);
}

TEST(Distort, without_sessions_nothing_is_recorded) {
  DistortOptions options;
  options.sessions = 0;
  const Distortion none = distorted(make_trace(4), options);
  for (const auto& records : none.clock_offsets) EXPECT_TRUE(records.empty());
  EXPECT_GT(none.report.largest_residual_s, 1e-3);  // the offsets themselves
  options.sessions = 2;
  EXPECT_EQ(none.maps, distorted(make_trace(4), options).maps);
}

TEST(Distort, clocks_may_be_set_forward) {
  DistortOptions options;
  const Distortion even = distorted(make_trace(4), options);
  options.steps = 3;
  options.step_s = 0.002;
  const Distortion set = distorted(make_trace(4), options);
  for (std::size_t l = 0; l < set.maps.size(); ++l) {
    EXPECT_TRUE(set.maps[l].is_monotone());
    std::int64_t gained = 0;
    std::size_t steps = 0;
    for (std::uint64_t t = k_start; t <= k_start + k_distort_span; t += k_distort_span / 1000) {
      const std::int64_t now =
          set.maps[l](t) - even.maps[l](t) - set.maps[l](k_start) + even.maps[l](k_start);
      EXPECT_GE(now, gained - 2);
      steps += now > gained + 2 ? 1 : 0;
      gained = std::max(gained, now);
    }
    EXPECT_GE(steps, 1U);
    EXPECT_LE(steps, 3U);
    EXPECT_LE(gained, 3 * 2'000'000 + 2);
  }
}

TEST(Distort, clocks_may_walk) {
  DistortOptions options;
  options.wander_kind = WanderKind::walk;
  const Distortion walk = distorted(make_trace(4), options);
  options.threads = 3;
  EXPECT_EQ(walk.maps, distorted(make_trace(4), options).maps);
  options.wander_ppm = 0;
  const Distortion straight = distorted(make_trace(4), options);
  EXPECT_NE(walk.maps, straight.maps);
  EXPECT_GT(walk.report.largest_residual_s, 10 * straight.report.largest_residual_s);
}

TEST(Distort, a_steady_master_is_straight_and_changes_no_other_clock) {
  for (const WanderKind kind : {WanderKind::cycle, WanderKind::walk}) {
    DistortOptions options;
    options.wander_kind = kind;
    options.wander_ppm = 50;
    const Distortion wandering = distorted(make_trace(4), options);
    options.steady_master = true;
    const Distortion steady = distorted(make_trace(4), options);
    const auto bend = [](const ClockMap& map) {
      return std::abs(map(k_start) + map(k_start + k_distort_span) -
                      2 * map(k_start + k_distort_span / 2));
    };
    EXPECT_LE(bend(steady.maps[0]), 2);
    EXPECT_GT(bend(wandering.maps[0]), 1000);
    const std::int64_t moved = steady.maps[2](k_start) - wandering.maps[2](k_start);
    EXPECT_EQ(steady.maps[2], wandering.maps[2].shifted(moved));  // so that no time is negative
  }
}

TEST(Distort, residual_grows_with_wander) {
  const trace::Trace trace = make_trace(4);
  DistortOptions options;
  options.offset_noise_s = 0;
  double mean_1 = 0, mean_4 = 0;
  for (options.seed = 0; options.seed < k_distort_seeds; ++options.seed) {
    options.wander_ppm = 1;
    const Distortion one = distorted(trace, options);
    const double residual_1 = largest_error_after_linear(one);
    options.wander_ppm = 4;
    const double residual_4 = largest_error_after_linear(distorted(trace, options));
    // A wave of rate r and period P bends by r P / pi; chords take away at most as much again,
    // and two clocks are compared. P is 1.3 spans at most.
    ASSERT_LE(residual_1, 4 * 1e-6 * 1.3 * static_cast<double>(k_distort_span) / 3.14159);
    // The report says the same as a look from outside, up to the grid.
    ASSERT_NEAR(one.report.largest_residual_s * 1e9, residual_1, 0.02 * residual_1 + 5);
    mean_1 += residual_1 / k_distort_seeds;
    mean_4 += residual_4 / k_distort_seeds;
  }
  EXPECT_GT(mean_1, 5'000);  // 1 ppm over a minute: tens of microseconds
  EXPECT_NEAR(mean_4 / mean_1, 4, 0.01);
}

TEST(Distort, offsets_stay_within_their_bounds_and_are_reported) {
  const trace::Trace trace = make_trace(3);
  DistortOptions options;
  const double bound = options.offset_s + (options.drift_ppm + options.wander_ppm) * 1e-6 * 60;
  for (options.seed = 0; options.seed < k_distort_seeds; ++options.seed) {
    const Distortion d = distorted(trace, options);
    std::int64_t largest = 0;
    for (const ClockMap& map : d.maps) {
      for (std::uint64_t x = 0; x < k_distort_span; x += k_distort_span / 301) {
        largest = std::max(largest, std::abs(map(k_start + x) - std::int64_t(k_start + x)));
      }
    }
    ASSERT_LE(static_cast<double>(largest) * 1e-9, bound);
    ASSERT_NEAR(d.report.largest_offset_s, static_cast<double>(largest) * 1e-9, 20e-6);
  }
}

TEST(Distort, acts_on_corrected_times) {
  const trace::Trace trace = make_trace(2);
  std::vector<ClockMap> presync = identities(trace);
  for (std::size_t l = 0; l < presync.size(); ++l) {
    presync[l] = ClockMap::from_knots({{k_start, 1'000'000 * std::int64_t(l)},
                                       {k_start + k_distort_span, -300'000 * std::int64_t(l)}})
                     .value();
  }
  const DistortOptions options;
  const Distortion through = distort(trace, presync, options).value();
  for (const std::size_t l : {2u, 3u}) {
    // Two locations of one process whose stored clocks differ read one clock of true time.
    const auto own = [&](std::uint64_t stored) { return presync[l](stored); };
    const std::uint64_t a = k_start + 10'000'000'000;
    std::uint64_t b = a;  // stored time of location 2 at the same true instant
    while (presync[2](b) < own(a)) b += static_cast<std::uint64_t>(own(a) - presync[2](b));
    EXPECT_LE(std::abs(through.maps[l](a) - through.maps[2](b)), 3);
  }
}

TEST(Distort, no_time_becomes_negative) {
  trace::Trace trace = make_trace(4);
  for (trace::LocationSkeleton& location : trace.locations) {
    location.first -= k_start;
    location.last -= k_start;
    trace::testing::change_events(location, [](auto& events) {
      for (trace::Event& event : events) event.time -= k_start;
    });
  }
  DistortOptions options;
  options.wander_ppm = 500;  // so that the records lead far off during MPI_Init
  for (options.seed = 0; options.seed < 50; ++options.seed) {
    const Distortion d = distorted(trace, options);
    EXPECT_GE(d.first_time, 0);
    for (std::size_t l = 0; l < d.maps.size(); ++l) {
      const ClockMap correction = linear(d.clock_offsets[l]);
      for (const std::uint64_t stored : {trace.locations[l].first, trace.locations[l].last}) {
        const std::int64_t shown = d.maps[l](stored);
        const std::int64_t corrected = correction(static_cast<std::uint64_t>(shown));
        EXPECT_GE(std::min(shown, corrected), d.first_time);
        EXPECT_LE(std::max(shown, corrected), d.last_time);
      }
    }
    EXPECT_LE(d.report.largest_offset_s, options.offset_s + 520e-6 * 60);  // without the shift
  }
}

TEST(Distort, empty_locations_and_traces_are_fine) {
  trace::Trace trace = make_trace(2);
  trace.locations[1] = {};
  Distortion d = distorted(trace, {});
  EXPECT_EQ(d.report.events, 300u);
  EXPECT_EQ(d.maps.size(), 4u);

  for (trace::LocationSkeleton& location : trace.locations) location = {};
  d = distorted(trace, {});
  EXPECT_EQ(d.maps.size(), 4u);
  EXPECT_EQ(d.clock_offsets.size(), 4u);
  EXPECT_TRUE(d.clock_offsets[2].empty());
  EXPECT_EQ(d.report.events, 0u);
}

TEST(Distort, one_event_gets_two_records_a_reader_accepts) {
  trace::Trace trace = make_trace(2);
  for (trace::LocationSkeleton& location : trace.locations) {
    location = {};
    location.event_count = 1;
    location.first = location.last = k_start;
  }
  const Distortion d = distorted(trace, {});
  for (const auto& records : d.clock_offsets) {
    ASSERT_EQ(records.size(), 2u);
    EXPECT_LT(records[0].time, records[1].time);
  }
}

TEST(Distort, refuses_absurd_options) {
  const trace::Trace trace = make_trace(1);
  const auto refused = [&](auto change) {
    DistortOptions options;
    change(options);
    const auto result = distort(trace, identities(trace), options);
    return !result && result.error().kind == ErrorKind::usage;
  };
  EXPECT_TRUE(refused([](DistortOptions& o) { o.offset_s = -1; }));
  EXPECT_TRUE(refused([](DistortOptions& o) { o.drift_ppm = std::nan(""); }));
  EXPECT_TRUE(refused([](DistortOptions& o) { o.drift_ppm = 60'000, o.wander_ppm = 60'000; }));
  EXPECT_TRUE(refused([](DistortOptions& o) { o.wander_period_s = 1e-9; }));
  EXPECT_TRUE(refused([](DistortOptions& o) { o.offset_noise_s = 1e30; }));
  EXPECT_TRUE(refused([](DistortOptions& o) { o.sessions = 1; }));
  EXPECT_TRUE(refused([](DistortOptions& o) { o.sessions = k_most_distort_sessions + 1; }));
}

}  // namespace
}  // namespace entrain::sim
