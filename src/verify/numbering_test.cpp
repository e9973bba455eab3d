// SPDX-License-Identifier: BSD-3-Clause
#include "verify/numbering.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace entrain::verify {
namespace {

/// The ends of some messages, message m at 1000 m + delay, without some.
struct NumberedEnds {
  std::vector<Trait> traits;
  std::vector<std::uint32_t> ordinals;
  std::vector<Stop> stops;
  std::uint32_t count;

  NumberedEnds(std::uint64_t delay, std::uint32_t first_lost, std::uint32_t last_lost,
               std::uint32_t messages = 300)
      : count(messages) {
    for (std::uint32_t m = 0; m < count; ++m) {
      if (m >= first_lost && m <= last_lost) continue;
      traits.push_back({.time = 1000 * (m + std::uint64_t{1}) + delay + m * 3 % 7, .symbol = 4});
      ordinals.push_back(m);
    }
  }
  [[nodiscard]] Row row() const {
    return {.traits = traits,
            .ordinals = {.of = ordinals, .count = count, .stops = stops, .kinds = 9, .trust = 40}};
  }
};

bool all_of_one_message(const Alignment& alignment, const NumberedEnds& sends,
                        const NumberedEnds& receives) {
  for (const auto& [s, r] : alignment.couples) {
    if (sends.traits[s].time / 1000 != receives.traits[r].time / 1000) return false;
  }
  return true;
}

TEST(CoupleByOrdinals, couples_equal_ones) {
  const NumberedEnds sends(0, 10, 10), receives(200, 20, 21);
  const auto alignment = couple_by_ordinals(sends.row(), receives.row());
  ASSERT_TRUE(alignment);
  EXPECT_EQ(alignment->couples.size(), 297u);
  EXPECT_TRUE(all_of_one_message(*alignment, sends, receives));
}

TEST(CoupleByOrdinals, needs_equal_counts) {
  const NumberedEnds sends(0, 10, 10);
  NumberedEnds receives(200, 20, 20);
  receives.count = 299;
  EXPECT_FALSE(couple_by_ordinals(sends.row(), receives.row()));
}

TEST(CoupleByOrdinals, counts_from_both_ends_around_a_stop) {
  const NumberedEnds sends(0, 300, 300);
  NumberedEnds receives(200, 100, 149);
  for (std::size_t k = 100; k < receives.ordinals.size(); ++k) receives.ordinals[k] -= 50;
  receives.count = 250;
  receives.stops.push_back({100, 51'000});
  const auto alignment = couple_by_ordinals(sends.row(), receives.row());
  ASSERT_TRUE(alignment);
  EXPECT_TRUE(all_of_one_message(*alignment, sends, receives));
  EXPECT_GE(alignment->couples.size(), 240u);
}

TEST(CoupleByOrdinals, does_not_believe_a_jump_of_the_delays) {
  NumberedEnds sends(0, 100, 100, 3000), receives(200, 2000, 2000, 3000);
  for (std::size_t k = 100; k < 2999; ++k) --sends.ordinals[k];
  for (std::size_t k = 2000; k < 2999; ++k) --receives.ordinals[k];
  sends.count = receives.count = 2999;
  EXPECT_FALSE(couple_by_ordinals(sends.row(), receives.row()));
}

}  // namespace
}  // namespace entrain::verify
