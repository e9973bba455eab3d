// SPDX-License-Identifier: BSD-3-Clause
#include "match/call_tree.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/ids.hpp"

namespace entrain::match {
namespace {

/// A ring of processes that exchange ten messages with each neighbour.
std::vector<std::vector<Partner>> ring(std::uint32_t processes) {
  std::vector<std::vector<Partner>> partners(processes);
  for (std::uint32_t p = 0; p < processes; ++p) {
    const std::uint32_t a = (p + processes - 1) % processes, b = (p + 1) % processes;
    partners[p] = {{std::min(a, b), 10}, {std::max(a, b), 10}};
  }
  return partners;
}
std::vector<Caller> callers(std::initializer_list<std::uint32_t> calls) {
  std::vector<Caller> callers;
  for (const std::uint32_t count : calls) {
    callers.push_back({0, static_cast<std::uint32_t>(callers.size()), count});
  }
  return callers;
}
std::vector<std::pair<std::uint32_t, std::uint32_t>> parents_and_depths(
    const std::vector<CallLink>& links) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> all;
  for (const CallLink& link : links) all.emplace_back(link.parent, link.depth);
  return all;
}
using Links = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

TEST(CallTree, takes_the_shortest_way_and_the_lowest_process) {
  const std::uint32_t references[] = {0};
  const auto links = link_callers(callers({5, 5, 5, 5}), ring(4), references);
  EXPECT_EQ(parents_and_depths(links), (Links{{0, 0}, {0, 1}, {1, 2}, {0, 1}}));
}

TEST(CallTree, goes_around_a_process_that_misses_calls) {
  const std::uint32_t references[] = {0};
  const auto links = link_callers(callers({5, 4, 5, 5}), ring(4), references);
  EXPECT_EQ(parents_and_depths(links), (Links{{0, 0}, {0, 1}, {3, 2}, {0, 1}}));
}

TEST(CallTree, goes_around_a_link_with_unequal_counts) {
  const std::uint32_t references[] = {0};
  auto partners = ring(4);
  partners[0][0].messages = 9;  // with 1
  const auto links = link_callers(callers({5, 5, 5, 5}), partners, references);
  EXPECT_EQ(parents_and_depths(links), (Links{{0, 0}, {2, 3}, {3, 2}, {0, 1}}));
}

TEST(CallTree, links_those_without_a_way_at_once) {
  const std::uint32_t references[] = {1};
  auto partners = ring(4);
  partners[0].clear();
  partners[2].clear();
  const auto links = link_callers(callers({5, 5, 5, 5}), partners, references);
  EXPECT_EQ(parents_and_depths(links), (Links{{1, 1}, {1, 0}, {1, 1}, {1, 1}}));
}

TEST(CallTree, leaves_out_communicators_without_a_reference) {
  const std::uint32_t references[] = {k_none};
  EXPECT_TRUE(link_callers(callers({5, 5}), ring(2), references).empty());
}

}  // namespace
}  // namespace entrain::match
