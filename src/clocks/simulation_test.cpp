// SPDX-License-Identifier: BSD-3-Clause
// The estimators alone, on hours of virtual time with a known truth.
//
// A clock drifts by 20 ppm and wanders sinusoidally, by 1 ppm of its rate with a period of 120
// s: 19.1 us to either side. A session every 10 s makes 100 exchanges, of which the slowest tenth
// is not kept. A way takes 1 us and an exponential delay of 0.5 us in the mean; every 20th takes 20
// us more in the mean. Errors are those of the global time of an event every 37 ms between the
// first and the last session, against the truth; bounds are held against some seconds before and
// after as well.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <numbers>
#include <random>
#include <tuple>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "clocks/estimate.hpp"

namespace entrain::clocks {
namespace {

constexpr double k_second = 1e9;
constexpr std::uint64_t k_epoch = 1'700'000'000'000'000'000;  // beyond what a double holds

struct Simulated {
  double drift = 20e-6, wander = 1e-6, period_s = 120, phase = 0.7;
  double hours = 2, session_every_s = 10;
  double lopsided_ns = 0;           ///< ways back take longer by this
  std::size_t disturbed_every = 0;  ///< each n-th session is disturbed; 0: none
  std::uint64_t seed = 1;

  /// The reading of the clock `x` ns after the epoch, minus x.
  [[nodiscard]] double displacement(double x) const {
    const double w = 2 * std::numbers::pi / (period_s * k_second);
    return 5e6 + drift * x + wander / w * (std::sin(w * x + phase) - std::sin(phase));
  }
  [[nodiscard]] std::uint64_t shown(double x) const {
    return k_epoch + static_cast<std::uint64_t>(std::llrint(x + displacement(x)));
  }
  [[nodiscard]] double span() const { return hours * 3600 * k_second; }
};

/// Random delays that are the same with every standard library.
class Delays {
 public:
  explicit Delays(std::uint64_t seed) : generator_(seed) {}
  /// In a disturbed session every way waits for a core, 200 us in the mean.
  double way(bool disturbed = false) {
    if (disturbed) return 1'000 + exponential(200'000);
    const double rare = uniform() < 0.05 ? exponential(20'000) : 0;
    return 1'000 + exponential(500) + rare;
  }

