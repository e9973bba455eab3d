// SPDX-License-Identifier: BSD-3-Clause
#include "explain/backward_steps.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/edge_list.hpp"

namespace entrain::explain {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::uint32_t k_clocks = 4;

/// Messages between clocks, each of which may have been set.
struct RunOfClocks {
  explicit RunOfClocks(unsigned seed) : draw(seed) {}

  /// Adds messages at random times; `shown`: stamp of clock 0 at a time. Other clocks are right.
  template <class Shown>
  void add(std::size_t count, const Shown& shown) {
    for (std::size_t i = 0; i < count; ++i) {
      now += 1 + draw() % 2000;
      const std::uint32_t cause = draw() % k_clocks;
      const std::uint32_t effect = (cause + 1 + draw() % (k_clocks - 1)) % k_clocks;
      const std::uint64_t later = now + 1 + draw() % 5000;
      list.add({cause, cause == 0 ? shown(now) : now},
               {effect, effect == 0 ? shown(later) : later});
      sent.push_back(now), received.push_back(later);
    }
  }
  /// Stamp and true time of the ends of clock 0 at edges that are not dropped.
  [[nodiscard]] std::vector<std::pair<std::uint64_t, std::uint64_t>> kept(
      const BackwardStep& step) const {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> all;
    for (std::uint32_t e = 0; e < sent.size(); ++e) {
      if (std::ranges::binary_search(step.edges, e)) continue;
      if (list.cause_clock[e] == 0) all.emplace_back(list.cause_time[e], sent[e]);
      if (list.effect_clock[e] == 0) all.emplace_back(list.effect_time[e], received[e]);
    }
    std::ranges::sort(all);
    return all;
  }

  std::mt19937 draw;
  EdgeList list;
  std::vector<std::uint64_t> sent, received;
  std::uint64_t now = 1'000'000'000;
};

TEST(BackwardSteps, clocks_that_were_not_set_back_have_none) {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    RunOfClocks run(seed);
    const std::uint64_t at = run.now + run.draw() % 400'000, by = run.draw() % 10'000'000;
    run.add(40 + run.draw() % 400, [&](std::uint64_t t) { return t + (t >= at ? by : 0); });
    EXPECT_THAT(find_backward_steps(k_clocks, run.list.view()), IsEmpty()) << seed;
  }
}

TEST(BackwardSteps, stamps_that_stay_are_in_the_order_of_time) {
  std::size_t number = 0, wrong = 0;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    RunOfClocks run(seed);
    const std::size_t count = 200 + run.draw() % 400;
    const std::uint64_t length = count * 1000;
    const std::uint64_t first = run.now + length / 4 + run.draw() % (length / 4);
    const std::uint64_t second = first + length / 4;
    const std::uint64_t by = length / 3 + run.draw() % length;
    const bool is_twice = seed % 4 == 0;
    run.add(count, [&](std::uint64_t t) {
      return t - (t >= first ? by : 0) - (is_twice && t >= second ? by : 0);
    });
    const auto found = find_backward_steps(k_clocks, run.list.view());
    ASSERT_LE(found.size(), 1u) << seed;
    if (found.empty()) continue;
    ++number;
    EXPECT_EQ(found[0].clock, 0u) << seed;
    EXPECT_LT(found[0].edges.size(), run.sent.size() / 2) << seed;
    const auto kept = run.kept(found[0]);
    const auto is_before = [](const auto& a, const auto& b) { return a.second < b.second; };
    wrong += std::ranges::is_sorted(kept, is_before) ? 0 : 1;
  }
  EXPECT_GT(number, 1900u);
  EXPECT_LT(wrong, 40u);  // a message under way while the clock was set
}

TEST(BackwardSteps, nothing_has_none) {
  EdgeList list;
  EXPECT_THAT(find_backward_steps(0, list.view()), IsEmpty());
  EXPECT_THAT(find_backward_steps(1, list.view()), IsEmpty());
  list.add({0, 20}, {1, 10});
  EXPECT_THAT(find_backward_steps(2, list.view()), IsEmpty());
}

TEST(BackwardSteps, a_wrong_pair_is_none) {
  RunOfClocks run(1);
  run.add(200, [](std::uint64_t t) { return t; });
  run.list.effect_time[100] -= 100'000;
  run.list.cause_time[50] += 100'000;
  EXPECT_THAT(find_backward_steps(k_clocks, run.list.view()), IsEmpty());
}

TEST(BackwardSteps, the_clock_that_was_set_back_has_its_stamps_and_cut) {
  EdgeList list;
  for (std::uint64_t i = 0; i < 20; ++i) list.add({0, 1000 + 10 * i}, {1, 1005 + 10 * i});
  for (std::uint64_t i = 0; i < 10; ++i) list.add({0, 1110 + 10 * i}, {1, 1215 + 10 * i});
  const auto found = find_backward_steps(2, list.view());
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].clock, 0u);
  EXPECT_EQ(found[0].from, 1190u);
  EXPECT_EQ(found[0].to, 1110u);
  EXPECT_EQ(found[0].times, 1u);
  EXPECT_EQ(found[0].edges.size(), 9u);
  EXPECT_EQ(found[0].all, 30u);
  ASSERT_THAT(found[0].cuts, SizeIs(1));
  EXPECT_EQ(found[0].cuts[0].first, 1190u);
  EXPECT_EQ(found[0].cuts[0].second, 1200u);
}

}  // namespace
}  // namespace entrain::explain
