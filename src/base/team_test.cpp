// SPDX-License-Identifier: BSD-3-Clause
#include "base/team.hpp"

#include <atomic>
#include <new>

#include <gtest/gtest.h>

#include "base/try.hpp"

namespace entrain {
namespace {

TEST(Team, parcels_arrive_by_sender) {
  for (const unsigned members : {1u, 2u, 5u}) {
    std::atomic<unsigned> good{0};
    const Result<void> done = run_team(members, [&](Team& team) -> Result<void> {
      std::vector<std::vector<std::uint32_t>> outgoing(team.size());
      for (unsigned r = 0; r < team.size(); ++r) {
        if (r != 1) outgoing[r] = {team.rank(), r, 7};  // nothing for number 1
      }
      const auto received = exchange(team, std::move(outgoing));
      bool right = received.size() == team.size();
      for (unsigned r = 0; r < team.size(); ++r) {
        const std::vector<std::uint32_t> expected{r, team.rank(), 7};
        right =
            right && received[r] == (team.rank() == 1 ? std::vector<std::uint32_t>() : expected);
      }
      good += right ? 1 : 0;
      return {};
    });
    EXPECT_TRUE(done);
    EXPECT_EQ(good, members);
  }
}

TEST(Team, reductions_go_over_all_members) {
  const Result<void> done = run_team(4, [](Team& team) -> Result<void> {
    const auto rank = static_cast<std::int64_t>(team.rank());
    std::vector<std::int64_t> values{rank, -rank};
    team.reduce(Team::Reduction::max, values);
    EXPECT_EQ(values, (std::vector<std::int64_t>{3, 0}));
    EXPECT_EQ(team.reduce(Team::Reduction::sum, rank), 6);
    EXPECT_EQ(team.reduce(Team::Reduction::min, rank + 5), 5);
    EXPECT_TRUE(team.any(rank == 2));
    EXPECT_FALSE(team.any(false));
    EXPECT_EQ(gather_everywhere(team, std::vector<std::int64_t>(team.rank(), rank)),
              (std::vector<std::int64_t>{1, 2, 2, 3, 3, 3}));
    return {};
  });
  EXPECT_TRUE(done);
}

TEST(Team, an_agreed_error_is_everybodys) {
  std::atomic<unsigned> heard{0};
  const Result<void> done = run_team(3, [&](Team& team) -> Result<void> {
    Result<void> own;
    if (team.rank() > 0) own = fail(ErrorKind::output, "of " + std::to_string(team.rank()));
    const Result<void> all = team.agree(own);
    if (!all && all.error().message == "of 1" && all.error().kind == ErrorKind::output) ++heard;
    return all;
  });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "of 1");
  EXPECT_EQ(heard, 3u);
}

TEST(Team, is_counted_before_it_begins) {
  for (const unsigned wanted : {1u, 3u}) {
    unsigned members = 0;
    const Result<void> done = run_team(
        wanted,
        [&](Team& team) -> Result<void> {
          if (team.size() == members) return {};
          return fail(ErrorKind::input, "not yet");
        },
        [&](unsigned there) { members = there; });
    EXPECT_TRUE(done);
    EXPECT_EQ(members, wanted);
  }
}

TEST(Team, a_member_that_fails_alone_releases_the_others) {
  const Result<void> done = run_team(4, [](Team& team) -> Result<void> {
    if (team.rank() == 2) return fail(ErrorKind::input, "a broken file");
    while (true) static_cast<void>(team.any(false));
  });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "a broken file");
}

TEST(Team, an_exception_of_a_member_comes_through) {
  EXPECT_THROW(static_cast<void>(run_team(3,
                                          [](Team& team) -> Result<void> {
                                            if (team.rank() == 1) throw std::bad_alloc();
                                            static_cast<void>(team.any(false));
                                            return {};
                                          })),
               std::bad_alloc);
}

}  // namespace
}  // namespace entrain