 private:
  double uniform() { return (static_cast<double>(generator_() >> 11) + 0.5) * 0x1p-53; }
  double exponential(double mean) { return -mean * std::log(uniform()); }
  std::mt19937_64 generator_;
};

Session session_at(const Simulated& clock, double x, Delays& delays, bool disturbed = false) {
  Session session;
  for (int i = 0; i < 100; ++i) {
    const double there = delays.way(disturbed);
    const double back = delays.way(disturbed) + clock.lopsided_ns;
    const std::uint64_t sent = clock.shown(x);
    const auto master = k_epoch + static_cast<std::uint64_t>(std::llrint(x + there));
    Sample sample;
    sample.round_trip = clock.shown(x + there + back) - sent;
    sample.local = sent + sample.round_trip / 2;
    sample.offset = static_cast<std::int64_t>(master - sample.local);
    session.samples.push_back(sample);
    x += there + back + 5'000;
  }
  std::vector<std::uint64_t> lengths;
  for (const Sample& s : session.samples) lengths.push_back(s.round_trip);
  std::sort(lengths.begin(), lengths.end());
  for (Sample& s : session.samples) s.kept = s.round_trip <= lengths[89];
  const Sample& best = *std::min_element(
      session.samples.begin(), session.samples.end(),
      [](const Sample& a, const Sample& b) { return a.round_trip < b.round_trip; });
  // As the recorder does: half of the round trip and one step of the clock.
  session.record = {best.local, best.offset, static_cast<double>((best.round_trip + 1) / 2 + 1)};
  return session;
}

Sessions sessions_of(const Simulated& clock) {
  Delays delays(clock.seed);
  Sessions sessions;
  for (double x = k_second; x <= clock.span(); x += clock.session_every_s * k_second) {
    const std::size_t number = sessions.sessions.size() + 1;
    const bool disturbed = clock.disturbed_every != 0 && number % clock.disturbed_every == 0;
    sessions.sessions.push_back(session_at(clock, x, delays, disturbed));
  }
  return sessions;
}

struct Errors {
  double rms = 0, p99 = 0, max = 0;  ///< ns
  double bound = 0;                  ///< largest one stated inside; 0: none
  std::uint64_t beyond = 0;          ///< events whose error is larger than the bound stated there
};

Errors errors_of(const Simulated& clock, const Estimate& estimate) {
  Errors result;
  std::vector<double> all;
  const double last = std::floor((clock.span() / k_second - 1) / clock.session_every_s) *
                          clock.session_every_s * k_second +
                      k_second;
  for (double x = 0; x <= clock.span() + 3 * k_second; x += 0.037 * k_second) {
    const std::uint64_t local = clock.shown(x);
    const auto truth = static_cast<std::int64_t>(k_epoch) + std::llrint(x);
    const double error = std::abs(static_cast<double>(estimate.map(local) - truth));
    const auto bound = estimate.error.at(local);
    if (bound && error > *bound) ++result.beyond;
    if (x < k_second || x > last) continue;
    all.push_back(error);
    result.rms += error * error;
  }
  result.rms = std::sqrt(result.rms / static_cast<double>(all.size()));
  std::sort(all.begin(), all.end());
  result.p99 = all[all.size() * 99 / 100];
  result.max = all.back();
  result.bound = estimate.quality.predicted_bound_ticks.value_or(0);
  return result;
}

Sessions ends_of(Sessions sessions) {
  return {{sessions.sessions.front(), sessions.sessions.back()}, false};
}

void print(const char* name, const Errors& e) {
  std::cout << fmt::format("{:<32} rms {:>9.1f} p99 {:>9.1f} max {:>9.1f} bound {:>9.1f} ns\n",
                           name, e.rms, e.p99, e.max, e.bound);
}

Errors errors_with(const Simulated& clock, const Sessions& sessions, Method method, Condensing rule,
                   const char* name) {
  const Errors errors = errors_of(clock, estimate(sessions, method, rule).value());
  print(name, errors);
  EXPECT_EQ(errors.beyond, 0u) << name;
  return errors;
}

TEST(SimulatedClock, spline_follows_the_wander) {
  const Simulated clock;
  const Sessions sessions = sessions_of(clock);
  ASSERT_EQ(sessions.sessions.size(), 720u);
  const auto with = [&](const Sessions& of, Method method, Condensing rule, const char* name) {
    return errors_with(clock, of, method, rule, name);
  };
  const Errors two =
      with(ends_of(sessions), Method::linear, Condensing::shortest, "linear, two sessions");
  const Errors linear = with(sessions, Method::linear, Condensing::shortest, "linear, all");
  const Errors line =
      with(sessions, Method::regression, Condensing::shortest, "regression, shortest");
  const Errors line_mean = with(sessions, Method::regression, Condensing::mean, "regression, mean");
  const Errors spline = with(sessions, Method::spline, Condensing::shortest, "spline, shortest");
  const Errors spline_mean = with(sessions, Method::spline, Condensing::mean, "spline, mean");
  const Errors spline_weighted =
      with(sessions, Method::spline, Condensing::weighted, "spline, weighted");

  EXPECT_EQ(two.bound, 0) << "two sessions know nothing of a wander";
  // The sinusoid itself: 19.1 us / sqrt 2 if the line runs along its middle.
  EXPECT_NEAR(line.rms, 13'500, 300);
  EXPECT_NEAR(line_mean.rms, 13'500, 300);
  EXPECT_LE(spline.rms * 5, two.rms);
  EXPECT_LE(spline.rms * 5, line.rms);
  EXPECT_LE(spline.rms, 60);
  EXPECT_LE(spline.max, 300);
  EXPECT_LE(spline_weighted.rms, 150);
  EXPECT_LE(spline_mean.rms, 1'000);
  EXPECT_LE(spline.rms, spline_mean.rms) << "the shortest ways say most";
  EXPECT_LE(spline.rms, linear.rms);
  // Bounds are worth something.
  EXPECT_LE(spline.bound, 5'000);
  EXPECT_EQ(estimate(sessions, Method::spline, Condensing::shortest)->quality.disturbed, 0u);
  EXPECT_EQ(choose_method(cross_validate(sessions, Condensing::shortest), 720), Method::spline);
}

TEST(SimulatedClock, a_line_is_best_for_a_clock_that_does_not_wander) {
  Simulated clock;
  clock.wander = 0;
  clock.hours = 0.5;
  clock.seed = 2;
  const Sessions sessions = sessions_of(clock);
  const Errors line = errors_with(clock, sessions, Method::regression, Condensing::shortest,
                                  "straight: regression");
  const Errors spline =
      errors_with(clock, sessions, Method::spline, Condensing::shortest, "straight: spline");
  EXPECT_LE(line.rms, 10);
  EXPECT_LE(line.rms, spline.rms);
  EXPECT_EQ(choose_method(cross_validate(sessions, Condensing::shortest), 180), Method::regression);
}

TEST(SimulatedClock, bounds_hold_for_all_phases_and_periods) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Simulated clock;
    clock.seed = seed;
    clock.hours = 1.0 / 30;  // 12 sessions
    clock.wander = 5e-6;
    clock.lopsided_ns = 100 * static_cast<double>(seed % 10);
    clock.phase = static_cast<double>(seed) * 0.61;
    clock.period_s = 40 + 7 * static_cast<double>(seed % 17);  // from four sessions per period up
    const Sessions sessions = sessions_of(clock);
    for (const Method method : {Method::linear, Method::regression, Method::spline}) {
      for (const Condensing rule : {Condensing::shortest, Condensing::mean}) {
        const auto made = estimate(sessions, method, rule).value();
        const Errors errors = errors_of(clock, made);
        EXPECT_EQ(errors.beyond, 0u) << name_of(method) << ", seed " << seed;
        EXPECT_GT(errors.bound, 0);
        EXPECT_TRUE(made.map.is_monotone());
      }
    }
  }
}

TEST(SimulatedClock, disturbed_sessions_do_not_bend_the_spline) {
  Simulated clock;
  clock.hours = 0.5;
  clock.disturbed_every = 7;
  const Sessions sessions = sessions_of(clock);
  ASSERT_EQ(sessions.sessions.size(), 180u);
  // With all of them the rms errors are 424, 5,384 and 1,031 ns.
  for (const auto& [rule, name, least_left_out, most_rms] :
       {std::tuple{Condensing::shortest, "disturbed: spline, shortest", 10u, 200.0},
        std::tuple{Condensing::mean, "disturbed: spline, mean", 25u, 120.0},
        std::tuple{Condensing::weighted, "disturbed: spline, weighted", 25u, 120.0}}) {
    const Errors errors = errors_with(clock, sessions, Method::spline, rule, name);
    EXPECT_LE(errors.rms, most_rms) << name;
    const ClockQuality quality = estimate(sessions, Method::spline, rule)->quality;
    EXPECT_EQ(quality.sessions, 180u);
    EXPECT_GE(quality.disturbed, least_left_out) << name;
    EXPECT_LE(quality.disturbed, 25u) << name << ": the others are fine";
  }
  errors_with(clock, sessions, Method::linear, Condensing::shortest, "disturbed: linear");
  EXPECT_EQ(choose_method(cross_validate(sessions, Condensing::shortest), 180), Method::spline);
}

TEST(SimulatedClock, the_same_sessions_give_the_same_map) {
  const Sessions sessions = sessions_of({.hours = 0.1});
  for (const Method method : {Method::linear, Method::regression, Method::spline}) {
    EXPECT_EQ(estimate(sessions, method, Condensing::shortest)->map,
              estimate(sessions, method, Condensing::shortest)->map);
  }
}

}  // namespace
}  // namespace entrain::clocks
