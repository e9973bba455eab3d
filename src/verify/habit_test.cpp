// SPDX-License-Identifier: BSD-3-Clause
#include "verify/habit.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace entrain::verify {
namespace {

/// 0 1 2 3 4 0 1 2 3 4 ..., so many times.
std::vector<Deed> days(std::uint32_t count) {
  std::vector<Deed> deeds;
  for (std::uint32_t d = 0; d < 5 * count; ++d) deeds.push_back({.kind = d % 5});
  return deeds;
}
std::vector<std::uint32_t> kinds_of(const Habit& habit) {
  std::vector<std::uint32_t> kinds;
  for (const Turn& turn : habit.turns) kinds.push_back(turn.kind);
  return kinds;
}
std::vector<std::uint32_t> kinds_of(const std::vector<Deed>& deeds) {
  std::vector<std::uint32_t> kinds;
  for (const Deed& deed : deeds) kinds.push_back(deed.kind);
  return kinds;
}

TEST(Habit, without_losses_has_a_turn_per_deed) {
  const Habit habit = find_habit(days(40));
  EXPECT_TRUE(habit.firm);
  EXPECT_EQ(habit.unlisted, 0u);
  EXPECT_EQ(kinds_of(habit), kinds_of(days(40)));
}

TEST(Habit, restores_what_is_missing) {
  std::vector<Deed> deeds = days(40);
  deeds.erase(deeds.begin() + 103, deeds.begin() + 106);
  deeds.erase(deeds.begin() + 50);
  const Habit habit = find_habit(deeds);
  EXPECT_TRUE(habit.firm);
  EXPECT_EQ(habit.unlisted, 4u);
  EXPECT_EQ(kinds_of(habit), kinds_of(days(40)));
  EXPECT_EQ(habit.turns[50].deed, k_none);
  EXPECT_EQ(habit.turns[51].deed, 50u);
}

TEST(Habit, does_not_mind_what_comes_seldom) {
  std::vector<Deed> whole, deeds;
  for (std::uint32_t d = 0; d < 2000; ++d) {
    whole.push_back({.kind = d % 5});
    if (d % 70 == 69) whole.push_back({.kind = 8});
  }
  deeds = whole;
  ASSERT_EQ(deeds[496].kind, 8u);
  deeds.erase(deeds.begin() + 495);  // the 4 before an 8
  const Habit habit = find_habit(deeds);
  EXPECT_TRUE(habit.firm);
  EXPECT_EQ(habit.unlisted, 1u);
  // It is found out behind the 8.
  EXPECT_EQ(habit.turns[495].kind, 8u);
  EXPECT_EQ(habit.turns[496].deed, k_none);
  EXPECT_EQ(habit.turns[496].kind, whole[495].kind);
}

TEST(Habit, of_messages_may_stand_alone) {
  std::vector<Deed> deeds;
  for (std::uint32_t d = 0; d < 1500; ++d) {
    deeds.push_back({.kind = d % 5});
    for (const std::uint32_t call : {5, 6, 7, 8}) {
      if (d * d * call % 89 % 4 == 0) deeds.push_back({.kind = call, .call = true});
    }
  }
  const auto lost = std::find_if(deeds.begin() + 1200, deeds.end(),
                                 [](const Deed& deed) { return deed.kind == 3; });
  deeds.erase(lost);
  const Habit habit = find_habit(deeds);
  EXPECT_TRUE(habit.firm);
  EXPECT_EQ(habit.unlisted, 1u);
  for (Deed& deed : deeds) deed.call = false;
  EXPECT_FALSE(find_habit(deeds).firm);
}

TEST(Habit, gives_a_displaced_deed_the_turn_that_is_missing) {
  std::vector<Deed> deeds = days(40);
  deeds.erase(deeds.begin() + 52);  // a 2
  deeds.insert(deeds.begin() + 55, {.kind = 2, .displaced = true});
  const Habit habit = find_habit(deeds);
  EXPECT_EQ(kinds_of(habit), kinds_of(days(40)));
  EXPECT_EQ(habit.turns[52].deed, 55u);
}

TEST(Habit, leaves_out_a_displaced_deed_without_a_turn) {
  std::vector<Deed> deeds = days(40);
  deeds.insert(deeds.begin() + 55, {.kind = 2, .displaced = true});
  EXPECT_EQ(kinds_of(find_habit(deeds)), kinds_of(days(40)));
}

TEST(Habit, is_not_firm_where_anything_may_follow) {
  std::vector<Deed> deeds;
  std::uint64_t state = 7;
  for (int d = 0; d < 500; ++d) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    deeds.push_back({.kind = static_cast<std::uint32_t>(state >> 61)});
  }
  const Habit habit = find_habit(deeds);
  EXPECT_FALSE(habit.firm);
  EXPECT_TRUE(habit.turns.empty());
}

}  // namespace
}  // namespace entrain::verify
