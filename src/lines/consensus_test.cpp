// SPDX-License-Identifier: BSD-3-Clause
#include "lines/consensus.hpp"

#include <algorithm>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace entrain::lines {
namespace {

using ::testing::ElementsAre;

Result<void> go_on() { return {}; }

/// Clocks that an alignment put right, each of which showed `ahead` more before. Messages take at
/// least 40 ticks each way.
class AlignedClocks {
 public:
  explicit AlignedClocks(const std::vector<double>& ahead) {
    for (const double ticks : ahead) moved_.push_back({0, ticks, 0});
  }
  void talk(std::uint32_t a, std::uint32_t b, std::int64_t there = 40, std::int64_t back = 40) {
    constraints_.push_back({a, b, 1'000, 1'000 + there, there});
    constraints_.push_back({b, a, 2'000, 2'000 + back, back});
  }
  void send(std::uint32_t a, std::uint32_t b, std::int64_t slack) {
    constraints_.push_back({a, b, 1'000, 1'000 + slack, slack});
  }
  [[nodiscard]] Consensus agree(std::optional<std::uint32_t> reference = {}) const {
    return find_consensus(constraints_, moved_, 1'500, reference, go_on).value();
  }
  /// The least slack that a message has where the clocks agree.
  [[nodiscard]] double least_slack(const Consensus& found) const {
    const auto moved = [&](std::uint32_t c) {
      return found.stays[c] != 0 ? moved_[c].offset - moved_[found.reference].offset
                                 : found.shift[c];
    };
    double least = 0;
    for (const constraints::ClockConstraint& one : constraints_) {
      least = std::min(least, static_cast<double>(one.slack) + moved(one.to) - moved(one.from));
    }
    return least;
  }

 private:
  std::vector<ClockShift> moved_;
  std::vector<constraints::ClockConstraint> constraints_;
};

TEST(Consensus, only_the_clock_that_is_wrong_moves) {
  AlignedClocks clocks({0, 10, -300, -5, 20});
  for (const std::uint32_t other : {0u, 1u, 3u, 4u}) clocks.talk(other, 2);
  const Consensus found = clocks.agree();
  EXPECT_THAT(found.stays, ElementsAre(1, 1, 0, 1, 1));
  EXPECT_EQ(found.reference, 0u);  // the median of all moves
}

TEST(Consensus, the_first_clock_may_be_the_wrong_one) {
  AlignedClocks clocks({5'000, 0, 10, -10});
  for (const std::uint32_t other : {1u, 2u, 3u}) clocks.talk(0, other);
  const Consensus found = clocks.agree();
  EXPECT_THAT(found.stays, ElementsAre(0, 1, 1, 1));
}

TEST(Consensus, who_moves_comes_to_the_centre_of_what_is_left) {
  // Clock 1 stays 50 behind where the alignment saw it, so clock 2 cannot stay there.
  AlignedClocks clocks({0, -50, -300});
  clocks.talk(1, 2, 60, 40);
  const Consensus found = clocks.agree(0);
  ASSERT_THAT(found.stays, ElementsAre(1, 1, 0));
  // It may be 110 earlier, and 10 at least.
  EXPECT_DOUBLE_EQ(found.shift[2], -60);
}

TEST(Consensus, who_moves_goes_where_the_alignment_says_if_it_can) {
  AlignedClocks clocks({0, 0, -300});
  clocks.talk(0, 2, 100, 20);
  const Consensus found = clocks.agree(0);
  ASSERT_THAT(found.stays, ElementsAre(1, 1, 0));
  EXPECT_EQ(found.shift[2], 0);
}

TEST(Consensus, a_clock_that_only_receives_goes_no_farther_than_it_must) {
  const std::vector<ClockShift> moved{{0, 0, 0}, {0, -500, 0}, {0, 0, 0}};
  const std::vector<constraints::ClockConstraint> constraints{{0, 1, 1'000, 1'040, 40}};
  const Consensus found = find_consensus(constraints, moved, 1'000, 0, go_on).value();
  ASSERT_THAT(found.stays, ElementsAre(1, 0, 1));
  EXPECT_DOUBLE_EQ(found.shift[1], 0);
}

TEST(Consensus, the_wanted_reference_stays) {
  AlignedClocks clocks({0, 0, -300});
  clocks.talk(0, 2);
  clocks.talk(1, 2);
  const Consensus found = clocks.agree(2);
  EXPECT_EQ(found.reference, 2u);
  EXPECT_EQ(found.stays[2], 1);
  EXPECT_EQ(found.stays[0], 0);
}

TEST(Consensus, violates_nothing_wherever_clocks_go) {
  // Messages that not all clocks exchange both ways, so that some are bounded on one side.
  std::mt19937 random(3);
  const auto number = [&](int least, int most) {
    return std::uniform_int_distribution(least, most)(random);
  };
  for (int round = 0; round < 2000; ++round) {
    SCOPED_TRACE(round);
    std::vector<double> ahead(static_cast<std::size_t>(number(3, 6)));
    for (double& ticks : ahead) ticks = number(-100, 100);
    AlignedClocks clocks(ahead);
    const int count = static_cast<int>(ahead.size());
    for (int message = 0; message < 2 * count; ++message) {
      const int from = number(0, count - 1);
      const int to = (from + number(1, count - 1)) % count;
      clocks.send(static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(to), number(0, 80));
    }
    ASSERT_GE(clocks.least_slack(clocks.agree()), -0.1);
  }
}

TEST(Consensus, clocks_without_messages_stay) {
  const Consensus found = AlignedClocks({0, 700, -900}).agree();
  EXPECT_THAT(found.stays, ElementsAre(1, 1, 1));
}

TEST(Consensus, violations_of_the_alignment_are_no_constraints) {
  AlignedClocks clocks({0, 0, 0});
  clocks.talk(0, 1, -7, 40);
  clocks.talk(1, 2, -5, -5);
  EXPECT_THAT(clocks.agree().stays, ElementsAre(1, 1, 1));
}

TEST(Consensus, ends_when_it_is_asked_to) {
  const std::vector<ClockShift> moved(3);
  const auto stop = [] { return fail(ErrorKind::interrupted, "stop"); };
  const auto found = find_consensus({}, moved, 1'000, {}, stop);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().kind, ErrorKind::interrupted);
}

}  // namespace
}  // namespace entrain::lines
