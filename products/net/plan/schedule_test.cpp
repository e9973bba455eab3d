// SPDX-License-Identifier: BSD-3-Clause

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "net/model/generators.hpp"
#include "net/model/topology_dot.hpp"
#include "net/plan/method.hpp"
#include "net/plan/schedule.hpp"
#include "net/plan/schedule_skew.hpp"
#include "net/plan/verifier.hpp"

namespace entrain::net {
namespace {

Schedule planned(const Topology& topology, Method method) {
  return plan(topology, SpanningTree(topology), method).value();
}

constexpr std::array k_tree_methods{Method::hss, Method::joined, Method::alternating,
                                    Method::doubling};

/// Random topologies of very different shapes.
Topology random_topology(std::uint64_t seed) {
  RandomStream random(seed, 99);
  const auto switches = static_cast<std::int64_t>(1 + random.below(30));
  const auto ports = static_cast<std::int64_t>(3 + random.below(10));
  const std::int64_t room = switches * ports - 2 * (switches - 1);
  const auto interfaces =
      static_cast<std::int64_t>(2 + random.below(static_cast<std::uint64_t>(room - 1)));
  return random_graph(interfaces, switches, ports, seed).value();
}

void expect_holds(const Topology& topology, Method method, const std::string& what) {
  const Verification verification = verify(topology, planned(topology, method));
  EXPECT_TRUE(verification.holds())
      << what << ", " << name_of(method) << ": " << verification.sentence();
}

TEST(Schedule, every_pair_of_a_building_block_precedes_directly) {
  for (std::int64_t n = 2; n <= 32; ++n) {
    std::vector<std::vector<bool>> direct(n, std::vector<bool>(n, false));
    for (std::int64_t t = 0; t + 1 < n; ++t) {
      for (std::int64_t s = 0; s < n; ++s) {
        for (std::int64_t f = 0; f < n; ++f) {
          if (bbp_destination(s, t, n) == bbp_destination(f, t + 1, n)) direct[s][f] = true;
        }
      }
    }
    for (std::int64_t s = 0; s < n; ++s) {
      for (std::int64_t f = 0; f < n; ++f) EXPECT_TRUE(s == f || direct[s][f]) << n;
    }
  }
}

TEST(Schedule, sss_holds_from2_to64_interfaces) {
  for (std::int64_t n = 2; n <= 64; ++n) {
    const Topology topology = single_switch(n).value();
    for (const Method method : k_methods) expect_holds(topology, method, std::to_string(n));
    EXPECT_EQ(planned(topology, Method::sss).slots, n);
    EXPECT_EQ(planned(topology, Method::hss).slots, n);
    EXPECT_EQ(planned(topology, Method::joined).slots, n);
  }
}

TEST(Schedule, all_methods_hold_in_all_full_trees_up_to1000_hosts) {
  int trees = 0;
  for (std::int64_t levels = 2; levels <= 10; ++levels) {
    for (std::int64_t ports = levels == 2 ? 2 : 3; ports <= 64; ++ports) {
      std::int64_t hosts = ports;
      for (std::int64_t i = 2; i < levels && hosts <= 1000; ++i) hosts *= ports - 1;
      if (hosts > 1000) break;
      const Topology topology = full_tree(ports, levels).value();
      ASSERT_EQ(static_cast<std::int64_t>(topology.interfaces().size()), hosts);
      for (const Method method : k_tree_methods)
        expect_holds(topology, method, std::to_string(ports) + "x" + std::to_string(levels));
      EXPECT_EQ(planned(topology, Method::hss).slots, full_tree_slots(ports, levels));
      EXPECT_LE(planned(topology, Method::joined).slots, full_tree_slots(ports, levels));
      ++trees;
    }
  }
  EXPECT_GT(trees, 100);
}

TEST(Schedule, all_methods_hold_in_random_graphs) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Topology topology = random_topology(seed);
    for (const Method method : k_tree_methods)
      expect_holds(topology, method, "seed " + std::to_string(seed));
    EXPECT_LE(planned(topology, Method::joined).slots, planned(topology, Method::hss).slots);
  }
}

TEST(Schedule, all_methods_hold_in_regular_networks) {
  for (const char* text : {"fat-tree:4", "fat-tree:8", "mesh:4x3", "mesh:1x9", "torus:4x4",
                           "torus:3x5x3", "mesh:7x7x2"}) {
    const Topology topology = generate(text, 1).value();
    for (const Method method : k_tree_methods) expect_holds(topology, method, text);
  }
}

