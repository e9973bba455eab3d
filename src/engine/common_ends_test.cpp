// SPDX-License-Identifier: BSD-3-Clause
#include "engine/common_ends.hpp"

#include <gtest/gtest.h>

namespace entrain::engine {
namespace {

struct Calls {
  Clocks clocks;
  std::vector<CollectiveInstance> instances;
  std::vector<InstanceMember> members;

  explicit Calls(std::size_t count) : clocks{.clocks = std::vector<Clock>(count)} {}
  void add(const std::vector<std::uint64_t>& ends, bool coincide = true) {
    const auto count = static_cast<std::uint32_t>(ends.size());
    instances.push_back({.ends_coincide = coincide, .first = members.size(), .ends = count});
    for (std::uint32_t c = 0; c < count; ++c) members.push_back({.clock = c, .time = ends[c]});
  }
  std::optional<CommonEnds> run() {
    Edges edges;
    edges.instances = instances;
    edges.members = members;
    return align_ends(clocks, edges);
  }
};

TEST(CommonEnds, a_clock_that_is_late_is_set_and_the_others_stay) {
  Calls calls(3);
  for (std::uint64_t t = 1'000'000; t < 1'010'000; t += 1000) calls.add({t, t + 1, t + 30'000});
  const auto found = calls.run();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kept, 2U);
  EXPECT_NEAR(static_cast<double>(found->maps[2](1'035'000)), 1'005'000, 2);
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
  EXPECT_NEAR(static_cast<double>(found->maps[2](1'000'000)), 0, 50);
  EXPECT_NEAR(static_cast<double>(found->maps[2](100'006'000'000)), 100'000'000'000, 50);
}

}  // namespace
}  // namespace entrain::engine
