// SPDX-License-Identifier: BSD-3-Clause
#include "causal/elimination_order.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace entrain::causal {
namespace {

using Matrix = Eigen::SparseMatrix<double>;
using Entry = Eigen::Triplet<double>;

/// A lower half with its diagonal and these entries more.
Matrix with_diagonal(int size, std::vector<Entry> entries) {
  for (int i = 0; i < size; ++i) entries.emplace_back(i, i, 1);
  Matrix lower(size, size);
  lower.setFromTriplets(entries.begin(), entries.end());
  return lower;
}

TEST(EliminationOrder, gives_every_unknown_a_place) {
  RandomStream random(31, 0);
  for (int round = 0; round < 100; ++round) {
    const auto size = static_cast<int>(random.below(60));
    std::vector<Entry> entries;
    for (std::uint64_t n = random.below(150); n > 0 && size > 1; --n) {
      const auto row = 1 + static_cast<int>(random.below(static_cast<std::uint64_t>(size) - 1));
      const bool chain = random.below(2) == 0;
      entries.emplace_back(
          row, chain ? row - 1 : static_cast<int>(random.below(static_cast<std::uint64_t>(row))),
          1);
    }
    std::vector<std::int32_t> place = elimination_order(with_diagonal(size, entries));
    ASSERT_EQ(place.size(), static_cast<std::size_t>(size));
    std::sort(place.begin(), place.end());
    for (std::int32_t i = 0; i < size; ++i) EXPECT_EQ(place[static_cast<std::size_t>(i)], i);
  }
}

/// In the middle of a star is what all others have an entry with.
TEST(EliminationOrder, takes_the_middle_of_a_star_last) {
  std::vector<Entry> star;
  for (int i = 1; i < 9; ++i) star.emplace_back(i, 0, 1);
  EXPECT_GE(elimination_order(with_diagonal(9, star))[0], 7);  // the last two are alike
}

/// 2 and 3 have an entry, and the same neighbours 0, 1, 4 and 5; all others have fewer.
TEST(EliminationOrder, unknowns_in_a_row_with_the_same_neighbours_follow_each_other) {
  std::vector<Entry> entries{{3, 2, 1}};
  for (const int other : {0, 1}) {
    for (const int own : {2, 3}) entries.emplace_back(own, other, 1);
  }
  for (const int other : {4, 5}) {
    for (const int own : {2, 3}) entries.emplace_back(other, own, 1);
  }
  const std::vector<std::int32_t> place = elimination_order(with_diagonal(6, entries));
  EXPECT_EQ(place[3], place[2] + 1);
}

}  // namespace
}  // namespace entrain::causal
