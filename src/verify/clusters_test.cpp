// SPDX-License-Identifier: BSD-3-Clause
#include "verify/clusters.hpp"

#include <limits>
#include <utility>

#include <gtest/gtest.h>

namespace entrain::verify {
namespace {

constexpr std::int64_t k_lowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t k_highest = std::numeric_limits<std::int64_t>::max();

using Pieces = std::vector<std::pair<std::int64_t, std::int64_t>>;

Pieces union_of(const Pieces& intervals, std::size_t most = 100) {
  IntervalUnion all(most);
  for (const auto& [begin, end] : intervals) all.add(begin, end);
  Pieces pieces;
  for (const Interval& piece : std::move(all).take()) pieces.emplace_back(piece.begin, piece.end);
  return pieces;
}

TEST(IntervalUnion, intervals_that_touch_are_one_piece) {
  EXPECT_EQ(union_of({}), Pieces{});
  EXPECT_EQ(union_of({{300, 300}, {90, 100}, {92, 95}}), (Pieces{{90, 100}, {300, 300}}));
  EXPECT_EQ(union_of({{5, 6}, {1, 2}, {2, 5}}), (Pieces{{1, 6}}));
  EXPECT_EQ(union_of({{1, 2}, {3, 4}}), (Pieces{{1, 2}, {3, 4}}));  // 2.5 is in neither
}

TEST(IntervalUnion, too_many_pieces_are_joined_across_the_smallest_gaps) {
  EXPECT_EQ(union_of({{0, 1}, {100, 101}, {104, 105}, {200, 201}}, 3),
            (Pieces{{0, 1}, {100, 105}, {200, 201}}));
  EXPECT_EQ(union_of({{0, 1}, {100, 101}, {104, 105}, {200, 201}}, 1), (Pieces{{0, 201}}));
  EXPECT_EQ(union_of({{k_lowest, k_lowest}, {k_highest, k_highest}}, 1),
            (Pieces{{k_lowest, k_highest}}));
}

TEST(IntervalUnion, shrinks_on_the_way) {
  Pieces many;
  for (std::int64_t i = 0; i < 1000; ++i) many.emplace_back(10 * i, 10 * i + 1);
  const Pieces pieces = union_of(many, 4);
  EXPECT_LE(pieces.size(), 4u);
  EXPECT_EQ(pieces.front().first, 0);
  EXPECT_EQ(pieces.back().second, 9991);
}

Clusters clusters_of(const Pieces& intervals) {
  Solo solo;
  IntervalUnion all(100);
  for (const auto& [begin, end] : intervals) all.add(begin, end);
  return merge_clusters(solo, std::move(all));
}

TEST(Clusters, finder_goes_forward_and_back) {
  Pieces intervals;
  for (std::int64_t i = 0; i < 50; ++i) intervals.emplace_back(100 * i, 100 * i + 10);
  const Clusters clusters = clusters_of(intervals);
  EXPECT_EQ(clusters.size(), 50u);
  ClusterFinder find(clusters);
  EXPECT_EQ(find(-1), k_none);
  EXPECT_EQ(find(0), 0u);
  EXPECT_EQ(find(10), 0u);
  EXPECT_EQ(find(11), k_none);
  EXPECT_EQ(find(4905), 49u);  // far ahead
  EXPECT_EQ(find(5000), k_none);
  EXPECT_EQ(find(205), 2u);  // and back
  EXPECT_EQ(find(199), k_none);
}

TEST(Clusters, none) {
  const Clusters clusters = clusters_of({});
  EXPECT_TRUE(clusters.empty());
  ClusterFinder find(clusters);
  EXPECT_EQ(find(0), k_none);
}

TEST(Clusters, are_those_of_all_members) {
  const auto result = run_team(3, [&](Team& team) -> Result<void> {
    IntervalUnion own(100);
    own.add(10 * team.rank(), 10 * team.rank() + 10);
    EXPECT_EQ(merge_clusters(team, std::move(own)).size(), 1u);
    return {};
  });
  EXPECT_TRUE(result);
}

Pieces backward(const std::vector<std::int64_t>& sends, const std::vector<std::int64_t>& receives,
                bool ordered) {
  Instance instance;
  instance.ordered = ordered;
  for (auto* side : {&instance.sends, &instance.receives}) {
    for (const std::int64_t time : side == &instance.sends ? sends : receives) {
      Moment moment;
      moment.time = time;
      moment.rank = static_cast<std::uint32_t>(side->size());
      side->push_back(moment);
    }
  }
  IntervalUnion found(100);
  add_backward(instance, found);
  Pieces pieces;
  for (const Interval& piece : std::move(found).take()) pieces.emplace_back(piece.begin, piece.end);
  return pieces;
}

TEST(AddBackward, spans_from_the_earliest_receive_to_the_latest_send) {
  EXPECT_EQ(backward({10, 30}, {20, 40}, false), (Pieces{{20, 30}}));
  EXPECT_EQ(backward({10, 20}, {20, 40}, false), (Pieces{{20, 20}}));  // equal is backward
  EXPECT_EQ(backward({10, 19}, {20, 40}, false), Pieces{});
}

TEST(AddBackward, in_an_ordered_instance_only_lower_ranks_count) {
  EXPECT_EQ(backward({10, 30}, {20, 40}, true), Pieces{});
  EXPECT_EQ(backward({10, 30, 90}, {5, 8, 20}, true), (Pieces{{8, 10}, {20, 30}}));
}

}  // namespace
}  // namespace entrain::verify
