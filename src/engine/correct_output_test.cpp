// SPDX-License-Identifier: BSD-3-Clause
#include "engine/correct_output.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/corrected_testing.hpp"
#include "trace/properties.hpp"

namespace entrain::engine {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using trace::EventKind;
using trace::testing::Corrected;
using trace::testing::shifted;
using trace::testing::TraceBuilder;
using trace::testing::two_locations;

TEST(CorrectOutput, the_range_holds_events_and_ends_of_flushes) {
  TraceBuilder b = two_locations();
  b.trace().locations[1].flushes.push_back({2000, 9000});
  Corrected c(b);
  const TimeRange range = time_range(c.share(), c.corrected);
  EXPECT_EQ(range.first, 1130);
  EXPECT_EQ(range.last, 9130);
}

TEST(CorrectOutput, the_range_of_no_event_is_the_begin_of_the_clock) {
  TraceBuilder b(2);
  b.trace().definitions.clock.global_offset = 42;
  Corrected c(b);
  const TimeRange range = time_range(c.share(), c.corrected);
  EXPECT_EQ(range.first, 42);
  EXPECT_EQ(range.last, 42);
  Corrected nothing{TraceBuilder(0)};
  EXPECT_EQ(time_range(nothing.share(), nothing.corrected).last, 0);
}

TEST(CorrectOutput, the_property_names_every_option) {
  CorrectOptions options;
  options.mode = WriteMode::rewrite;
  const Decimal9 gamma{990'000'000};
  Timeline timeline;
  timeline.presync.provenance = "linear";
  timeline.mu.ticks = {1, 2, 3};
  timeline.mu.source.origin = MuOrigin::given;
  timeline.report.clock_domain = ClockDomain::node;
  const std::string text = correction_property(options, timeline, gamma);
  for (const char* part : {"mode=rewrite ", "presync=linear ", "gamma=0.99 ", "mu_ticks=1/2/3 ",
                           "mu_source=given ", "max_slope=0.01 "}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  EXPECT_THAT(text, EndsWith("clock_domain=node"));
  EXPECT_THAT(text, Not(HasSubstr("ramp=")));
  options.ramp = RampShape::paper;
  options.measure_delta = true;
  EXPECT_THAT(correction_property(options, timeline, gamma),
              AllOf(HasSubstr("backward=on ramp=paper "), HasSubstr("delta_ticks=auto ")));
  options.amortize = false;
  EXPECT_THAT(correction_property(options, timeline, gamma),
              EndsWith("clock_domain=node amortize=off"));
}

TEST(CorrectOutput, every_member_of_a_team_knows_the_range) {
  const Corrected c(two_locations());
  const trace::Partition partition{{0, 1}};
  const auto done = run_team(2, [&](Team& team) -> Result<void> {
    const TimeRange range = time_range({team, partition, c.trace}, c.corrected);
    EXPECT_EQ(range.first, 1130);
    EXPECT_EQ(range.last, 3130);
    return {};
  });
  EXPECT_TRUE(done);
}

}  // namespace
}  // namespace entrain::engine
