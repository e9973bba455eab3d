// SPDX-License-Identifier: BSD-3-Clause
#include "causal/common_ends.hpp"

#include <gtest/gtest.h>

namespace entrain::causal {
namespace {

constexpr double k_most_rate = 5e-4;

struct Calls {
  entrain::Clocks clocks;
  std::vector<CollectiveInstance> instances;
  std::vector<InstanceMember> members;

  explicit Calls(std::size_t count) : clocks{.clocks = std::vector<entrain::Clock>(count)} {}
  void add(const std::vector<std::uint64_t>& ends, bool coincide = true) {
    const auto count = static_cast<std::uint32_t>(ends.size());
    instances.push_back({.ends_coincide = coincide, .first = members.size(), .ends = count});
    for (std::uint32_t c = 0; c < count; ++c) members.push_back({.clock = c, .time = ends[c]});
  }
  std::optional<std::vector<ClockMap>> run(std::optional<std::uint32_t> reference = {}) {
    Edges edges;
    edges.instances = instances;
    edges.members = members;
    const auto ends = find_common_ends(clocks, edges, nullptr);
    if (!ends || !*ends) return std::nullopt;
    return maps_of(**ends, reference, k_most_rate);
  }
};

TEST(CommonEnds, a_clock_that_is_late_is_set_and_the_others_stay) {
  Calls calls(3);
  for (std::uint64_t t = 1'000'000; t < 1'010'000; t += 1000) calls.add({t, t + 1, t + 30'000});
  const auto found = calls.run();
  ASSERT_TRUE(found);
  EXPECT_TRUE((*found)[0].is_identity());
  EXPECT_TRUE((*found)[1].is_identity());
  EXPECT_NEAR(static_cast<double>((*found)[2](1'035'000)), 1'005'000, 2);
}

TEST(CommonEnds, without_ends_that_coincide_nothing_is_set) {
  Calls calls(2);
  for (std::uint64_t t = 0; t < 9000; t += 1000) calls.add({t, t + 5}, false);
  EXPECT_FALSE(calls.run());
}

TEST(CommonEnds, a_drift_that_stands_out_is_taken_away) {
  Calls calls(3);
  for (std::uint64_t t = 0; t < 100'000'000'000; t += 1'000'000'000) {
    calls.add({t, t + 1, t + 1'000'000 + t / 20'000});
  }
  const auto found = calls.run();
  ASSERT_TRUE(found);
  EXPECT_NEAR(static_cast<double>((*found)[2](1'000'000)), 0, 50);
  EXPECT_NEAR(static_cast<double>((*found)[2](100'006'000'000)), 100'000'000'000, 50);
}

TEST(CommonEnds, the_reference_keeps_its_time_though_it_is_the_one_that_differs) {
  Calls calls(3);
  for (std::uint64_t t = 0; t < 100'000'000'000; t += 1'000'000'000) {
    calls.add({t, t + 1, t + 1'000'000 + t / 20'000});
  }
  const auto found = calls.run(2);
  ASSERT_TRUE(found);
  EXPECT_TRUE((*found)[2].is_identity());
  EXPECT_NEAR(static_cast<double>((*found)[0](0)), 1'000'000, 50);
  EXPECT_NEAR(static_cast<double>((*found)[1](100'000'000'000)), 100'006'000'000, 50);
}

TEST(CommonEnds, a_clock_that_runs_faster_than_any_can_is_not_set_by_them) {
  Calls calls(3);
  for (std::uint64_t t = 0; t < 100'000'000'000; t += 1'000'000'000) {
    calls.add({t, t + 1, t + t / 1000});
  }
  EXPECT_FALSE(calls.run());
}

TEST(CommonEnds, a_drift_about_the_right_time_is_taken_away) {
  Calls calls(3);
  for (std::int64_t t = 0; t < 100'000'000'000; t += 1'000'000'000) {
    const auto stamp = static_cast<std::uint64_t>(t + 10'000'000);
    calls.add({stamp, stamp + 1,
               static_cast<std::uint64_t>(t + 10'000'000 + (t - 49'500'000'000) / 20'000)});
  }
  const auto found = calls.run();
  ASSERT_TRUE(found);
  EXPECT_NEAR(static_cast<double>((*found)[2](10'000'000 - 2'475'000)), 10'000'000, 50);
}

}  // namespace
}  // namespace entrain::causal
