// SPDX-License-Identifier: BSD-3-Clause
#include "clc/influence.hpp"

#include <algorithm>
#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/try.hpp"
#include "clc/flow_forward.hpp"
#include "clc/team_testing.hpp"
#include "clc/testing.hpp"

namespace entrain::clc {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using trace::testing::TraceBuilder;
using K = trace::EventKind;

/// Checks that any team sees the same.
std::vector<Influence> influences_of(const TraceBuilder& b, const MuTicks& mu) {
  std::vector<Influence> first;
  const std::size_t locations = b.trace().locations.size();
  for (std::uint32_t members = 1; members <= 3; ++members) {
    std::vector<std::uint32_t> owner;
    for (std::uint32_t l = 0; l < locations; ++l) owner.push_back(l % members);
    const auto done = testing::in_team(
        b, owner, [&](const trace::Share& share, testing::Problem& problem) -> Result<void> {
          const ForwardProblem input = problem.with(mu);
          const Forward way = flow_forward(share, input);
          TRY_ASSIGN(const auto passes, way(std::span(&testing::k_gamma_099, 1)));
          const auto found = influences(share.team, input, passes.at(0));
          if (share.team.rank() == 0 && members == 1) first = found;
          if (members > 1) {
            EXPECT_EQ(found, first) << members;
          }
          return {};
        });
    EXPECT_TRUE(done);
  }
  return first;
}

TEST(Influences, the_example_of_the_header) {
  EXPECT_THAT(influences_of(testing::worked_example(), {10, 10, 10}), ElementsAre(Influence{1, 2}));
}

TEST(Influences, do_not_depend_on_the_order_of_equally_late_senders) {
  TraceBuilder b(4);
  for (LocationIndex l = 0; l < 4; ++l) b.collective(l, 1'000, 1'100, trace::op::barrier);
  testing::Problem problem(b);
  // All begins are displaced to the time of the end of location 3; the other ends come later.
  ForwardTimes pass;
  for (LocationIndex l = 0; l < 4; ++l) {
    pass.times.push_back(2'000);
    pass.times.push_back(l == 3 ? 2'000 : 3'000);
  }
  const auto of_last = ElementsAre(Influence{0, 3}, Influence{1, 3});
  Solo solo;
  EXPECT_THAT(influences(solo, problem.with({}), pass), of_last);
  const match::Exchange& barrier = problem.graph.exchanges[0];
  const auto sends = problem.graph.participants.begin() + barrier.first_send;
  std::reverse(sends, sends + barrier.send_count);
  EXPECT_THAT(influences(solo, problem.with({}), pass), of_last);
}

TEST(Influences, the_latest_displaced_senders_of_a_collective_count) {
  TraceBuilder b(4);
  b.message(K::send, 3, 5'000, 0);
  b.message(K::recv, 0, 1'000, 3);  // location 0 is displaced by 4,000
  for (LocationIndex l = 0; l < 3; ++l) {
    b.collective(l, 1'100, l == 2 ? 9'000u : 1'200u, trace::op::barrier, trace::k_root_none);
  }
  // The end of 2 is late enough, that of 1 has to wait for the begin of 0.
  EXPECT_THAT(influences_of(b, {}), ElementsAre(Influence{0, 1}));
}

TEST(Influences, there_are_none_where_nothing_moves) {
  TraceBuilder b(2);
  b.message(K::send, 0, 100, 1);
  b.message(K::recv, 1, 200, 0);
  EXPECT_THAT(influences_of(b, {}), IsEmpty());
}

TEST(MarkUpstream, goes_against_the_influences_and_around_circles) {
  std::vector<bool> marked{false, false, false, true, false, false};
  mark_upstream({{0, 1}, {1, 3}, {2, 1}, {1, 2}, {3, 4}, {5, 4}}, marked);
  EXPECT_EQ(marked, (std::vector<bool>{true, true, true, true, false, false}));
}

}  // namespace
}  // namespace entrain::clc
