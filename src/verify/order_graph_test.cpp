// SPDX-License-Identifier: BSD-3-Clause
#include "verify/order_graph.hpp"

#include <gtest/gtest.h>

#include "verify/testing.hpp"

namespace entrain::verify {
namespace {

using testing::TraceBuilder;

/// A trace with this many events per location.
trace::Trace with_events(const std::vector<std::uint32_t>& counts) {
  TraceBuilder b(static_cast<std::uint32_t>(counts.size()));
  for (LocationIndex l = 0; l < counts.size(); ++l) {
    for (std::uint32_t e = 0; e < counts[l]; ++e) b.add(l, e, trace::EventKind::send);
  }
  return b.trace();
}

Places places_of(const trace::Trace& trace) {
  Solo solo;
  const trace::Partition all = trace::undivided(trace.definitions);
  return *Places::agree({solo, all, trace});
}

using Components = std::vector<std::pair<EventRef, std::uint32_t>>;

Components components_of(OrderGraph& graph, std::uint32_t next = 0) {
  Components found;
  graph.for_each_component(next, [&](EventRef instant, std::uint32_t component) {
    found.emplace_back(instant, component);
  });
  return found;
}

TEST(InstantNumbers, few_and_many_get_the_same_numbers) {
  for (const std::uint32_t events : {10U, 4000U}) {
    const trace::Trace trace = with_events({events, 0, events});
    const Places places = places_of(trace);
    InstantNumbers numbers(places);
    std::vector<EventRef> added;
    for (const LocationIndex l : {0U, 2U}) {
      for (std::uint32_t e = 1; e < events; e += 2) added.push_back({l, e});
    }
    numbers.assign(2 * added.size(), [&](const auto& add) {
      for (auto instant = added.rbegin(); instant != added.rend(); ++instant) {
        add(*instant);
        add(*instant);  // twice
      }
    });
    ASSERT_EQ(numbers.count(), added.size());
    std::uint32_t next = 0;
    numbers.for_each([&](std::uint32_t number, EventRef instant) {
      ASSERT_EQ(number, next);
      ASSERT_EQ(instant, added[next]);
      ASSERT_EQ(numbers[instant], number);
      ++next;
    });
    EXPECT_EQ(next, added.size());
  }
}

TEST(InstantNumbers, nothing_is_left_of_those_before) {
  const trace::Trace trace = with_events({4000, 4000, 4000});
  const Places places = places_of(trace);
  InstantNumbers numbers(places);
  const auto assign = [&](std::vector<LocationIndex> locations, std::uint32_t first) {
    numbers.assign(100 * locations.size(), [&](const auto& add) {
      for (const LocationIndex l : locations) {
        for (std::uint32_t e = 0; e < 100; ++e) add(EventRef{l, first + 7 * e});
      }
    });
  };
  assign({0, 1}, 3000);
  assign({2, 1}, 50);
  ASSERT_EQ(numbers.count(), 200u);
  EXPECT_EQ((numbers[{1, 50}]), 0u);
  EXPECT_EQ((numbers[{1, 57}]), 1u);
  EXPECT_EQ((numbers[{2, 50}]), 100u);
  EXPECT_EQ((numbers[{2, 743}]), 199u);
  assign({0}, 0);
  EXPECT_EQ(numbers.count(), 100u);
  EXPECT_EQ((numbers[{0, 693}]), 99u);
}

TEST(OrderGraph, edges_and_local_order_close_a_cycle) {
  const trace::Trace trace = with_events({3, 3});
  const Places places = places_of(trace);
  OrderGraph graph(places);
  // Location 0 waits at its first instant for the last of location 1, and the other way round.
  const std::vector<ClusterEdge> edges{{0, {1, 2}, {0, 0}}, {0, {0, 1}, {1, 1}}};
  graph.begin(edges);
  EXPECT_EQ(components_of(graph, 5),
            (Components{{{0, 0}, 5}, {{0, 1}, 5}, {{1, 1}, 5}, {{1, 2}, 5}}));
}

TEST(OrderGraph, no_cycle_without_a_way_back) {
  const trace::Trace trace = with_events({3, 3});
  const Places places = places_of(trace);
  OrderGraph graph(places);
  graph.begin({});
  EXPECT_EQ(components_of(graph), Components{});
  const std::vector<ClusterEdge> crossing{{0, {0, 0}, {1, 1}}, {0, {1, 0}, {0, 1}}};
  graph.begin(crossing);
  EXPECT_EQ(components_of(graph), Components{});
}

TEST(OrderGraph, two_cycles_are_two_components_and_what_follows_is_in_none) {
  const trace::Trace trace = with_events({5, 5});
  const Places places = places_of(trace);
  OrderGraph graph(places);
  std::vector<ClusterEdge> edges;
  for (const std::uint32_t e : {0U, 2U}) {
    edges.push_back({0, {0, e}, {1, e}});
    edges.push_back({0, {1, e}, {0, e}});
  }
  edges.push_back({0, {0, 4}, {1, 4}});  // after both
  graph.begin(edges);
  const Components found = components_of(graph);
  ASSERT_EQ(found.size(), 4);
  EXPECT_EQ(found[0].first, (EventRef{0, 0}));
  EXPECT_EQ(found[0].second, found[2].second);
  EXPECT_EQ(found[1].first, (EventRef{0, 2}));
  EXPECT_EQ(found[1].second, found[3].second);
  EXPECT_NE(found[0].second, found[1].second);
}

TEST(OrderGraph, vertices_of_instances_carry_order_but_are_no_instants) {
  const trace::Trace trace = with_events({2, 2});
  const Places places = places_of(trace);
  OrderGraph graph(places);
  graph.begin({});
  const std::uint32_t hub = graph.add_vertex();  // a barrier at one instant of each location
  for (const LocationIndex l : {0U, 1U}) {
    graph.add_entry({l, 0}, hub);
    graph.add_exit(hub, {l, 0});
  }
  EXPECT_EQ(components_of(graph), (Components{{{0, 0}, 0}, {{1, 0}, 0}}));
  graph.begin({});
  const std::uint32_t alone = graph.add_vertex();
  graph.add_entry({0, 0}, alone);
  graph.add_exit(alone, {0, 0});
  EXPECT_EQ(components_of(graph), Components{});  // a single instant is no cycle
}

TEST(OrderGraph, a_chain_orders_by_its_links) {
  const trace::Trace trace = with_events({2, 2});
  const Places places = places_of(trace);
  OrderGraph graph(places);
  graph.begin({});
  const std::uint32_t first = graph.add_vertex(), second = graph.add_vertex();
  graph.add_entry({0, 0}, first);
  graph.add_link(first, second);
  graph.add_exit(second, {1, 0});
  EXPECT_EQ(components_of(graph), Components{});
  const std::vector<ClusterEdge> back{{0, {1, 0}, {0, 0}}};
  graph.begin(back);
  const std::uint32_t a = graph.add_vertex(), b = graph.add_vertex();
  graph.add_entry({0, 0}, a);
  graph.add_link(a, b);
  graph.add_exit(b, {1, 0});
  EXPECT_EQ(components_of(graph), (Components{{{0, 0}, 0}, {{1, 0}, 0}}));
}

}  // namespace
}  // namespace entrain::verify
