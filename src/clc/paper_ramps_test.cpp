// SPDX-License-Identifier: BSD-3-Clause
#include "clc/paper_ramps.hpp"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "clc/ramp_testing.hpp"

namespace entrain::clc {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Times = std::vector<std::int64_t>;

struct BuiltCurve {
  Curve curve;
  Times displacement;
};

BuiltCurve build(const std::vector<testing::RampNode>& nodes, std::uint64_t first_stamp) {
  const testing::RampArrays arrays(nodes);
  BuiltCurve result{{}, arrays.lower};
  result.curve =
      curve_of_paper_ramps(arrays.input(first_stamp), result.displacement, Cancel(nullptr));
  return result;
}

TEST(PaperRamps, without_limits_a_line_from_the_start_of_the_interval_to_the_top) {
  const BuiltCurve built = build({{0}, {40'000}, {100'000, 1'000, true}}, 0);
  EXPECT_THAT(built.displacement, ElementsAre(0, 400, 1'000));
  EXPECT_THAT(built.curve, ElementsAre(Bend{0, 0}, Bend{100'000, 1'000}, Bend{110'000, 0}));
}

TEST(PaperRamps, limits_under_the_line_bend_it_from_the_start_on_as_in_figure1) {
  const BuiltCurve built =
      build({{40'500, 0, false, 50}, {70'500, 0, false, 300}, {100'000, 1'000, true}}, 0);
  EXPECT_THAT(built.displacement, ElementsAre(50, 300, 1'000));
  EXPECT_THAT(built.curve, ElementsAre(Bend{0, 0}, Bend{40'500, 50}, Bend{70'500, 300},
                                       Bend{100'000, 1'000}, Bend{110'000, 0}));
}

TEST(PaperRamps, a_limit_above_the_line_of_a_later_one_is_no_bend) {
  const BuiltCurve built =
      build({{40'500, 0, false, 350}, {70'500, 0, false, 100}, {100'000, 1'000, true}}, 0);
  EXPECT_THAT(built.displacement, ElementsAre(57, 100, 1'000));  // 100 * 40,500 / 70,500
}

TEST(PaperRamps, the_start_may_lie_before_the_first_event) {
  const BuiltCurve built = build({{99'000}, {100'000, 1'000, true}}, 99'000);
  EXPECT_THAT(built.displacement, ElementsAre(990, 1'000));
  EXPECT_THAT(built.curve.front(), (Bend{99'000, 990}));
}

TEST(PaperRamps, ramps_add_up_and_use_the_limits_together) {
  // Jumps by 10 at 2,000 and, from 0 again, by 20 at 3,000: over 1,000 and 2,000 ticks.
  const std::vector<testing::RampNode> free{
      {0}, {1'500}, {2'000, 10, true}, {2'500}, {3'000, 20, true}};
  EXPECT_THAT(build(free, 0).displacement, ElementsAre(0, 10, 20, 15, 20));
  std::vector<testing::RampNode> held = free;
  held[1].limit = 7;  // the first ramp takes 5 of them, the second one finds 2
  EXPECT_THAT(build(held, 0).displacement, ElementsAre(0, 7, 18, 14, 20));
}

TEST(PaperRamps, a_jump_while_the_last_one_fades_rises_by_the_rest) {
  // 40 at 1,000 fades to 10 at 1,300, where a jump leads to 30.
  const BuiltCurve built = build({{1'000, 40, true}, {1'200, 20}, {1'300, 30, true}}, 1'000);
  EXPECT_THAT(built.displacement, ElementsAre(40 + 17, 20 + 19, 30));
}

TEST(PaperRamps, nothing_without_a_jump) { EXPECT_THAT(build({{0}, {100}}, 0).curve, IsEmpty()); }

}  // namespace
}  // namespace entrain::clc
