// SPDX-License-Identifier: BSD-3-Clause
#include "clocks/estimate.hpp"

#include <gtest/gtest.h>

namespace entrain::clocks {
namespace {

Sessions of_records(const std::vector<trace::ClockOffset>& records) {
  Sessions clock;
  for (const auto& record : records) clock.sessions.push_back({record, {}});
  return clock;
}

Estimate estimated(const Sessions& clock, Method method) {
  return estimate(clock, method, Condensing::shortest).value();
}

constexpr std::array k_all{Method::linear, Method::regression, Method::spline};

TEST(Estimate, linear_is_what_a_reader_does) {
  const Sessions clock = of_records({{100, 5, 1}, {200, 15, 1}, {400, -7, 1}, {500, 0, 1}});
  const Estimate result = estimated(clock, Method::linear);
  EXPECT_EQ(std::vector(result.map.knots().begin(), result.map.knots().end()),
            (std::vector<ClockKnot>{{100, 5}, {200, 15}, {400, -7}, {500, 0}}));
  EXPECT_EQ(result.quality.sessions, 4u);
  EXPECT_EQ(result.quality.residual_max_ticks, 0);
  // The second lies 15 - (5 - 4) off the line between its neighbours, the third -7 - 5.
  EXPECT_NEAR(result.quality.left_out_max_ticks, 14, 1e-9);
  EXPECT_EQ(result.quality.interval_bound_ticks, 1);
  EXPECT_NEAR(*result.quality.predicted_bound_ticks, 1 + 14 + 1, 1e-9);
}

TEST(Estimate, regression_trusts_narrow_intervals) {
  const Sessions clock =
      of_records({{0, 0, 1}, {1'000'000, 110, 1}, {2'000'000, 900, 1000}, {3'000'000, 300, 1}});
  const Estimate result = estimated(clock, Method::regression);
  EXPECT_EQ(result.map.knots().size(), 2u);
  EXPECT_NEAR(result.quality.slope_ppm, 100, 2);
  EXPECT_NEAR(result.quality.residual_max_ticks, 700, 5);
  EXPECT_NEAR(*result.quality.interval_bound_ticks, 1'700, 5);
}

TEST(Estimate, regression_over_all_exchanges_is_intels_rule) {
  Sessions clock;
  for (std::uint64_t k = 0; k < 2; ++k) {
    Session session;
    const std::uint64_t at = k * 1'000'000;
    session.samples = {
        {at, 0, 10, true}, {at + 1'000, 60, 90, true}, {at + 2'000, 9'999, 500, false}};
    session.record = {at, 0, 5};
    clock.sessions.push_back(session);
  }
  const auto mean = estimate(clock, Method::regression, Condensing::mean).value();
  EXPECT_NEAR(static_cast<double>(mean.map(500'500) - 500'500), 30, 1);
  EXPECT_EQ(mean.quality.samples, 4u);
  EXPECT_NEAR(mean.quality.residual_rms_ticks, 30, 0.1);
  const auto weighted = estimate(clock, Method::regression, Condensing::weighted).value();
  EXPECT_NEAR(static_cast<double>(weighted.map(500'500) - 500'500), 60.0 / 82, 1);
}

TEST(Estimate, sessions_whose_kept_exchanges_share_a_time_are_refused) {
  Sessions clock;
  for (const std::uint64_t at : {100u, 200u}) {
    Session session;
    session.samples = {{at, 5, 10, false}, {150, 7, 10, true}};
    session.record = {at, 5, 5};
    clock.sessions.push_back(session);
  }
  for (const Condensing rule : {Condensing::mean, Condensing::weighted}) {
    EXPECT_FALSE(estimate(clock, Method::regression, rule));
    EXPECT_FALSE(estimate(clock, Method::spline, rule));
  }
}

TEST(Estimate, without_sessions_a_clock_stays_as_it_is) {
  for (const Method method : k_all) {
    EXPECT_EQ(estimated(of_records({}), method).map(17), 17);
    EXPECT_FALSE(estimated(of_records({}), method).error.known());
  }
}

TEST(Estimate, a_single_session_is_a_constant_offset) {
  for (const Method method : k_all) {
    const auto result =
        estimate(of_records({{1'000, 500, 20}}), method, Condensing::shortest, 1e-3).value();
    EXPECT_EQ(result.map(0), 500);
    EXPECT_EQ(result.map(1'000'000), 1'000'500);
    EXPECT_EQ(result.quality.sessions, 1u);
    EXPECT_EQ(result.quality.interval_bound_ticks, 20);
    // A tick of rounding, and what the rate may have added since.
    EXPECT_NEAR(*result.error.at(1'000), 21, 1e-9);
    EXPECT_NEAR(*result.error.at(101'001), 121, 1e-9);
    EXPECT_NEAR(*result.error.at(0), 22, 1e-9);
    EXPECT_FALSE(estimated(of_records({{1'000, 500, 0}}), method).error.known());
  }
}

TEST(Estimate, a_single_session_counts_with_all_of_its_exchanges) {
  Sessions clock = of_records({{1'000, 500, 20}});
  clock.sessions[0].samples = {{1'000, 500, 40, true}, {1'100, 525, 40, true}};
  EXPECT_EQ(estimated(clock, Method::regression).map(5'000), 5'512);
  EXPECT_EQ(estimated(clock, Method::regression).quality.samples, 2u);
  EXPECT_EQ(estimated(clock, Method::linear).map(5'000), 5'500) << "the record alone";
}

TEST(Estimate, a_single_session_at_the_end_of_time_is_a_constant_offset_too) {
  constexpr std::uint64_t k_last = ~std::uint64_t{0};
  EXPECT_EQ(estimated(of_records({{k_last, 500, 1}}), Method::linear).map(17), 517);
}

TEST(Estimate, two_sessions_are_a_line_for_all) {
  for (const Method method : k_all) {
    const Estimate result = estimated(of_records({{0, 100, 1}, {1'000'000, 300, 1}}), method);
    for (const std::uint64_t t : {0u, 250'000u, 1'000'000u, 2'000'000u}) {
      EXPECT_NEAR(static_cast<double>(result.map(t)), static_cast<double>(t) * 1.0002 + 100, 1);
    }
    EXPECT_FALSE(result.quality.predicted_bound_ticks) << "two sessions know of no wander";
    EXPECT_TRUE(result.quality.interval_bound_ticks);
  }
}

TEST(Estimate, unknown_half_widths_give_no_error) {
  for (const Method method : k_all) {
    const Estimate result =
        estimated(of_records({{0, 0, 0}, {10, 0, 1}, {20, 0, 1}, {30, 0, 1}}), method);
    EXPECT_FALSE(result.quality.interval_bound_ticks);
    EXPECT_FALSE(result.quality.predicted_bound_ticks);
  }
}

TEST(Estimate, the_global_clock_is_exact) {
  Sessions clock = of_records({{100, 0, 0}, {200, 0, 0}, {300, 0, 0}});
  clock.reference = true;
  for (const Method method : k_all) {
    const Estimate result = estimated(clock, method);
    EXPECT_TRUE(result.map.is_identity());
    EXPECT_EQ(result.error.at(250), 0);
    EXPECT_EQ(result.error.at(10'000), 0);
  }
}

TEST(Estimate, errors_grow_outside) {
  const Estimate result = estimated(
      of_records({{1'000, 0, 5}, {2'000, 3, 5}, {3'000, -3, 5}, {4'000, 2, 5}}), Method::spline);
  EXPECT_LT(*result.error.at(4'000), *result.error.at(4'500));
  EXPECT_LT(*result.error.at(4'500), *result.error.at(6'000));
  EXPECT_LT(*result.error.at(1'000), *result.error.at(500));
  EXPECT_LE(*result.error.at(2'500), *result.quality.predicted_bound_ticks);
}

TEST(Estimate, refuses_what_makes_time_run_backward) {
  for (const auto& records : std::vector<std::vector<trace::ClockOffset>>{
           {{0, 0, 1}, {100, -101, 1}},                      // falls
           {{0, 0, 1}, {100, 5, 1}, {100, 6, 1}},            // the same time twice
           {{0, std::int64_t{1} << 62, 1}, {100, 5, 1}}}) {  // out of range
    for (const Method method : k_all) {
      const auto result = estimate(of_records(records), method, Condensing::shortest);
      ASSERT_FALSE(result);
      EXPECT_EQ(result.error().kind, ErrorKind::input);
    }
    (void)cross_validate(of_records(records), Condensing::shortest);
  }
}

TEST(ChooseMethod, by_the_sessions_that_there_are) {
  const auto choice = [](std::array<std::int64_t, k_methods> distances, std::int64_t width,
                         std::int64_t sessions) {
    return choose_method({sessions, distances, width}, sessions);
  };
  EXPECT_EQ(choice({9, 0, 0}, 0, 2), Method::linear);
  EXPECT_EQ(choice({9, 9, 9}, 10, 3), Method::linear);
  EXPECT_EQ(choice({11, 11, 11}, 10, 3), Method::spline);
  EXPECT_EQ(choice({0, 0, 0}, 0, 9), Method::linear);
  EXPECT_EQ(choice({5, 9, 3}, 0, 9), Method::spline);
  EXPECT_EQ(choice({5, 2, 3}, 0, 9), Method::regression);
  EXPECT_EQ(choice({5, 3, 3}, 0, 9), Method::spline);
}

TEST(Estimate, a_spline_through_all_sessions_passes_every_condensed_point) {
  // The fourth of seven sessions is a thousand times as wide as the others, and says nothing new.
  Sessions clock = of_records({{0, 0, 100},
                               {1'000'000, 8'000, 100},
                               {2'000'000, 13'000, 100},
                               {3'000'000, 30'000, 100'000},
                               {4'000'000, 28'000, 100},
                               {5'000'000, 40'000, 100},
                               {6'000'000, 41'000, 100}});
  const auto offset = [&](std::uint64_t local) {
    const auto result = estimate(clock, Method::spline, Condensing::shortest).value();
    return result.map(local) - static_cast<std::int64_t>(local);
  };
  EXPECT_NE(offset(3'000'000), 30'000);
  EXPECT_EQ(cross_validate(clock, Condensing::shortest).inner_sessions, 4);
  clock.none_left_out = true;
  for (const Session& session : clock.sessions)
    EXPECT_EQ(offset(session.record.time), session.record.offset);
  EXPECT_EQ(estimate(clock, Method::spline, Condensing::shortest)->quality.disturbed, 0u);
  EXPECT_EQ(cross_validate(clock, Condensing::shortest).inner_sessions, 5);
}

}  // namespace
}  // namespace entrain::clocks
