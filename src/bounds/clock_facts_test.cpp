// SPDX-License-Identifier: BSD-3-Clause
#include "bounds/clock_facts.hpp"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "constraints/testing.hpp"
#include "trace/testing.hpp"

namespace entrain::bounds {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;
using trace::testing::TraceBuilder;

/// Locations 0 and 2 have events, 1 has none.
TraceBuilder three_locations() {
  TraceBuilder b(3);
  b.request(trace::EventKind::irecv_request, 0, 1'000, 1);
  b.request(trace::EventKind::irecv_request, 0, 3'000, 2);
  b.request(trace::EventKind::irecv_request, 2, 2'000, 1);
  b.trace().locations[0].clock_offsets = {{1'000, 0, 0}, {3'000, 0, 0}};
  b.trace().locations[2].clock_offsets = {{2'000, 50, 7.5}};
  return b;
}

TEST(ClockFacts, are_those_of_locations_with_events) {
  constraints::testing::WholeTrace whole(three_locations().trace());
  std::vector<ClockMap> maps(3);
  maps[0] = *ClockMap::from_knots({{1'000, 10}, {3'000, 30}});
  const std::vector<ClockFacts> facts = gather_clock_facts(whole.share(), maps);
  ASSERT_THAT(facts, SizeIs(2));
  EXPECT_EQ(facts[0].location, 0u);
  EXPECT_TRUE(facts[0].is_zero);
  EXPECT_FALSE(facts[0].has_interval);
  EXPECT_EQ(facts[0].records, 2u);
  EXPECT_EQ(facts[0].last, 3'000u);
  EXPECT_EQ(facts[0].line(1'000), 1'010);
  EXPECT_EQ(facts[0].line(3'000), 3'030);
  EXPECT_EQ(facts[1].location, 2u);
  EXPECT_FALSE(facts[1].is_zero);
  EXPECT_TRUE(facts[1].has_interval);
  EXPECT_EQ(facts[1].first, facts[1].last);
}

TEST(ClockFacts, of_a_trace_without_events_are_none) {
  constraints::testing::WholeTrace whole(TraceBuilder(2).trace());
  const std::vector<ClockMap> maps(2);
  EXPECT_THAT(gather_clock_facts(whole.share(), maps), IsEmpty());
  EXPECT_THAT(gather_measured_offsets(whole.share()), IsEmpty());
}

TEST(MeasuredOffsets, have_finite_half_widths_rounded_up) {
  TraceBuilder b = three_locations();
  b.trace().locations[1].clock_offsets = {{5, 1, std::numeric_limits<double>::infinity()},
                                          {6, 1, -1},
                                          {7, 1, 0x1p50},
                                          {8, 1, std::numeric_limits<double>::quiet_NaN()}};
  constraints::testing::WholeTrace whole(b.trace());
  std::vector<MeasuredOffset> offsets = gather_measured_offsets(whole.share());
  EXPECT_THAT(offsets, SizeIs(7));
  std::erase_if(offsets, [](const MeasuredOffset& offset) { return offset.half_width == 0; });
  ASSERT_THAT(offsets, SizeIs(1)) << "of the others it is unknown";
  EXPECT_EQ(offsets[0], (MeasuredOffset{2, 2'000, 50, 8}));
}

TEST(NamesOfClocks, are_those_of_their_first_locations) {
  const TraceBuilder b(6);
  std::vector<ClockFacts> facts(6);
  for (LocationIndex l = 0; l < 6; ++l) facts[l].location = l;
  const std::vector<std::uint32_t> clock_of{0, 1, 2, 3, 4, 1};
  const auto names = [&](const std::vector<std::uint32_t>& clocks) {
    return names_of_clocks(b.trace().definitions, facts, clock_of, clocks);
  };
  EXPECT_EQ(names({}), "");
  EXPECT_EQ(names({1}), "MPI Rank 1");
  EXPECT_EQ(names({1, 4}), "MPI Rank 1 and MPI Rank 4");
  EXPECT_EQ(names({0, 1, 2, 3, 4}), "MPI Rank 0, MPI Rank 1, MPI Rank 2 and 2 more");
  EXPECT_EQ(names({0, 9}), "MPI Rank 0 and the clock of the sessions");
}

}  // namespace
}  // namespace entrain::bounds