TEST(Schedule, slots_of_the_tree_of392_hosts) {
  const Topology topology = full_tree(8, 4).value();
  EXPECT_EQ(topology.interfaces().size(), 392u);
  EXPECT_EQ(planned(topology, Method::hss).slots, 36);
  // Four steps begin in the last slot of the one before; after the root's (an even number of
  // leaders) half a turn is missing, so one does not.
  EXPECT_EQ(planned(topology, Method::joined).slots, 33);
  EXPECT_EQ(planned(topology, Method::doubling).slots, 17);
  EXPECT_EQ(planned(topology, Method::alternating).slots, 63);
}

TEST(Schedule, skew_of_a_single_switch_is_that_of_equation8) {
  const Topology topology = single_switch(8).value();
  for (const Reading reading : {Reading::published, Reading::printed}) {
    EXPECT_EQ(skew_of_schedule(planned(topology, Method::sss), 8, {}, reading),
              skew_of_sss({}, reading));
    EXPECT_EQ(skew_of_schedule(planned(topology, Method::doubling), 8, {}, reading),
              3 * skew_of_sss({}, reading));
  }
}

TEST(Schedule, skew_of_a_tree_is_at_most_that_of_equation10) {
  for (std::int64_t levels = 2; levels <= 4; ++levels) {
    const Topology topology = full_tree(4, levels).value();
    const std::size_t n = topology.interfaces().size();
    for (const Reading reading : {Reading::published, Reading::printed}) {
      const Femtoseconds bound = skew_of_hss({}, levels, reading);
      EXPECT_EQ(skew_of_schedule(planned(topology, Method::hss), n, {}, reading), bound);
      EXPECT_LE(skew_of_schedule(planned(topology, Method::joined), n, {}, reading), bound);
    }
  }
}

TEST(Schedule, links_of_one_length_give_the_published_value) {
  for (const char* text : {"single:5", "tree:4x3", "mesh:3x2"}) {
    const Topology base = generate(text, 1).value();
    for (const std::int64_t delay_ns : {17, 60}) {
      Parameters parameters;
      parameters.ld = std::chrono::nanoseconds(delay_ns);
      std::vector<Link> links(base.links().begin(), base.links().end());
      for (Link& link : links) link.delay = parameters.ld;
      const Topology topology =
          Topology::make({base.nodes().begin(), base.nodes().end()}, links).value();
      const Schedule schedule = planned(topology, Method::joined);
      for (const Reading reading : {Reading::published, Reading::printed}) {
        EXPECT_EQ(skew_of_schedule(schedule, topology, {}, {.reading = reading}),
                  skew_of_schedule(schedule, topology.interfaces().size(), parameters, reading));
      }
    }
  }
}

TEST(Schedule, a_group_of_one_takes_no_slot) {
  // s1 has one interface, s2 one: only their leaders have anything to tell each other.
  const Topology topology =
      topology_from_dot("graph { n0 -- s1; n1 -- s2; s1 -- r; r -- s2 }", "t").value();
  const Schedule schedule = planned(topology, Method::hss);
  EXPECT_TRUE(verify(topology, schedule).holds());
  EXPECT_EQ(schedule.slots, 2);
  EXPECT_EQ(schedule.messages.size(), 4u);
}

/// Equations (6) and (7) as they are written: shortest chains from every interface.
Femtoseconds plain_skew(const Schedule& schedule, std::size_t n, Reading reading) {
  Femtoseconds largest(0);
  for (InterfaceIndex source = 0; source < n; ++source) {
    std::vector<Femtoseconds> best(n, Femtoseconds::max());
    best[source] = Femtoseconds(0);
    for (std::int64_t slot = 1; slot < schedule.slots; ++slot) {
      const std::vector<Femtoseconds> before = best;
      for (const Message& fast : schedule.messages) {
        for (const Message& slow : schedule.messages) {
          if (fast.slot != slot || slow.slot != slot - 1 || slow.destination != fast.destination ||
              before[slow.source] == Femtoseconds::max())
            continue;
          const Femtoseconds skew =
              slow.source == fast.source
                  ? Femtoseconds(0)
                  : skew_of_pair({}, schedule.hops(slow), schedule.hops(fast), reading);
          best[fast.source] = std::min(best[fast.source], before[slow.source] + skew);
        }
      }
    }
    largest = std::max(largest, *std::max_element(best.begin(), best.end()));
  }
  return largest;
}

