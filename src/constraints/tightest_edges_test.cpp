// SPDX-License-Identifier: BSD-3-Clause
#include "constraints/tightest_edges.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

namespace entrain::constraints {
namespace {

const TimeWindows k_windows(0, 4'000, 40);

using Fields = std::tuple<std::uint32_t, std::int64_t, std::uint32_t, std::int64_t, std::int64_t>;

Fields fields_of(const ClockConstraint& c) {
  return {c.to, c.to_time, c.from, c.from_time, c.slack};
}

/// Edges in any order, many of them equally tight.
std::vector<LimitingEdge> random_edges(std::uint32_t clocks, std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(0, most - 1)(random);
  };
  std::vector<LimitingEdge> edges;
  for (std::size_t i = 0; i < count; ++i) {
    LimitingEdge edge;
    edge.constraint.from = static_cast<std::uint32_t>(below(clocks));
    const auto to = edge.constraint.from + 1 + below(clocks - 1);
    edge.constraint.to = static_cast<std::uint32_t>(to % clocks);
    edge.constraint.to_time = below(4'100) - 50;
    edge.constraint.from_time = edge.constraint.to_time - below(50);
    edge.constraint.slack = below(4);
    edge.tightness = static_cast<double>(below(3));
    edges.push_back(edge);
  }
  return edges;
}

/// Expected result by brute force.
std::vector<Fields> expected_of(const std::vector<LimitingEdge>& edges) {
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>, LimitingEdge> best;
  for (const LimitingEdge& edge : edges) {
    const auto [at, is_new] = best.try_emplace(
        {edge.constraint.from, edge.constraint.to, k_windows.of(edge.constraint.to_time)}, edge);
    if (!is_new && edge.before(at->second)) at->second = edge;
  }
  std::vector<Fields> fields;
  for (const auto& [key, edge] : best) fields.push_back(fields_of(edge.constraint));
  std::sort(fields.begin(), fields.end());
  return fields;
}

std::vector<Fields> found_in(const std::vector<LimitingEdge>& edges, std::uint32_t clocks,
                             std::size_t part_count, unsigned threads) {
  std::vector<TightestEdges> parts(part_count, TightestEdges(clocks, k_windows));
  for (std::size_t i = 0; i < edges.size(); ++i)
    parts[i * part_count / edges.size()].keep(edges[i]);
  std::vector<Fields> fields;
  for (const auto& [one, tightness] : TightestEdges::merge(std::move(parts), clocks, threads))
    fields.push_back(fields_of(one));
  return fields;
}

TEST(TightestEdges, are_those_of_every_pair_and_window) {
  for (const std::uint32_t clocks : {2u, 7u, 300u}) {
    std::vector<LimitingEdge> edges = random_edges(clocks, 5'000, clocks);
    const std::vector<Fields> expected = expected_of(edges);
    for (const std::size_t parts : {1, 2, 5}) {
      EXPECT_EQ(found_in(edges, clocks, parts, 2), expected) << clocks << ' ' << parts;
    }
    // In order of time, and from behind.
    std::sort(edges.begin(), edges.end(), [](const LimitingEdge& a, const LimitingEdge& b) {
      return a.constraint.to_time < b.constraint.to_time;
    });
    EXPECT_EQ(found_in(edges, clocks, 2, 1), expected);
    std::reverse(edges.begin(), edges.end());
    EXPECT_EQ(found_in(edges, clocks, 3, 1), expected);
  }
}

TEST(TimeWindows, share_out_a_span) {
  EXPECT_EQ(k_windows.width, 101);  // so that the last instant is of the last one
  EXPECT_EQ(k_windows.of(0), 0u);
  EXPECT_EQ(k_windows.of(100), 0u);
  EXPECT_EQ(k_windows.of(101), 1u);
  EXPECT_EQ(k_windows.of(4'000), 39u);
  EXPECT_EQ(k_windows.of(-5), 0u);
  EXPECT_EQ(k_windows.of(1'000'000), 39u);
  EXPECT_EQ(TimeWindows(7, 7, 3).width, 1);
}

TEST(TightestEdges, of_none_are_none) {
  EXPECT_TRUE(TightestEdges::merge({}, 3, 1).empty());
  EXPECT_TRUE(TightestEdges::merge({TightestEdges(0, k_windows), TightestEdges(3, k_windows)}, 3, 2)
                  .empty());
  EXPECT_TRUE(TightestEdges::merge({TightestEdges(0, k_windows)}, 0, 2).empty());
}

}  // namespace
}  // namespace entrain::constraints
