// SPDX-License-Identifier: BSD-3-Clause
#include "verify/alignment.hpp"

#include <array>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace entrain::verify {
namespace {

/// A row that owns its traits.
struct Ends {
  std::vector<Trait> traits;
  std::uint32_t position = 0;
  bool ends_in_gap = false;

  [[nodiscard]] Row row() const { return {traits, position, ends_in_gap}; }
};

/// The ends number k in [0, count) for which `recorded` holds. Message k is sent about 100 * k and
/// takes 5 ticks; its process makes `others` other operations after it.
Ends ends(std::uint32_t count, std::uint64_t first,
          const std::function<bool(std::uint32_t)>& recorded, std::uint32_t others = 1) {
  Ends result;
  for (std::uint32_t k = 0; k < count; ++k) {
    if (recorded(k)) {
      result.traits.push_back({.time = first + 100 * k + k * k % 7, .position = others * k});
    }
  }
  result.position = others * count;
  return result;
}
bool all(std::uint32_t) { return true; }

Alignment align(const Ends& sends, const Ends& receives) {
  return align_rows(sends.row(), receives.row());
}

/// Number of couples whose ends are of different messages.
std::size_t wrong(const Alignment& alignment, const Ends& sends, const Ends& receives) {
  std::size_t count = 0;
  for (const Alignment::Couple& couple : alignment.couples) {
    const std::uint64_t delay =
        receives.traits[couple.receive].time - sends.traits[couple.send].time;
    count += delay != 5;
  }
  return count;
}

TEST(Alignment, nothing_lost) {
  const Ends sends = ends(40, 100, all), receives = ends(40, 105, all);
  const Alignment found = align(sends, receives);
  EXPECT_EQ(found.couples.size(), 40u);
  EXPECT_EQ(wrong(found, sends, receives), 0u);
  EXPECT_EQ(found.ambiguous, 0);
}

TEST(Alignment, a_receive_is_missing) {
  const Ends sends = ends(500, 100, all);
  const Ends receives = ends(500, 105, [](std::uint32_t k) { return k != 9; });
  const Alignment found = align(sends, receives);
  EXPECT_EQ(found.couples.size(), 499u);
  EXPECT_EQ(wrong(found, sends, receives), 0u);
  EXPECT_EQ(found.sends_in_gaps, 0);
}

TEST(Alignment, a_send_is_missing) {
  const Ends sends = ends(500, 100, [](std::uint32_t k) { return k != 0; });
  const Ends receives = ends(500, 105, all);
  const Alignment found = align(sends, receives);
  EXPECT_GE(found.couples.size(), 495u);
  EXPECT_EQ(wrong(found, sends, receives), 0u);
}

TEST(Alignment, clocks_may_be_far_apart_and_drift) {
  const Ends sends = ends(2000, 1'000'000, [](std::uint32_t k) { return k % 1000 != 7; });
  Ends receives = ends(2000, 105, [](std::uint32_t k) { return k % 1000 != 423; });
  const Ends original = receives;
  for (Trait& trait : receives.traits) trait.time += trait.time / 10'000;
  const Alignment found = align(sends, receives);
  EXPECT_GE(found.couples.size(), 1980u);
  for (const Alignment::Couple& couple : found.couples) {
    EXPECT_EQ(sends.traits[couple.send].time - 1'000'000,
              original.traits[couple.receive].time - 105);
  }
}

TEST(Alignment, more_than_a_block) {
  const Ends sends = ends(5000, 100, [](std::uint32_t k) { return k % 1000 != 400; });
  const Ends receives = ends(5000, 105, [](std::uint32_t k) { return k % 1000 != 600; });
  const Alignment found = align(sends, receives);
  EXPECT_GE(found.couples.size(), 4970u);
  EXPECT_EQ(wrong(found, sends, receives), 0u);
}

TEST(Alignment, where_much_is_lost_few_couples_are_certain) {
  const Ends sends = ends(20, 100, all);
  const Ends receives = ends(20, 105, [](std::uint32_t k) { return k != 9; });
  const Alignment found = align(sends, receives);
  EXPECT_EQ(found.couples.size() + static_cast<std::size_t>(found.ambiguous), 19u);
  EXPECT_GT(found.ambiguous, 0);
  EXPECT_EQ(wrong(found, sends, receives), 0u);
}

TEST(Alignment, unequal_symbols_never_belong_together) {
  Ends sends = ends(10, 100, all), receives = ends(10, 105, all);
  receives.traits[4].symbol = 1;
  const Alignment found = align(sends, receives);
  for (const Alignment::Couple& couple : found.couples) EXPECT_NE(couple.receive, 4u);
}

TEST(Alignment, what_all_explanations_fit_is_ambiguous) {
  Ends sends = ends(10, 100, all, 0), receives = ends(9, 105, all, 0);
  for (Trait& trait : sends.traits) trait.time = 100;
  for (Trait& trait : receives.traits) trait.time = 105;
  const Alignment found = align(sends, receives);
  EXPECT_TRUE(found.couples.empty());
  EXPECT_GE(found.ambiguous, 9);
}

/// Recorded where four processes had turns of 4 ms on two cores; us.
TEST(Alignment, turns_of_a_scheduler_couple_no_ends_out_of_order) {
  constexpr std::array<std::uint64_t, 20> k_sent = {
      6016,  16648, 16777, 24584, 24639, 40662, 40722, 48595,  48637,  64664,
      64724, 72647, 72748, 84611, 84663, 96578, 96622, 108599, 108640, 120615};
  constexpr std::array<std::uint64_t, 20> k_received = {
      13737, 20487, 20508, 36524, 36565, 44492,  44559,  60556,  60595,  68539,
      68579, 80545, 80573, 92506, 92545, 104521, 104558, 116497, 116527, 124567};
  Ends sends, receives;
  for (std::uint32_t k = 0; k < k_sent.size(); ++k) {
    sends.traits.push_back({.time = 1000 * k_sent[k], .position = 12 + k});
    receives.traits.push_back({.time = 1000 * k_received[k], .position = 11 + k});
  }
  sends.position = receives.position = 33;
  const Alignment found = align(sends, receives);
  for (const Alignment::Couple& couple : found.couples) EXPECT_EQ(couple.send, couple.receive);
  EXPECT_EQ(std::ssize(found.couples) + found.ambiguous, 20);
}

TEST(Alignment, a_gap_explains_what_is_missing) {
  const Ends sends = ends(60, 100, all);
  Ends receives = ends(60, 105, [](std::uint32_t k) { return k < 20 || k >= 30; });
  receives.traits[20].after_gap = true;
  const Alignment found = align(sends, receives);
  EXPECT_GE(found.couples.size(), 45u);
  EXPECT_EQ(wrong(found, sends, receives), 0u);
  EXPECT_EQ(found.sends_in_gaps, 10);
  EXPECT_EQ(found.receives_in_gaps, 0);
}

TEST(Alignment, a_gap_at_the_end) {
  Ends sends = ends(60, 100, [](std::uint32_t k) { return k < 55; });
  sends.ends_in_gap = true;
  const Ends receives = ends(60, 105, all);
  const Alignment found = align(sends, receives);
  EXPECT_GE(found.couples.size(), 50u);
  EXPECT_EQ(wrong(found, sends, receives), 0u);
  EXPECT_EQ(found.receives_in_gaps, 5);
}

TEST(Alignment, a_side_without_ends) {
  const Ends sends = ends(3, 100, all);
  Ends nobody;
  EXPECT_EQ(align(sends, nobody).sends_in_gaps, 0);
  nobody.ends_in_gap = true;
  EXPECT_EQ(align(sends, nobody).sends_in_gaps, 3);
  EXPECT_EQ(align(nobody, sends).receives_in_gaps, 3);
}

}  // namespace
}  // namespace entrain::verify
