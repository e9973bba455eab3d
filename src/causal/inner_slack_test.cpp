// SPDX-License-Identifier: BSD-3-Clause
#include "causal/inner_slack.hpp"

#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "match/testing.hpp"
#include "trace/testing.hpp"

namespace entrain::causal {
namespace {

using match::testing::pairs_of;
using trace::testing::TraceBuilder;
using K = trace::EventKind;

TEST(InnerSlack, is_that_of_all_pairs_inside_groups) {
  RandomStream random(5, 5);
  for (int round = 0; round < 100; ++round) {
    const auto processes = static_cast<std::uint32_t>(2 + random.below(6));
    TraceBuilder b(processes);
    std::uint64_t time = 1'000;
    for (int step = 0; step < 12; ++step) {
      time += 1'000;
      const auto any = [&] { return time + random.below(400); };
      const std::uint8_t ops[] = {trace::op::barrier, trace::op::scan, trace::op::reduce};
      if (step % 3 == 0) {
        const auto from = static_cast<LocationIndex>(random.below(processes));
        const auto to = (from + 1) % processes;
        b.message(K::send, from, any(), to);
        b.message(K::recv, to, any(), from);
        continue;
      }
      const std::uint8_t op = ops[random.below(3)];
      for (LocationIndex l = 0; l < processes; ++l) {
        const std::uint64_t begin = any();
        b.collective(l, begin, begin + random.below(300), op,
                     op == trace::op::reduce ? 0 : trace::k_root_none);
      }
    }
    std::vector<std::uint32_t> unit(processes), group;
    std::iota(unit.begin(), unit.end(), 0u);
    for (LocationIndex l = 0; l < processes; ++l) {
      group.push_back(static_cast<std::uint32_t>(random.below(3)));
    }
    const match::Graph graph = match::build_graph(b.trace(), {});
    const std::vector<std::int64_t> times(graph.stamp.begin(), graph.stamp.end());
    const MuTicks mu{3, 3, 3};
    Solo solo;
    const auto slacks = inner_slacks(solo, graph,
                                     {.times = times,
                                      .unit_of = unit,
                                      .group_of = group,
                                      .units = processes,
                                      .groups = 3,
                                      .mu = mu});
    std::vector<InnerSlack> expected(processes);
    for (std::size_t k = 0; k < k_edge_kinds; ++k) {
      for (const match::testing::Pair& pair : pairs_of(graph, static_cast<EdgeKind>(k))) {
        const LocationIndex from = pair.send.location, to = pair.receive.location;
        if (group[from] != group[to]) continue;
        const auto slack = static_cast<std::int64_t>(pair.receive.time) -
                           static_cast<std::int64_t>(pair.send.time) - 3;
        expected[from].out_of = std::min(expected[from].out_of, slack);
        expected[to].into = std::min(expected[to].into, slack);
      }
    }
    for (std::uint32_t u = 0; u < processes; ++u) {
      EXPECT_EQ(slacks[u].into, expected[u].into);
      EXPECT_EQ(slacks[u].out_of, expected[u].out_of);
    }
  }
}

}  // namespace
}  // namespace entrain::causal
