// SPDX-License-Identifier: BSD-3-Clause
#include "clc/domain_view.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.hpp"
#include "clc/amortize.hpp"
#include "clc/testing.hpp"
#include "match/testing.hpp"

namespace entrain::clc {
namespace {

using match::testing::Pair;
using match::testing::Pairs;
using match::testing::pairs_of;
using ::testing::ElementsAre;
using trace::testing::TraceBuilder;
using K = trace::EventKind;

/// A trace of messages and collectives in which true time is known; clock of location l is off by
/// skew[l] ticks.
TraceBuilder random_trace(RandomStream& random, std::uint32_t processes,
                          const std::vector<std::int64_t>& skew, std::uint64_t granule) {
  TraceBuilder b(processes);
  std::vector<std::uint64_t> now(processes, 10'000);
  const auto stamp = [&](LocationIndex l) {
    return (now[l] + static_cast<std::uint64_t>(skew[l])) / granule * granule;
  };
  const auto pause = [&](LocationIndex l) { now[l] += 1 + random.below(40); };
  for (int step = 0; step < 25; ++step) {
    if (random.below(2) == 0) {
      const auto from = static_cast<LocationIndex>(random.below(processes));
      const auto to = static_cast<LocationIndex>(random.below(processes));
      if (from == to) continue;
      pause(from);
      pause(to);
      b.message(K::send, from, stamp(from), to);
      now[to] = std::max(now[to], now[from] + 1 + random.below(20));
      b.message(K::recv, to, stamp(to), from);
      continue;
    }
    const std::uint8_t ops[] = {trace::op::barrier, trace::op::scan, trace::op::bcast,
                                trace::op::reduce, trace::op::allreduce};
    const std::uint8_t op = ops[random.below(5)];
    const bool rooted = op == trace::op::bcast || op == trace::op::reduce;
    std::vector<std::uint64_t> begins, ends;
    for (LocationIndex l = 0; l < processes; ++l) {
      pause(l);
      begins.push_back(now[l]);
    }
    const std::uint64_t last = *std::max_element(begins.begin(), begins.end());
    for (LocationIndex l = 0; l < processes; ++l) {
      const std::uint64_t begin = stamp(l);
      now[l] = last + random.below(15);
      const auto flags = static_cast<std::uint8_t>(1 + random.below(3));
      b.collective(l, begin, stamp(l), op, rooted ? 0 : trace::k_root_none, 0, flags);
    }
  }
  for (LocationIndex l = 0; l < processes; ++l) {  // the generator knows its granule
    b.trace().locations[l].granule = granule;
  }
  return b;
}

/// Pairs between domains, as the view must hold them.
Pairs between_domains(const match::Graph& graph, const trace::ClockDomains& domains,
                      EdgeKind kind) {
  Pairs expected;
  for (Pair pair : pairs_of(graph, kind)) {
    pair.send.location = domains.of[pair.send.location];
    pair.receive.location = domains.of[pair.receive.location];
    if (pair.send.location != pair.receive.location) expected.push_back(pair);
  }
  std::sort(expected.begin(), expected.end());
  expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
  return expected;
}

Pairs unique_pairs(const match::Graph& graph, EdgeKind kind) {
  Pairs pairs = pairs_of(graph, kind);
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  return pairs;
}

DomainView view_of(const TraceBuilder& b, const trace::ClockDomains& domains) {
  Solo solo;
  const trace::Partition whole = trace::undivided(b.trace().definitions);
  return merge_domains({solo, whole, b.trace()}, match::build_graph(b.trace(), {}),
                       std::vector<ClockMap>(b.trace().locations.size()), domains, true);
}

TEST(MergeDomains, keeps_the_pairs_between_domains_and_no_others) {
  RandomStream random(1, 7);
  for (int round = 0; round < 200; ++round) {
    const auto processes = static_cast<std::uint32_t>(2 + random.below(7));
    std::vector<std::int64_t> skew;
    std::vector<std::uint32_t> key;
    for (std::uint32_t p = 0; p < processes; ++p) {
      skew.push_back(static_cast<std::int64_t>(random.below(60)));  // not one clock at all
      key.push_back(static_cast<std::uint32_t>(random.below(round % 2 == 0 ? 3 : processes)));
    }
    if (round % 3 == 0) std::sort(key.begin(), key.end());  // neighbours share clocks
    const TraceBuilder b = random_trace(random, processes, skew, 1 + random.below(20));
    const trace::ClockDomains domains = trace::domains_by(key);
    const match::Graph graph = match::build_graph(b.trace(), {});
    const DomainView view = view_of(b, domains);
    ASSERT_EQ(view.graph.location_count(), domains.count());
    for (std::size_t k = 0; k < k_edge_kinds; ++k) {
      const auto kind = static_cast<EdgeKind>(k);
      EXPECT_EQ(unique_pairs(view.graph, kind), between_domains(graph, domains, kind));
    }
  }
}

TEST(MergeDomains, corrected_domains_keep_every_edge_between_them) {
  RandomStream random(2, 7);
  std::size_t jumps = 0;
  for (int round = 0; round < 200; ++round) {
    const auto processes = static_cast<std::uint32_t>(3 + random.below(6));
    std::vector<std::uint32_t> key;
    for (std::uint32_t p = 0; p < processes; ++p) {
      key.push_back(static_cast<std::uint32_t>(random.below(3)));
    }
    std::vector<std::int64_t> of_clock, skew;
    for (int c = 0; c < 3; ++c) of_clock.push_back(static_cast<std::int64_t>(random.below(5'000)));
    for (const std::uint32_t clock : key) skew.push_back(of_clock[clock]);
    const TraceBuilder b = random_trace(random, processes, skew, 1 + random.below(3));
    const trace::ClockDomains domains = trace::domains_by(key);
    const match::Graph graph = match::build_graph(b.trace(), {});
    DomainView view = view_of(b, domains);
    Options options;
    options.split_flushes = true;
    const auto corrected = amortize(std::move(view.graph), view.trace, view.presync, options);
    ASSERT_TRUE(corrected) << corrected.error().message;
    EXPECT_EQ(corrected->maps.size(), domains.count());
    for (const auto& [name, count] : corrected->cycles) EXPECT_NE(name, "dropped_components");
    jumps += corrected->jumps;
    for (std::size_t k = 0; k < k_edge_kinds; ++k) {
      for (const Pair& pair : pairs_of(graph, static_cast<EdgeKind>(k))) {
        const auto time = [&](const match::testing::At& at) {
          return corrected->maps[domains.of[at.location]](at.time);
        };
        EXPECT_GE(time(pair.receive), time(pair.send));
      }
    }
  }
  EXPECT_GT(jumps, 500u);
}

TEST(MergeDomains, nobody_waits_for_a_begin_of_the_own_domain) {
  // Location 1 ends before location 0 begins, whose clock it is said to share.
  TraceBuilder b(3);
  b.collective(0, 160, 170, trace::op::bcast, 0, 0, trace::k_sent);
  b.collective(1, 100, 150, trace::op::bcast, 0, 0, trace::k_received);
  b.collective(2, 100, 140, trace::op::bcast, 0, 0, trace::k_received);
  for (const MuTicks& mu : {MuTicks{}, MuTicks{5, 5, 5}}) {
    DomainView view = view_of(b, trace::domains_by(std::vector<std::uint32_t>{0, 0, 1}));
    testing::Problem problem(std::move(view.graph));
    testing::flow_alone(problem.with(mu), Decimal9{900'000'000});
    EXPECT_TRUE(problem.cycles.counters().empty());
  }
}

TEST(MergeDomains, a_jump_moves_all_locations_of_the_domain) {
  // Locations 1 and 2 share a clock; only 1 receives too early.
  TraceBuilder b(3);
  b.message(K::send, 0, 10'000, 1);
  b.message(K::recv, 1, 9'900, 0);
  b.message(K::send, 2, 9'950, 0, 5);
  b.message(K::recv, 0, 20'000, 2, 5);
  DomainView view = view_of(b, trace::domains_by(std::vector<std::uint32_t>{0, 1, 1}));
  Options options;
  options.gamma = Decimal9{900'000'000};
  const auto corrected = amortize(std::move(view.graph), view.trace, view.presync, options);
  ASSERT_TRUE(corrected);
  EXPECT_EQ(corrected->maps[1](9'900), 10'000);
  EXPECT_EQ(corrected->maps[1](9'950), 10'045);  // 100 - 0.1 * 50 later
}

TEST(MergeDomains, flushes_with_communication_inside_are_left_to_the_reader) {
  TraceBuilder b(3);
  b.message(K::send, 0, 1'000, 1);
  b.message(K::recv, 1, 1'500, 0);
  b.request(K::irecv_request, 1, 2'500, 9);
  b.trace().locations[1].flushes = {{1'100, 1'200}, {2'000, 2'100}};
  b.request(K::irecv_request, 2, 900, 9);
  b.request(K::irecv_request, 2, 3'000, 9);
  b.trace().locations[2].flushes = {{1'150, 1'300}, {1'400, 1'600}};
  const DomainView view = view_of(b, trace::domains_by(std::vector<std::uint32_t>{0, 1, 1}));
  const trace::LocationSkeleton& extent = view.trace.locations[1];
  EXPECT_EQ(extent.first, 900u);
  EXPECT_EQ(extent.last, 3'000u);
  ASSERT_EQ(extent.flushes.size(), 2u);  // two united, one with a receive inside left out
  EXPECT_EQ(extent.flushes[0].begin, 1'100u);
  EXPECT_EQ(extent.flushes[0].end, 1'300u);
  EXPECT_EQ(extent.flushes[1].begin, 2'000u);
}

TEST(FlushKnots, stand_at_the_ends_of_flushes_and_change_no_time) {
  const ClockMap map = *ClockMap::from_knots({{0, 0}, {1'000, 100}, {1'050, 400}, {3'000, 0}});
  trace::LocationSkeleton location;
  location.first = 0;
  location.last = 3'000;
  location.flushes = {{900, 1'100}, {2'000, 2'200}};
  const ClockMap denser = with_flush_knots(map, location);
  for (const std::uint64_t stamp : {0u, 500u, 900u, 1'100u, 1'500u, 2'000u, 2'100u, 2'999u}) {
    EXPECT_NEAR(static_cast<double>(denser(stamp)), static_cast<double>(map(stamp)), 1) << stamp;
  }
  std::vector<std::uint64_t> stamps;
  for (const ClockKnot& knot : denser.knots()) stamps.push_back(knot.local);
  EXPECT_THAT(stamps, ::testing::IsSupersetOf({900u, 1'100u, 2'000u, 2'200u}));
}

}  // namespace
}  // namespace entrain::clc
