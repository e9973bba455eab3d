// SPDX-License-Identifier: BSD-3-Clause
#include "verify/pair_counts.hpp"

#include <algorithm>
#include <iterator>
#include <random>
#include <tuple>

#include <gtest/gtest.h>

namespace entrain::verify {
namespace {

struct Sides {
  std::vector<Moment> sends, receives;
  bool ordered = false;
};

class Random {
 public:
  explicit Random(std::uint32_t seed) : engine_(seed) {}
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(engine_() % bound); }

 private:
  std::mt19937 engine_;
};

/// A random instance of up to 13 locations; every third process spans two machines.
Sides random_sides(Random& random) {
  Sides sides;
  sides.ordered = random.below(2) == 0;
  const std::uint32_t locations = 1 + random.below(13);
  for (LocationIndex l = 0; l < locations; ++l) {
    Moment moment;
    moment.process = l / 2;
    moment.machine = l % 6 == 1 ? 7 : l / 4;
    moment.rank = l;
    moment.component = random.below(3) == 0 ? random.below(3) : k_none;
    for (auto* side : {&sides.sends, &sides.receives}) {
      if (random.below(5) == 0) continue;
      moment.time = random.below(12);
      moment.event = {l, side == &sides.sends ? 0U : 1U};
      side->push_back(moment);
    }
  }
  return sides;
}

bool is_pair(const Moment& s, const Moment& r, bool ordered) {
  return s.event.location != r.event.location && (!ordered || s.rank < r.rank);
}

std::int64_t mu_of(const Moment& s, const Moment& r, const MuTicks& mu) {
  return s.process == r.process ? mu[0] : s.machine == r.machine ? mu[1] : mu[2];
}

PairCounts count_one_by_one(const Sides& sides, const MuTicks& mu) {
  PairCounts counts;
  for (const Moment& s : sides.sends) {
    for (const Moment& r : sides.receives) {
      if (!is_pair(s, r, sides.ordered)) continue;
      ++counts.count;
      if (r.time < s.time) ++counts.violations;
      if (r.time < s.time + mu_of(s, r, mu)) ++counts.below_latency;
    }
  }
  return counts;
}

TEST(PairCounts, counts_equal_those_of_every_pair_taken_by_itself) {
  Random random(20240607);
  std::uint64_t below = 0, violations = 0;
  for (int round = 0; round < 4000; ++round) {
    const Sides sides = random_sides(random);
    const MuTicks mu{random.below(3), random.below(5), random.below(7)};
    const PairCounts expected = count_one_by_one(sides, mu);
    const PairCounts found = count_pairs(sides.sends, sides.receives, sides.ordered, mu);
    ASSERT_EQ(found.count, expected.count) << round;
    ASSERT_EQ(found.violations, expected.violations) << round;
    ASSERT_EQ(found.below_latency, expected.below_latency) << round;
    below += found.below_latency;
    violations += found.violations;
  }
  EXPECT_GT(violations, 10'000);  // the test has something to count
  EXPECT_GT(below, violations + 10'000);
}

TEST(PairCounts, pairs_of_one_clock_are_counted_apart) {
  Random random(11);
  std::uint64_t all = 0;
  for (int round = 0; round < 2000; ++round) {
    const Sides sides = random_sides(random);
    std::vector<std::uint32_t> clock_of;
    for (int l = 0; l < 13; ++l) clock_of.push_back(random.below(4));
    PairCounts expected;
    for (std::uint32_t clock = 0; clock < 4; ++clock) {
      Sides own{{}, {}, sides.ordered};
      const auto is_own = [&](const Moment& m) { return clock_of[m.event.location] == clock; };
      std::copy_if(sides.sends.begin(), sides.sends.end(), std::back_inserter(own.sends), is_own);
      std::copy_if(sides.receives.begin(), sides.receives.end(), std::back_inserter(own.receives),
                   is_own);
      expected += count_one_by_one(own, {});
    }
    const PairCounts found =
        count_pairs_of_one_clock(sides.sends, sides.receives, sides.ordered, {}, clock_of);
    ASSERT_EQ(found.count, expected.count) << round;
    ASSERT_EQ(found.violations, expected.violations) << round;
    all += found.violations;
  }
  EXPECT_GT(all, 1'000);
}

TEST(PairCounts, worst_pair_is_the_worst_of_all) {
  Random random(7);
  int found_any = 0;
  for (int round = 0; round < 4000; ++round) {
    const Sides sides = random_sides(random);
    const std::vector<bool> dropped{true, false, true};
    const std::int64_t limit = random.below(4) == 0 ? -3 : 1000;
    // Of equals the first receive, and of its sends the first.
    std::optional<std::tuple<std::int64_t, std::size_t, std::size_t>> expected;
    for (std::size_t i = 0; i < sides.sends.size(); ++i) {
      for (std::size_t j = 0; j < sides.receives.size(); ++j) {
        const Moment &s = sides.sends[i], &r = sides.receives[j];
        const bool gone =
            s.component != k_none && s.component == r.component && dropped[s.component];
        if (!is_pair(s, r, sides.ordered) || gone || r.time - s.time > limit) continue;
        const std::tuple found(r.time - s.time, j, i);
        expected = std::min(expected.value_or(found), found);
      }
    }
    const auto worst = worst_pair(sides.sends, sides.receives, sides.ordered, dropped, limit);
    ASSERT_EQ(worst.has_value(), expected.has_value()) << round;
    if (!worst) continue;
    ++found_any;
    ASSERT_EQ(std::tuple(worst->margin_ticks, worst->receive, worst->send), *expected) << round;
  }
  EXPECT_GT(found_any, 2000);
}

TEST(PairCounts, margin_does_not_overflow) {
  constexpr auto k_low = std::numeric_limits<std::int64_t>::min();
  constexpr auto k_high = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(margin(k_low, 1), k_low);
  EXPECT_EQ(margin(k_high, -1), k_high);
  EXPECT_EQ(margin(7, 9), -2);
}

}  // namespace
}  // namespace entrain::verify
