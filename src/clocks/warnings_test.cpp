// SPDX-License-Identifier: BSD-3-Clause
#include "clocks/warnings.hpp"

#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/team.hpp"
#include "clocks/presync.hpp"
#include "trace/properties.hpp"
#include "trace/testing.hpp"

namespace entrain::clocks {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using trace::testing::TraceBuilder;
using Records = std::vector<trace::ClockOffset>;

/// Warnings of a trace with these records; a tick is a microsecond.
std::vector<std::string> warnings_of(const std::vector<Records>& clocks,
                                     std::uint32_t threads = 1) {
  TraceBuilder b(static_cast<std::uint32_t>(clocks.size()) / threads, threads);
  trace::Partition halves;
  for (LocationIndex l = 0; l < clocks.size(); ++l) {
    b.trace().locations[l].clock_offsets = clocks[l];
    b.trace().locations[l].event_count = 1;
    b.trace().definitions.locations[l].name = "Thread " + std::to_string(l % threads);
    halves.owner.push_back(l / threads % 2);
  }
  Solo solo;
  const trace::Partition whole = trace::undivided(b.trace().definitions);
  std::vector<std::string> warnings = warnings_of_records({solo, whole, b.trace()}, {});
  const auto status = run_team(2, [&](Team& team) -> Result<void> {
    EXPECT_EQ(warnings_of_records({team, halves, b.trace()}, {}), warnings);
    return {};
  });
  EXPECT_TRUE(status);
  return warnings;
}

TEST(ClockWarnings, clocks_that_are_seconds_apart_are_told) {
  const Records master{{0, 0, 0}, {60'000'000, 0, 0}};
  EXPECT_THAT(warnings_of({master, {{0, 1'000'000, 2}, {60'000'000, 1'000'000, 2}}}), IsEmpty());
  EXPECT_THAT(
      warnings_of({master,
                   {{0, 700'000, 2}, {60'000'000, 700'000, 2}},
                   {{0, -400'000, 2}, {60'000'000, -400'000, 2}}}),
      ElementsAre(HasSubstr("the clock of MPI Rank 2 is 1.1 s ahead of that of MPI Rank 1")));
  // All together may count from anywhere.
  EXPECT_THAT(warnings_of({{{0, 5'000'000, 2}, {60'000'000, 5'000'000, 2}},
                           {{0, 5'000'100, 2}, {60'000'000, 5'000'100, 2}}}),
              IsEmpty());
}

TEST(ClockWarnings, clocks_that_were_not_measured_beside_others_are_told) {
  const Records master{{5, 0, 0}, {70'000'000, 0, 0}};
  EXPECT_THAT(warnings_of({master, {}, master, {}}),
              ElementsAre(HasSubstr("the clock of MPI Rank 1 (2 locations in all), but")));
  EXPECT_THAT(warnings_of({{}, {}}), IsEmpty());
  EXPECT_THAT(
      warnings_of({master, {}, master, {}}, 2),
      ElementsAre(HasSubstr("the clock of Thread 1 of MPI Rank 0 (2 locations in all), but")));
}

TEST(ClockWarnings, clocks_that_were_measured_once_are_told) {
  const Records master{{5, 0, 0}}, once{{7, 100, 2}};
  EXPECT_THAT(warnings_of({master, once}),
              ElementsAre(AllOf(HasSubstr("the clock of MPI Rank 1 was measured only once:"),
                                HasSubstr("200 us more for every second"))));
  EXPECT_THAT(warnings_of({master, once, once}),
              ElementsAre(HasSubstr("MPI Rank 1 was measured only once (2 locations in all):")));
  EXPECT_THAT(warnings_of({master, {{7, 100, 2}, {9, 100, 2}}}), IsEmpty());
}

TEST(ClockWarnings, rates_that_no_crystal_has_are_told) {
  const Records master{{0, 0, 0}, {60'000'000, 0, 0}};
  EXPECT_THAT(warnings_of({master, {{0, 0, 2}, {60'000'000, 60'000, 2}}}), IsEmpty());
  const Records slow{{0, 0, 100}, {1'000'000, 0, 100}, {3'000'000, 5'200, 100}};
  EXPECT_THAT(warnings_of({master, slow}),
              ElementsAre(AllOf(HasSubstr("MPI Rank 1 is at least 2500 ppm too slow"),
                                HasSubstr("two sessions 2 s apart:"))));
  const Records fast{{0, 0, 0}, {1'000'000, -3'000, 0}};
  EXPECT_THAT(warnings_of({master, slow, fast}),
              ElementsAre(AllOf(HasSubstr("MPI Rank 2 is at least 3000 ppm too fast"),
                                HasSubstr("(2 locations above 1000 ppm)"))));
  // Sessions that lie close together say nothing of rates.
  EXPECT_THAT(warnings_of({master, {{0, 0, 20}, {1'000, 30, 20}}}), IsEmpty());
  // A half-width that is no number allows nothing.
  EXPECT_EQ(warnings_of({master, {{0, 0, HUGE_VAL}, {1'000'000, 3'000, -1}}}).size(), 1u);
}

TEST(ClockWarnings, a_presync_carries_them_unless_the_archive_was_corrected) {
  TraceBuilder b(2);
  for (LocationIndex l = 0; l < 2; ++l) {
    b.request(trace::EventKind::irecv_request, l, 1'000, 1);
    const auto offset = static_cast<std::int64_t>(l) * 2'000'000;
    b.trace().locations[l].clock_offsets = {{0, offset, 1}, {2'000, offset, 1}};
  }
  const CheckOptions options;
  EXPECT_EQ(presynchronise(b.trace(), options)->clocks.warnings.size(), 1u);
  EXPECT_THAT(presynchronise(b.trace(), PresyncOptions(Presync::linear))->clocks.warnings,
              IsEmpty());
  CheckOptions none;
  none.presync = Presync::none;
  EXPECT_THAT(presynchronise(b.trace(), none)->clocks.warnings, IsEmpty());
  b.trace().definitions.properties = {{trace::k_property_correction, "mu_ticks=0/0/0"}};
  EXPECT_THAT(presynchronise(b.trace(), options)->clocks.warnings, IsEmpty());
}

TEST(ClockWarnings, violations_of_seconds_are_told) {
  CheckReport report;
  report.resolution_hz = 1'000'000;
  report.presync = PresyncMethod::none;
  report.edges[0].worst = WorstEdge{-1'000'000, {}, {}};
  warn_of_violations(report);
  EXPECT_THAT(report.estimation.warnings, IsEmpty());
  report.edges[1].worst = WorstEdge{-2'500'000, {}, {}};
  warn_of_violations(report);
  report.presync = PresyncMethod::linear;
  warn_of_violations(report);
  EXPECT_THAT(report.estimation.warnings,
              ElementsAre(AllOf(HasSubstr("up to 2.5 s"), HasSubstr("nothing measured")),
                          HasSubstr("whatever the sessions measured")));
}

}  // namespace
}  // namespace entrain::clocks
