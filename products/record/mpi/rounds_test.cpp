// SPDX-License-Identifier: BSD-3-Clause
#include "record/mpi/rounds.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace entrain::record {
namespace {

TEST(Rounds, every_byte_goes_once_and_in_order) {
  const std::vector<std::uint64_t> lengths{0, 1, 7, 20, 3};
  const Rounds rounds(lengths.size(), 20, 16);  // three bytes of each per round
  EXPECT_EQ(rounds.count(), 7u);
  std::vector<std::uint64_t> gone(lengths.size(), 0);
  for (std::uint64_t round = 0; round < rounds.count(); ++round) {
    const Rounds::Places places = rounds.places(round, lengths);
    int sum = 0;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      EXPECT_EQ(places.begins[i], sum);
      if (places.parts[i] > 0) {
        EXPECT_EQ(rounds.begin(round), gone[i]);
      }
      gone[i] += static_cast<std::uint64_t>(places.parts[i]);
      sum += places.parts[i];
    }
    EXPECT_EQ(places.sum, sum);
    EXPECT_LE(sum, 16);
  }
  EXPECT_EQ(gone, lengths);
}

TEST(Rounds, more_than_an_int_can_count) {
  // A hundred thousand processes with a megabyte each, and one with five gigabytes.
  std::vector<std::uint64_t> lengths(100'000, 1'000'000);
  lengths[7] = 5'000'000'000;
  const Rounds rounds(lengths.size(), lengths[7]);
  for (std::uint64_t round = 0; round < rounds.count(); round += round < 90 ? 1 : 1000) {
    const Rounds::Places places = rounds.places(round, lengths);
    EXPECT_LE(static_cast<std::uint64_t>(places.sum), Rounds::k_limit);
    EXPECT_GE(places.begins.back(), 0);
  }
  std::uint64_t long_one = 0;
  for (std::uint64_t round = 0; round < rounds.count(); ++round) {
    long_one += static_cast<std::uint64_t>(rounds.part(round, lengths[7]));
  }
  EXPECT_EQ(long_one, lengths[7]);
}

TEST(Rounds, the_example_of_the_header) {
  const std::vector<std::uint64_t> lengths{5, 0, 3};
  const Rounds rounds(3, 5, 6);
  ASSERT_EQ(rounds.count(), 3u);
  EXPECT_EQ(rounds.places(0, lengths).parts, (std::vector<int>{2, 0, 2}));
  EXPECT_EQ(rounds.places(1, lengths).parts, (std::vector<int>{2, 0, 1}));
  EXPECT_EQ(rounds.places(2, lengths).parts, (std::vector<int>{1, 0, 0}));
}

TEST(Rounds, nothing_to_move) { EXPECT_EQ(Rounds(3, 0).count(), 0u); }

}  // namespace
}  // namespace entrain::record