TEST(Schedule, skew_is_that_of_the_plain_search) {
  std::vector<Topology> topologies;
  for (std::uint64_t seed = 0; topologies.size() < 25; ++seed) {
    Topology topology = random_topology(seed);
    if (topology.interfaces().size() <= 24) topologies.push_back(std::move(topology));
  }
  for (const char* text : {"tree:3x4", "mesh:3x3x2", "fat-tree:4", "single:9"})
    topologies.push_back(generate(text, 1).value());
  for (const Topology& topology : topologies) {
    const std::size_t n = topology.interfaces().size();
    for (const Method method : k_tree_methods) {
      Schedule schedule = planned(topology, method);
      EXPECT_EQ(skew_of_schedule(schedule, n, {}, Reading::published),
                plain_skew(schedule, n, Reading::published))
          << topology.nodes().size() << " nodes, " << name_of(method);
      // Without some of its messages it may lose pairs, or go longer ways.
      std::erase_if(schedule.messages,
                    [](const Message& m) { return (m.slot * 31 + m.source * 17) % 23 == 0; });
      EXPECT_EQ(skew_of_schedule(schedule, n, {}, Reading::printed),
                plain_skew(schedule, n, Reading::printed));
    }
  }
}

TEST(Schedule, a_search_that_is_cancelled_ends) {
  struct Stopped : Progress {
    void begin(std::string_view, std::uint64_t, std::string_view) override {}
    void advance(std::uint64_t units) override { advanced += units; }
    [[nodiscard]] bool cancelled() const override { return advanced >= 10; }
    std::uint64_t advanced = 0;
  };
  const Topology topology = full_tree(4, 4).value();
  Stopped stopped;
  skew_of_schedule(planned(topology, Method::hss), topology.interfaces().size(), {},
                   Reading::published, &stopped);
  EXPECT_EQ(stopped.advanced, 10u);
}

TEST(Schedule, alternating_home_keeps_the_fast_near_the_contested_link) {
  // Equation (5) weighs the routers behind the fast one (p2) with a whole buffer each, those behind
  // the slow one (p1) with a delay: a step at level i counts (2 i - 1, 1) instead of (1, 2 i - 1).
  const Topology topology = full_tree(8, 4).value();
  const Schedule schedule = planned(topology, Method::alternating);
  const auto pair = [](std::int64_t p1) { return skew_of_pair({}, p1, 1, Reading::published); };
  EXPECT_EQ(skew_of_schedule(schedule, 392, {}, Reading::published),
            pair(5) + 2 * (pair(3) + pair(1)));
  EXPECT_LT(skew_of_schedule(schedule, 392, {}, Reading::published) * 3,
            skew_of_hss({}, 4, Reading::published));
}

TEST(Schedule, leaders_are_nearest_by_links) {
  // Under b, n0 hangs one switch deeper than n1.
  const Topology topology =
      topology_from_dot("graph { n0 -- a -- b; n1 -- b; b -- r; n2 -- c -- d -- r; n3 -- r }", "t")
          .value();
  const Schedule schedule = planned(topology, Method::joined);
  const Schedule by_index = planned(topology, Method::hss);
  EXPECT_TRUE(verify(topology, schedule).holds());
  const auto longest = [](const Schedule& any) {
    std::int64_t hops = 0;
    for (const Message& message : any.messages) hops = std::max(hops, any.hops(message));
    return hops;
  };
  EXPECT_EQ(longest(schedule), 4);
  EXPECT_EQ(longest(by_index), 5);
  EXPECT_LT(skew_of_schedule(schedule, 4, {}, Reading::published),
            skew_of_schedule(by_index, 4, {}, Reading::published));
}

TEST(Schedule, leaders_are_nearest_in_time) {
  const Topology topology =
      topology_from_dot(
          "graph { n0 -- a [delay=\"90ns\"]; n1 -- a [delay=\"5ns\"]; a -- r; "
          "n2 -- r; n3 -- r }",
          "t")
          .value();
  const Schedule schedule = planned(topology, Method::joined);
  EXPECT_TRUE(verify(topology, schedule).holds());
  for (const Message& message : schedule.messages) {
    EXPECT_TRUE(message.source != 0 || schedule.hops(message) == 1);
  }
}

TEST(Schedule, too_large_patterns_are_refused) {
  const Topology topology = generate("tree:18x4", 1).value();
  EXPECT_FALSE(plan(topology, SpanningTree(topology), Method::sss));
}

}  // namespace
}  // namespace entrain::net
