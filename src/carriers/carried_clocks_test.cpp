// SPDX-License-Identifier: BSD-3-Clause
#include "carriers/carried_clocks.hpp"

#include <cstdint>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace entrain::carriers {
namespace {

using ::testing::ElementsAre;

/// A stream that comes before the thread that launches on it, 300 ticks behind, and another thread
/// that hears of both.
TEST(CarriedClocks, may_come_before_their_carriers) {
  Clocks clocks{.name = "run", .resolution_hz = 1'000'000'000, .clocks = {}};
  clocks.clocks = {{.name = "stream", .events = StampRange{700, 19'800}},
                   {.name = "thread", .events = StampRange{1'000, 20'020}},
                   {.name = "other", .events = StampRange{1'000, 21'000}}};
  EdgeList edges;
  for (std::uint64_t t = 1'000; t <= 20'000; t += 1'000) {
    edges.add({1, t}, {0, t + 8 - 300});          // a launch and its kernel
    edges.add({0, t + 100 - 300}, {1, t + 110});  // its end, and the call that waits for it
    edges.add({0, t + 100 - 300}, {2, t + 500});
    edges.add({1, t}, {2, t + 600});
  }
  const std::vector<std::uint32_t> carrier_of{1, 1, 2};
  const auto carried =
      carried_clocks(clocks, edges.view(), carrier_of,
                     [](const Clocks&, const Edges&) -> Result<std::vector<ClockMap>> {
                       return fail(ErrorKind::input, "a constant meets all edges");
                     });
  ASSERT_TRUE(carried) << carried.error().message;
  EXPECT_THAT(carried->carrier, ElementsAre(0, 0, 1));
  EXPECT_EQ(carried->clocks.clocks[0].name, "thread");
  EXPECT_THAT(carried->apart, ElementsAre(0));
  EXPECT_TRUE(carried->steps.empty());
  const std::int64_t moved = carried->inner[0](10'000);
  EXPECT_GE(moved, 10'292);
  EXPECT_LE(moved, 10'310);
  ASSERT_EQ(carried->list.cause_clock.size(), 40U) << "edges inside of a carrier are left out";
  EXPECT_THAT(std::vector(carried->list.cause_clock.begin(), carried->list.cause_clock.end()),
              ::testing::Each(0U));
  EXPECT_GE(carried->list.cause_time[0], 1'092U);
  const std::vector<ClockMap> outer{ClockMap().shifted(5), ClockMap()};
  EXPECT_EQ(maps_of_all(*carried, outer)->at(0)(10'000), moved + 5);
}

/// A stream 300 ticks behind its thread, of which work waits for 1,000 ticks. To the others it is
/// 100 ticks ahead: once it is apart, that is no error of the thread, unless this says so itself.
TEST(CarriedClocks, alone_are_wrong_where_their_carrier_may_be_right) {
  for (const bool bears_witness : {false, true}) {
    Clocks clocks{.name = "run", .resolution_hz = 1'000'000'000, .clocks = {}};
    clocks.clocks = {{.name = "thread", .events = StampRange{1'000, 20'020}},
                     {.name = "stream", .events = StampRange{700, 19'800}},
                     {.name = "other", .events = StampRange{1'000, 21'000}}};
    EdgeList edges;
    for (std::uint64_t t = 1'000; t <= 20'000; t += 1'000) {
      edges.add({0, t}, {1, t + (t == 5'000 ? 0 : 1'000) - 300});
      edges.add({2, t}, {1, t + 900});
      if (bears_witness) edges.add({0, t}, {2, t + 600});
    }
    const std::vector<std::uint32_t> carrier_of{0, 0, 2};
    auto carried = carried_clocks(clocks, edges.view(), carrier_of,
                                  [](const Clocks&, const Edges&) -> Result<std::vector<ClockMap>> {
                                    return fail(ErrorKind::input, "a constant meets all edges");
                                  });
    ASSERT_TRUE(carried) << carried.error().message;
    const std::vector<ClockMap> outer{ClockMap().shifted(100), ClockMap()};
    leave_maps_to_carried(*carried, edges.view(), outer);
    const auto maps = maps_of_all(*carried, outer);
    ASSERT_TRUE(maps);
    EXPECT_EQ(maps->at(0).is_identity(), !bears_witness);
    EXPECT_EQ(maps->at(1)(10'000), 10'400);
    const std::vector<ClockMap> far{ClockMap().shifted(9'000), ClockMap()};
    leave_maps_to_carried(*carried, edges.view(), far);
    EXPECT_TRUE(carried->still.empty()) << "the thread is as late as the stream";
  }
}

TEST(CarriedClocks, have_the_first_clock_of_their_process_as_carrier) {
  EXPECT_THAT(first_of_processes(std::vector<std::uint32_t>{4, 7, 4, 7}), ElementsAre(0, 1, 0, 1));
}

}  // namespace
}  // namespace entrain::carriers
