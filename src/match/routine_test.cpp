// SPDX-License-Identifier: BSD-3-Clause
#include "match/routine.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace entrain::match {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Returns 0 1 2 3 4 5 0 1 2 ..., `count` rounds.
std::vector<std::uint32_t> rounds(std::uint32_t count) {
  std::vector<std::uint32_t> kinds;
  for (std::uint32_t k = 0; k < 6 * count; ++k) kinds.push_back(k % 6);
  return kinds;
}
std::vector<std::uint32_t> without(std::vector<std::uint32_t> kinds, std::size_t first,
                                   std::size_t count) {
  const auto begin = kinds.begin() + static_cast<std::ptrdiff_t>(first);
  kinds.erase(begin, begin + static_cast<std::ptrdiff_t>(count));
  return kinds;
}

Routine routine_of(const std::vector<std::uint32_t>& kinds) {
  return find_routine(kinds, std::vector<bool>(100, false));
}

TEST(Routine, without_losses_misses_nothing) {
  const Routine routine = routine_of(rounds(50));
  EXPECT_TRUE(routine.is_reliable);
  EXPECT_THAT(routine.missing, IsEmpty());
}

TEST(Routine, misses_an_operation) {
  const Routine routine = routine_of(without(rounds(50), 122, 1));
  EXPECT_TRUE(routine.is_reliable);
  EXPECT_THAT(routine.missing, ElementsAre(Missing{122, 2}));
}

TEST(Routine, misses_several_in_a_row) {
  const Routine routine = routine_of(without(rounds(50), 124, 4));
  EXPECT_THAT(routine.missing,
              ElementsAre(Missing{124, 4}, Missing{124, 5}, Missing{124, 0}, Missing{124, 1}));
}

TEST(Routine, does_not_see_that_a_whole_round_is_missing) {
  EXPECT_THAT(routine_of(without(rounds(50), 124, 6)).missing, IsEmpty());
}

TEST(Routine, takes_an_operation_out_of_turn_for_what_it_is) {
  std::vector<std::uint32_t> kinds = without(rounds(50), 102, 1);
  kinds.insert(kinds.begin() + 100, 7);
  const Routine routine = routine_of(kinds);
  EXPECT_TRUE(routine.is_reliable);
  EXPECT_THAT(routine.missing, ElementsAre(Missing{103, 0}));
}

/// Like rounds(), with a 9 before every tenth round.
std::vector<std::uint32_t> rounds_with_calls(std::uint32_t count) {
  std::vector<std::uint32_t> kinds;
  for (std::uint32_t k = 0; k < 6 * count; ++k) {
    if (k % 60 == 0) kinds.push_back(9);
    kinds.push_back(k % 6);
  }
  return kinds;
}

TEST(Routine, looks_past_what_is_done_once_in_a_while) {
  const std::vector<std::uint32_t> kinds = rounds_with_calls(300);
  ASSERT_EQ(kinds[549], 9u);
  // The 5 before the 9 is missing; the 0 after the 9 is the rare one.
  const Routine routine = routine_of(without(kinds, 548, 1));
  EXPECT_TRUE(routine.is_reliable);
  EXPECT_THAT(routine.missing, ElementsAre(Missing{549, 5}));
  // The 0 after it.
  EXPECT_THAT(routine_of(without(kinds, 550, 1)).missing, ElementsAre(Missing{550, 0}));
}

TEST(Routine, of_messages_is_found_between_calls_with_a_rhythm_of_their_own) {
  std::vector<std::uint32_t> kinds;
  std::vector<bool> calls(13, false);
  for (const std::uint32_t call : {10, 11, 12}) calls[call] = true;
  for (std::uint32_t k = 0; k < 400; ++k) {
    kinds.insert(kinds.end(), {0, 1, 2, 3});
    for (const std::uint32_t call : {10, 11, 12}) {
      if (k * k * call % 97 % 2 == 0) kinds.push_back(call);
    }
  }
  EXPECT_FALSE(routine_of(kinds).is_reliable);
  const auto second =
      static_cast<std::size_t>(std::find(kinds.begin() + 1000, kinds.end(), 2) - kinds.begin());
  const Routine routine = find_routine(without(kinds, second, 1), calls);
  EXPECT_TRUE(routine.is_reliable);
  EXPECT_THAT(routine.missing, ElementsAre(Missing{static_cast<std::uint32_t>(second), 2}));
}

TEST(Routine, is_not_reliable_if_most_is_done_once_in_a_while) {
  std::vector<std::uint32_t> kinds;
  for (std::uint32_t k = 0; k < 3000; ++k) kinds.push_back(k * k % 977 % 40);
  EXPECT_FALSE(routine_of(kinds).is_reliable);
}

TEST(Routine, leaves_open_what_may_be_missing_in_two_ways) {
  // Between 3 and 4 comes 8 or 9, by turns.
  std::vector<std::uint32_t> kinds;
  for (std::uint32_t k = 0; k < 300; ++k) {
    kinds.insert(kinds.end(), {0, 1, 2, 3});
    if (k != 150) kinds.push_back(k % 2 == 0 ? 8 : 9);
    kinds.push_back(4);
  }
  const Routine routine = routine_of(kinds);
  EXPECT_TRUE(routine.is_reliable);
  EXPECT_THAT(routine.missing, IsEmpty());
}

TEST(Routine, needs_repetition) {
  std::vector<std::uint32_t> kinds;
  std::uint64_t state = 1;
  for (int k = 0; k < 1000; ++k) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    kinds.push_back(static_cast<std::uint32_t>(state >> 61));
  }
  EXPECT_FALSE(routine_of(kinds).is_reliable);
  EXPECT_TRUE(routine_of({}).missing.empty());
}

}  // namespace
}  // namespace entrain::match
