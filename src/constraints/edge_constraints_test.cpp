// SPDX-License-Identifier: BSD-3-Clause
#include "constraints/edge_constraints.hpp"

#include <map>
#include <tuple>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.hpp"
#include "match/testing.hpp"

namespace entrain::constraints {
namespace {

using match::testing::TraceBuilder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using K = trace::EventKind;

/// (from, from_time, to, to_time, slack)
using Told = std::tuple<std::uint32_t, std::int64_t, std::uint32_t, std::int64_t, std::int64_t>;

std::vector<Told> constraints_of(const TraceBuilder& b, std::vector<std::uint32_t> clock_of,
                                 std::uint32_t windows = 1, const MuTicks& mu = {},
                                 const ClockErrors* errors = nullptr, std::uint32_t clocks = 0) {
  match::Graph graph = match::build_graph(b.trace(), {});
  std::vector<std::int64_t> times(graph.stamp.begin(), graph.stamp.end());
  Solo solo;
  ConstraintOptions options;
  options.times = times;
  options.clock_of = clock_of;
  options.clocks = std::max(clocks, *std::max_element(clock_of.begin(), clock_of.end()) + 1);
  options.mu = mu;
  options.end = 1'000;
  options.windows = windows;
  options.errors = errors;
  std::vector<Told> told;
  for (const ClockConstraint& constraint : collect_constraints(solo, graph, options)) {
    told.emplace_back(constraint.from, constraint.from_time, constraint.to, constraint.to_time,
                      constraint.slack);
  }
  return told;
}

TEST(Bounds, the_tightest_message_of_a_pair_and_window_is_kept) {
  TraceBuilder b(2);
  for (const std::uint64_t t : {100, 200, 700}) b.message(K::send, 0, t, 1);
  b.message(K::recv, 1, 150, 0);
  b.message(K::recv, 1, 220, 0);
  b.message(K::recv, 1, 790, 0);
  EXPECT_THAT(constraints_of(b, {0, 1}), ElementsAre(Told{0, 200, 1, 220, 20}));
  EXPECT_THAT(constraints_of(b, {0, 1}, 2, {1, 2, 3}),
              ElementsAre(Told{0, 200, 1, 220, 17}, Told{0, 700, 1, 790, 87}));
}

TEST(Bounds, of_many_clocks_are_the_same) {
  TraceBuilder b(4);
  std::uint64_t t = 100;
  for (int i = 0; i < 40; ++i, t += 20) {
    const auto from = static_cast<LocationIndex>(i % 3);
    const auto to =
        static_cast<LocationIndex>((i * i + 1 + from) % 3 == from ? 3 : (i * i + 1 + from) % 3);
    b.message(K::send, from, t, to);
    b.message(K::recv, to, t + 5 + static_cast<std::uint64_t>(i * 7 % 11), from);
  }
  const std::vector<Told> few = constraints_of(b, {0, 1, 2, 3}, 8);
  EXPECT_GT(few.size(), 10u);
  EXPECT_EQ(constraints_of(b, {0, 1, 2, 3}, 8, {}, nullptr, 100'000), few);
}

TEST(Bounds, known_errors_decide_which_is_the_tightest) {
  TraceBuilder b(2);
  b.message(K::send, 0, 100, 1);
  b.message(K::send, 0, 900, 1);
  b.message(K::recv, 1, 150, 0);
  b.message(K::recv, 1, 940, 0);
  // Clock 1 is 100 late in the beginning and right at the end.
  const ClockErrors errors(0, 1'000, 2, {0, 0, 100, 0});
  EXPECT_THAT(constraints_of(b, {0, 1}), ElementsAre(Told{0, 900, 1, 940, 40}));
  EXPECT_THAT(constraints_of(b, {0, 1}, 1, {}, &errors), ElementsAre(Told{0, 100, 1, 150, 50}));
}

TEST(Bounds, a_barrier_gives_every_member_two) {
  TraceBuilder b(3);
  b.collective(0, 100, 210, trace::op::barrier);
  b.collective(1, 120, 220, trace::op::barrier);
  b.collective(2, 110, 230, trace::op::barrier);
  // The latest begin is that of 1, for itself that of 2; the earliest end that of 0, then of 1.
  EXPECT_THAT(
      constraints_of(b, {0, 1, 2}),
      ElementsAre(Told{1, 120, 0, 210, 90}, Told{2, 110, 0, 210, 100}, Told{0, 100, 1, 220, 120},
                  Told{2, 110, 1, 220, 110}, Told{1, 120, 2, 230, 110}));
}

TEST(Bounds, edges_within_a_clock_do_not_count) {
  TraceBuilder b(3);
  b.collective(0, 100, 210, trace::op::barrier);
  b.collective(1, 120, 220, trace::op::barrier);
  b.collective(2, 110, 230, trace::op::barrier);
  EXPECT_THAT(constraints_of(b, {0, 0, 1}),
              ElementsAre(Told{1, 110, 0, 210, 100}, Told{0, 120, 1, 230, 110}));
  EXPECT_THAT(constraints_of(b, {0, 0, 0}), IsEmpty());
}

TEST(Bounds, a_scan_binds_upwards_only) {
  TraceBuilder b(3);
  b.collective(0, 100, 210, trace::op::scan);
  b.collective(1, 120, 220, trace::op::scan);
  b.collective(2, 110, 230, trace::op::scan);
  for (const auto& [from, from_time, to, to_time, slack] : constraints_of(b, {0, 1, 2})) {
    EXPECT_LT(from, to);
  }
  EXPECT_EQ(constraints_of(b, {0, 1, 2}).size(), 2u);
}

/// Into each clock, and out of it, the tightest edge of its group is that of all pairs.
TEST(Groups, have_the_tightest_edges_of_all_pairs_inside_them) {
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
    std::vector<std::uint32_t> clock_of, group_of;
    for (LocationIndex l = 0; l < processes; ++l) {
      clock_of.push_back(l);
      group_of.push_back(static_cast<std::uint32_t>(random.below(3)));
    }
    const match::Graph graph = match::build_graph(b.trace(), {});
    const std::vector<std::int64_t> times(graph.stamp.begin(), graph.stamp.end());
    ConstraintOptions options;
    options.times = options.corrected = times;
    options.clock_of = clock_of;
    options.clocks = processes;
    options.mu = {3, 3, 3};
    options.end = 1;
    options.group_of = group_of;
    options.groups = 3;
    using Least = std::map<std::pair<bool, std::uint32_t>, std::int64_t>;
    const auto see = [](Least& least, std::uint32_t from, std::uint32_t to, std::int64_t slack) {
      for (const auto& key : {std::pair(false, from), std::pair(true, to)}) {
        std::int64_t& own = least.try_emplace(key, slack).first->second;
        own = std::min(own, slack);
      }
    };
    Solo solo;
    Least found, expected;
    for (const LimitingEdge& edge : collect_violated(solo, graph, options)) {
      see(found, edge.constraint.from, edge.constraint.to, edge.constraint.slack);
    }
    for (std::size_t k = 0; k < k_edge_kinds; ++k) {
      for (const match::testing::Pair& pair :
           match::testing::pairs_of(graph, static_cast<EdgeKind>(k))) {
        const LocationIndex from = pair.send.location, to = pair.receive.location;
        if (group_of[from] != group_of[to]) continue;
        see(expected, from, to,
            static_cast<std::int64_t>(pair.receive.time) -
                static_cast<std::int64_t>(pair.send.time) - 3);
      }
    }
    EXPECT_EQ(found, expected);
  }
}

}  // namespace
}  // namespace entrain::constraints
