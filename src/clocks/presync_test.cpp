// SPDX-License-Identifier: BSD-3-Clause
#include "clocks/presync.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/team.hpp"
#include "base/temp_folder_testing.hpp"
#include "trace/properties.hpp"
#include "trace/testing.hpp"

namespace entrain::clocks {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using trace::testing::TraceBuilder;
using K = trace::EventKind;

/// Two locations with an event at 1000 each.
TraceBuilder two_locations() {
  TraceBuilder b(2);
  for (LocationIndex l = 0; l < 2; ++l) b.request(K::irecv_request, l, 1'000, 1);
  return b;
}

std::vector<trace::ClockOffset>& offsets(TraceBuilder& b, LocationIndex l) {
  return b.trace().locations[l].clock_offsets;
}

CheckOptions reported(Presync method) {
  CheckOptions options;
  options.presync = method;
  return options;
}

void expect_refused(const TraceBuilder& b, const char* why) {
  const auto refused = presynchronise(b.trace(), Presync::automatic);
  ASSERT_FALSE(refused) << why;
  EXPECT_EQ(refused.error().kind, ErrorKind::input);
  EXPECT_THAT(refused.error().message,
              AllOf(HasSubstr("location 101 of hand-made"), HasSubstr(why)));
}

TEST(Presynchronise, automatic_is_linear_where_there_are_records) {
  TraceBuilder b = two_locations();
  EXPECT_EQ(presynchronise(b.trace(), Presync::automatic)->method, PresyncMethod::none);
  EXPECT_EQ(presynchronise(b.trace(), Presync::linear)->method, PresyncMethod::linear);
  offsets(b, 1) = {{0, 10, 0}, {2'000, 30, 0}};
  const auto linear = presynchronise(b.trace(), Presync::automatic);
  ASSERT_TRUE(linear);
  EXPECT_EQ(linear->method, PresyncMethod::linear);
  EXPECT_TRUE(linear->maps[0].is_identity());
  EXPECT_THAT(linear->maps[1].knots(), ElementsAre(ClockKnot{0, 10}, ClockKnot{2'000, 30}));
  EXPECT_EQ(linear->maps[1](1'000), 1'020);
  const auto none = presynchronise(b.trace(), Presync::none);
  EXPECT_EQ(none->method, PresyncMethod::none);
  EXPECT_TRUE(none->maps[1].is_identity());
}

TEST(Presynchronise, a_clock_that_was_measured_once_gets_a_constant_offset) {
  TraceBuilder b = two_locations();
  b.request(K::irecv_request, 1, 101'000, 2);
  offsets(b, 0) = {{900, 0, 0}};
  offsets(b, 1) = {{1'000, 500, 7}};
  for (const Presync method :
       {Presync::automatic, Presync::linear, Presync::regression, Presync::spline}) {
    EXPECT_EQ(presynchronise(b.trace(), method)->maps[1](51'000), 51'500);
    const auto made = presynchronise(b.trace(), reported(method));
    EXPECT_EQ(made->maps[1](51'000), 51'500);
    EXPECT_EQ(made->maps[0](51'000), 51'000);
    ASSERT_EQ(made->clocks.clocks.size(), 2u);
    EXPECT_EQ(made->clocks.clocks[1].interval_bound_ticks, 7);
    // 200 ppm of the 100,000 ticks to the last event, and a tick of rounding.
    EXPECT_NEAR(*made->clocks.clocks[1].predicted_bound_ticks, 7 + 1 + 20, 0.01);
    EXPECT_THAT(made->clocks.warnings, ElementsAre(HasSubstr("measured only once")));
  }
}

TEST(Presynchronise, a_lone_record_counts_for_nothing_in_a_reader_and_in_a_correction) {
  TraceBuilder b = two_locations();
  offsets(b, 1) = {{0, 500, 0}};
  EXPECT_EQ(presynchronise(b.trace(), PresyncOptions::of_reader())->maps[1](1'000), 1'000);
  b.trace().definitions.properties = {{trace::k_property_correction, "mode=overlay"}};
  EXPECT_EQ(presynchronise(b.trace(), Presync::automatic)->maps[1](1'000), 1'000);
  EXPECT_EQ(presynchronise(b.trace(), reported(Presync::linear))->maps[1](1'000), 1'000);
}

TEST(Presynchronise, negative_times_move_all_locations_together) {
  TraceBuilder b = two_locations();
  offsets(b, 0) = {{0, -400, 0}, {2'000, -400, 0}};
  offsets(b, 1) = {{0, -1'300, 0}, {2'000, -1'300, 0}};
  const auto result = presynchronise(b.trace(), Presync::automatic);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->maps[1](1'000), 0);
  EXPECT_EQ(result->maps[0](1'000), 900);  // 600 + 300
}

TEST(Presynchronise, negative_times_move_an_identity_too) {
  TraceBuilder b = two_locations();
  offsets(b, 1) = {{0, -1'300, 0}, {2'000, -1'300, 0}};
  EXPECT_EQ(presynchronise(b.trace(), Presync::automatic)->maps[0](1'000), 1'300);
}

TEST(Presynchronise, times_of_no_event_may_be_negative) {
  TraceBuilder b = two_locations();
  offsets(b, 0) = {{0, -900, 0}, {2'000, -900, 0}};
  EXPECT_EQ(presynchronise(b.trace(), Presync::automatic)->maps[0](1'000), 100);
  b.trace().locations[0] = {};  // no events at all
  offsets(b, 0) = {{0, -9'000, 0}, {2'000, -9'000, 0}};
  EXPECT_EQ(presynchronise(b.trace(), Presync::automatic)->maps[1](1'000), 1'000);
}

TEST(Presynchronise, records_out_of_order_are_refused) {
  for (const std::uint64_t second : {100u, 99u}) {
    TraceBuilder b = two_locations();
    offsets(b, 1) = {{100, 0, 0}, {second, 1, 0}};
    expect_refused(b, "--presync none");
    EXPECT_TRUE(presynchronise(b.trace(), Presync::none));
  }
}

TEST(Presynchronise, records_that_turn_time_back_are_refused) {
  TraceBuilder b = two_locations();
  offsets(b, 1) = {{100, 0, 0}, {200, -100, 0}};  // stands still
  EXPECT_TRUE(presynchronise(b.trace(), Presync::automatic));
  offsets(b, 1) = {{100, 0, 0}, {200, -101, 0}};
  expect_refused(b, "make time run backward");
}

TEST(Presynchronise, stamps_that_decrease_are_refused) {
  TraceBuilder b = two_locations();
  b.trace().locations[1].decreasing = "event 7 at 10 after 11";
  expect_refused(b, "event 7 at 10 after 11");
  EXPECT_FALSE(presynchronise(b.trace(), Presync::none));
}

/// Location 1 wanders: a session every 1000 ticks, with this half-width.
void let_wander(TraceBuilder& b, double half_width, std::size_t sessions = 8) {
  for (std::size_t k = 0; k < sessions; ++k) {
    const auto time = static_cast<std::uint64_t>(k) * 1'000 + 500;
    offsets(b, 0).push_back({time, 0, 0});
    const double wander = 100 * std::sin(static_cast<double>(time) / 1'300);
    offsets(b, 1).push_back({time, 50 + std::llrint(wander), half_width});
  }
}

TEST(Presynchronise, automatic_takes_the_method_that_predicts_sessions_left_out) {
  TraceBuilder b = two_locations();
  let_wander(b, 3);
  const auto spline = presynchronise(b.trace(), reported(Presync::automatic));
  ASSERT_TRUE(spline) << spline.error().message;
  EXPECT_EQ(spline->method, PresyncMethod::spline);
  EXPECT_THAT(spline->clocks.reason, HasSubstr("sessions left out are missed by"));
  EXPECT_EQ(text_of(spline->clocks.sessions), "ClockOffset records");
  ASSERT_EQ(spline->clocks.clocks.size(), 2u);
  EXPECT_EQ(spline->clocks.clocks[0].location, 100u);
  EXPECT_EQ(spline->clocks.clocks[0].predicted_bound_ticks, 0) << "the reference is exact";
  EXPECT_GT(*spline->clocks.clocks[1].predicted_bound_ticks, 3);
  EXPECT_EQ(spline->maps[1](1'500), 1'550 + std::llrint(100 * std::sin(1'500 / 1'300.0)));

  for (auto& record : offsets(b, 1)) record.offset = 70 + (record.time / 1'000 % 2 == 0 ? 2 : -2);
  EXPECT_EQ(presynchronise(b.trace(), Presync::automatic)->method, PresyncMethod::regression);
  for (auto& record : offsets(b, 1)) record.offset = 70;
  EXPECT_EQ(presynchronise(b.trace(), Presync::automatic)->method, PresyncMethod::linear)
      << "no reason to";
}

TEST(Presynchronise, automatic_is_linear_with_two_sessions_and_asks_the_middle_of_three) {
  TraceBuilder b = two_locations();
  offsets(b, 1) = {{0, 0, 5}, {2'000, 90, 5}};
  const auto two = presynchronise(b.trace(), reported(Presync::automatic));
  EXPECT_EQ(two->method, PresyncMethod::linear);
  EXPECT_EQ(two->clocks.reason, "there are fewer than three sessions");
  offsets(b, 1) = {{0, 0, 5}, {1'000, 54, 5}, {2'000, 90, 5}};
  EXPECT_EQ(presynchronise(b.trace(), Presync::automatic)->method, PresyncMethod::linear);
  offsets(b, 1)[1].offset = 56;  // 11 ticks off the middle; 10 are explained
  EXPECT_EQ(presynchronise(b.trace(), Presync::automatic)->method, PresyncMethod::spline);
}

TEST(Presynchronise, records_of_a_corrected_archive_are_no_measurements) {
  TraceBuilder b = two_locations();
  let_wander(b, 3);
  b.trace().definitions.properties = {{trace::k_property_correction, "presync=spline"}};
  const auto automatic = presynchronise(b.trace(), reported(Presync::automatic));
  EXPECT_EQ(automatic->method, PresyncMethod::linear);
  EXPECT_THAT(automatic->clocks.reason, HasSubstr("corrected already"));
  for (const Presync method : {Presync::regression, Presync::spline}) {
    const auto refused = presynchronise(b.trace(), method);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::input);
    EXPECT_THAT(refused.error().message, HasSubstr("was corrected already"));
  }
}

TEST(Presynchronise, without_records_there_is_nothing_to_fit) {
  const TraceBuilder b = two_locations();
  for (const Presync method : {Presync::regression, Presync::spline}) {
    const auto refused = presynchronise(b.trace(), method);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message,
                AllOf(HasSubstr("no ClockOffset records"), HasSubstr("--presync none")));
  }
}

TEST(StraightInFlushes, takes_out_the_knots_strictly_inside) {
  const ClockMap map =
      *ClockMap::from_knots({{0, 0}, {900, 1}, {1'000, 100}, {1'100, 90}, {2'100, 50}, {3'000, 0}});
  trace::LocationSkeleton location;
  location.flushes = {{900, 1'100}, {950, 1'000}, {2'000, 2'200}};
  const ClockMap straight = *straight_in_flushes(map, location);
  EXPECT_EQ(straight, *ClockMap::from_knots({{0, 0}, {900, 1}, {1'100, 90}, {3'000, 0}}));
  EXPECT_EQ(*straight_in_flushes(map, {}), map);
}

TEST(Presynchronise, a_spline_is_straight_inside_of_flushes) {
  TraceBuilder b = two_locations();
  let_wander(b, 0);
  const auto has_knot_inside = [](const Presynchronised& made) {
    for (const ClockKnot& knot : made.maps[1].knots()) {
      if (knot.local > 2'100 && knot.local < 2'400) return true;
    }
    return false;
  };
  EXPECT_TRUE(has_knot_inside(*presynchronise(b.trace(), Presync::spline)));
  b.trace().locations[1].flushes = {{2'100, 2'400}};
  EXPECT_FALSE(has_knot_inside(*presynchronise(b.trace(), Presync::spline)));
}

TEST(Presynchronise, damaged_half_widths_are_unknown) {
  TraceBuilder b = two_locations();
  let_wander(b, 3);
  for (const double width : {-1.0, 0.0, 1e-300, 1e300, std::nan(""), HUGE_VAL}) {
    for (auto& record : offsets(b, 1)) record.stddev = width;
    for (const Presync method : {Presync::automatic, Presync::regression, Presync::spline}) {
      const auto made = presynchronise(b.trace(), reported(method));
      ASSERT_TRUE(made);
      EXPECT_FALSE(made->clocks.clocks[1].predicted_bound_ticks) << width;
    }
  }
}

/// A trace on disk as far as its exchanges go: 1 is measured, 2 is a thread that shares its clock.
class Exchanges : public testing::Test {
 protected:
  Exchanges() : builder_(3) {
    builder_.trace().path = (folder_ / "traces.otf2").string();
    for (LocationIndex l = 0; l < 3; ++l) builder_.request(K::irecv_request, l, 1'000, 1);
    for (std::uint64_t k = 0; k < 4; ++k) {
      const std::uint64_t at = 1'000 * (k + 1);
      offsets(builder_, 0).push_back({at, 0, 0});
      // The fastest exchange of each session is lopsided by 10; a slower one bounds it.
      for (const LocationIndex l : {1u, 2u}) offsets(builder_, l).push_back({at, 90, 20});
    }
    write(table());
  }

  static std::string table() {
    std::string text =
        "# units\n"
        "session,rank,parent,local_ticks,parent_ticks,master_ticks,round_trip_ticks,kept\n";
    for (std::uint64_t k = 0; k < 4; ++k) {
      const std::uint64_t at = 1'000 * (k + 1);
      for (const std::uint64_t rank : {7u, 9u}) {
        const std::uint64_t offset = rank == 7 ? 90 : 33;  // 9 belongs to no location
        text += fmt::format("{0},{1},0,{2},{3},{3},40,1\n", k, rank, at, at + offset);
        text +=
            fmt::format("{0},{1},0,{2},{3},{3},60,1\n", k, rank, at + 50, at + 50 + offset + 30);
      }
    }
    return sorted_by_rank(text);
  }

  static std::string sorted_by_rank(const std::string& text) {
    std::string head, seven, nine;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      const bool is_row = line.size() > 2 && line[1] == ',';
      (!is_row ? head : line[2] == '7' ? seven : nine) += line + "\n";
    }
    return head + seven + nine;
  }

  void write(const std::string& text) {
    std::ofstream(folder_ / "clock_samples.csv", std::ios::binary) << text;
  }

  [[nodiscard]] Result<Presynchronised> run(Presync method, Condensing rule) const {
    CheckOptions options = reported(method);
    options.condensing = rule;
    return presynchronise(builder_.trace(), options);
  }

  TraceBuilder builder_;
  TempFolder folder_;
};

TEST_F(Exchanges, count_where_they_belong_to_the_archive) {
  const auto shortest = run(Presync::spline, Condensing::shortest);
  ASSERT_TRUE(shortest) << shortest.error().message;
  EXPECT_EQ(text_of(shortest->clocks.sessions), "clock_samples.csv, shortest round trips");
  EXPECT_EQ(shortest->clocks.clocks[1].samples, 8u);
  EXPECT_EQ(shortest->clocks.clocks[2].samples, 8u) << "shares the clock";
  // [70, 110] and [90, 150] leave [90, 110].
  EXPECT_NEAR(static_cast<double>(shortest->maps[1](2'000) - 2'000), 100, 1);
  EXPECT_EQ(shortest->maps[1], shortest->maps[2]);
  EXPECT_NEAR(*shortest->clocks.clocks[1].interval_bound_ticks, 10, 2);

  const auto mean = run(Presync::regression, Condensing::mean);
  EXPECT_EQ(mean->clocks.sessions.condensing, Condensing::mean);
  EXPECT_NEAR(static_cast<double>(mean->maps[1](2'000) - 2'000), 105, 1);
  EXPECT_NEAR(mean->clocks.clocks[1].residual_rms_ticks, 15, 0.1);

  // What a reader sees stays what it is.
  EXPECT_EQ(run(Presync::linear, Condensing::shortest)->maps[1](2'000), 2'090);
}

TEST_F(Exchanges, decide_what_automatic_takes_with_few_sessions) {
  for (const std::size_t sessions : {2u, 1u}) {
    for (LocationIndex l = 0; l < 3; ++l) offsets(builder_, l).resize(sessions);
    const auto made = run(Presync::automatic, Condensing::shortest);
    ASSERT_TRUE(made);
    EXPECT_EQ(made->method, PresyncMethod::regression);
    EXPECT_THAT(made->clocks.reason, HasSubstr("their exchanges are known"));
    // The record alone says 90.
    EXPECT_NEAR(static_cast<double>(made->maps[1](2'000) - 2'000), 100, 1);
  }
  std::filesystem::remove(folder_ / "clock_samples.csv");
  EXPECT_EQ(run(Presync::automatic, Condensing::shortest)->method, PresyncMethod::linear);
}

TEST_F(Exchanges, of_another_archive_count_for_nothing) {
  offsets(builder_, 1)[2].offset = 91;
  const auto made = run(Presync::spline, Condensing::shortest);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->clocks.clocks[1].samples, 0u);
  EXPECT_EQ(made->maps[1](1'000), 1'090);
  EXPECT_EQ(made->clocks.clocks[2].samples, 8u);
}

TEST_F(Exchanges, that_are_damaged_are_refused_with_the_line) {
  const std::string good = table();
  for (const auto& [text, line] : std::vector<std::pair<std::string, std::string>>{
           {"", "ends before the names of its columns"},
           {"# only a comment\n", "ends before the names of its columns"},
           {"a,b\n", "line 1: these are not the columns"},
           {good + "4,7,0,1\n", "line 19: this is no exchange"},
           {good + "4,7,0,1,2,3,4,x\n", "line 19: this is no exchange"},
           {good + "4,7,0,1,2,3,4,2\n", "line 19: this is no exchange"},
           {good + "4,7,0,1,2,9223372036854775807,4,1\n", "line 19: this is no exchange"},
           {good + "4,7,0,99999999999999999999,2,3,4,1\n", "line 19: this is no exchange"}}) {
    write(text);
    const auto refused = run(Presync::spline, Condensing::shortest);
    ASSERT_FALSE(refused) << text;
    EXPECT_EQ(refused.error().kind, ErrorKind::input);
    EXPECT_THAT(refused.error().message, AllOf(HasSubstr("clock_samples.csv"), HasSubstr(line)));
    EXPECT_TRUE(run(Presync::linear, Condensing::shortest)) << "linear does not need them";
  }
}

TEST_F(Exchanges, do_not_depend_on_who_reads_them) {
  const auto alone = run(Presync::automatic, Condensing::shortest);
  ASSERT_TRUE(alone);
  const Presynchronised expected = *alone;
  const auto status = run_team(3, [&](Team& team) -> Result<void> {
    const trace::Partition partition{{0, 1, 2}};
    const trace::Share share{team, partition, builder_.trace()};
    const auto made = presynchronise(share, reported(Presync::automatic));
    if (!made) return tl::unexpected<Error>(made.error());
    EXPECT_EQ(made->method, expected.method);
    EXPECT_EQ(made->clocks.reason, team.rank() == 0 ? expected.clocks.reason : made->clocks.reason);
    EXPECT_EQ(made->maps[team.rank()], expected.maps[team.rank()]);
    EXPECT_EQ(made->clocks.clocks.size(), team.rank() == 0 ? 3u : 0u);
    return {};
  });
  EXPECT_TRUE(status);
}

}  // namespace
}  // namespace entrain::clocks
