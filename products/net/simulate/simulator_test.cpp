// SPDX-License-Identifier: BSD-3-Clause
#include "net/simulate/simulator.hpp"

#include <gmock/gmock.h>

#include "base/random.hpp"
#include "net/model/generators.hpp"
#include "net/model/topology_dot.hpp"
#include "net/plan/method.hpp"
#include "net/plan/schedule_skew.hpp"

namespace entrain::net {
namespace {

struct Machine {
  Topology topology;
  Schedule schedule;
  Parameters parameters;

  explicit Machine(const char* text, Method method = Method::hss)
      : topology(generate(text, 1).value()),
        schedule(plan(topology, SpanningTree(topology), method).value()) {}

  [[nodiscard]] SimulationOptions options(LinkModel model) const {
    SimulationOptions options;
    options.model = model;
    options.guard_flits = usual_guard_flits(parameters, model, parameters.ld);
    options.interval_slots = schedule.slots;
    options.phase = parameters.slot() / 2;
    return options;
  }
  [[nodiscard]] SimulationResult run(const SimulationOptions& options) const {
    return simulate(topology, schedule, parameters, options, nullptr).value();
  }
};

Femtoseconds ns(double value) {
  return Femtoseconds(static_cast<std::int64_t>(value * static_cast<double>(k_fs_per_ns)));
}

// What the bounds leave out, each by a pair of interfaces.

/// Interface 1 of a pair, behind the other one at the end of the schedule; negative: before it.
Femtoseconds lag_of_the_fast(const Machine& machine, SimulationOptions options) {
  const SimulationResult result = machine.run(options);
  const std::vector<std::int64_t>& begin = result.boundaries.front().reached_fs;
  const std::vector<std::int64_t>& end = result.boundaries.back().reached_fs;
  const std::size_t fast = begin[0] < begin[1] ? 0 : 1;
  return Femtoseconds(end[fast] - end[1 - fast]);
}

TEST(Simulator, a_blocked_packet_ends_where_the_printed_reading_says) {
  // The buffer holds occ = ks + floor((2 ld + 2 fc) / cp) = 59 flits when the last one before STOP
  // is in, and drains to kg: 2 ld + 2 fc + sd + rd + (occ - kg - 1) sd - (occ + 1) cp = -150.48 ns.
  // With bl for occ (and without the tail's own cp) that is GAPmin with bl - kg, as printed:
  // -165.48 ns.
  const Machine machine("single:2");
  SimulationOptions options = machine.options(LinkModel::at_switch);
  for (const double skew : {260.0, 500.0, 1000.0, 3000.0, 6000.0}) {
    options.phase = ns(skew);
    EXPECT_EQ(lag_of_the_fast(machine, options), ns(-150.48)) << skew;
  }
  EXPECT_EQ(lag_range({}, 1, 1, Reading::printed).least, ns(-165.48));
}

TEST(Simulator, below_the_dead_zone_nothing_happens) {
  // The buffer takes ks - 1 flits before it says anything, so that (ks - 1) cp - rd - sd = 223 ns
  // of lead go unnoticed: more than the printed reading's bound, less than the published one's.
  const Machine machine("single:2");
  SimulationOptions options = machine.options(LinkModel::at_switch);
  for (const double skew : {0.0, 50.0, 200.0, 217.0}) {
    options.phase = ns(skew);
    const SimulationResult result = machine.run(options);
    EXPECT_EQ(result.largest_skew(2), ns(skew));
    EXPECT_EQ(result.blocked_fs, (std::vector<std::int64_t>{0, 0}));
  }
  EXPECT_LT(skew_of_sss({}, Reading::printed), ns(217));
  EXPECT_GT(skew_of_sss({}, Reading::published), ns(223));
  options.phase = ns(230);
  EXPECT_EQ(lag_of_the_fast(machine, options), ns(-150.48));
}

TEST(Simulator, on_faster_links_the_dead_zone_is_wider_than_the_bound) {
  Machine machine("single:2");
  machine.parameters.cp = ns(4.17);  // 52 x 4.17 - 102 = 114.84 ns
  SimulationOptions options = machine.options(LinkModel::at_switch);
  options.phase = ns(110);
  EXPECT_EQ(machine.run(options).largest_skew(2), ns(110));
  EXPECT_LT(skew_of_sss(machine.parameters, Reading::published), ns(105));
}

TEST(Simulator, where_buffers_drain_slowly_the_fast_one_ends_behind) {
  // At cp = 3.13 ns STOP holds longer than the fast one was ahead: 29.94 ns behind. Then the other
  // one follows it, and so on: with eight interfaces the lags of a chain add up.
  Machine machine("single:2");
  machine.parameters.cp = ns(3.13);
  SimulationOptions options = machine.options(LinkModel::at_switch);
  options.phase = ns(1000);
  EXPECT_EQ(lag_of_the_fast(machine, options), ns(29.94));
  Machine eight("single:8");
  eight.parameters.cp = ns(3.13);
  const SimulationResult result = eight.run(eight.options(LinkModel::at_switch));
  EXPECT_GT(result.largest_skew(8), skew_of_sss(eight.parameters, Reading::published));
  EXPECT_FALSE(overrun_risks(eight.topology, eight.parameters, LinkModel::at_switch).empty());
}

TEST(Simulator, on_physical_links_the_guard_decides_where_the_pair_ends) {
  // 2 (rd + ld + fc) - (guard + kg + 2) cp: buffers drain no faster than they fill, so bl and ks
  // drop out.
  Machine machine("single:2");
  SimulationOptions options = machine.options(LinkModel::at_link);
  options.phase = ns(3000);
  EXPECT_EQ(options.guard_flits, 20);
  EXPECT_EQ(lag_of_the_fast(machine, options), ns(-3.23));
  options.guard_flits = 30;
  EXPECT_EQ(lag_of_the_fast(machine, options), ns(-65.73));
  machine.parameters.rd = ns(140);
  options.guard_flits = 29;
  EXPECT_EQ(lag_of_the_fast(machine, options), ns(20.52));
  EXPECT_EQ(usual_guard_flits(machine.parameters, LinkModel::at_link, machine.parameters.ld), 33);
}

TEST(Simulator, on_physical_links_the_guard_widens_the_dead_zone) {
  // What the guard lets the buffers drain is room for more flits before STOP: (ks + guard) cp - 2
  // rd = 256.25 ns, more than the published bound.
  const Machine machine("single:2");
  SimulationOptions options = machine.options(LinkModel::at_link);
  options.phase = ns(245);
  EXPECT_EQ(machine.run(options).largest_skew(2), ns(245));
  options.phase = ns(265);
  EXPECT_LT(machine.run(options).largest_skew(2), ns(10));
}

TEST(Simulator, on_physical_links_a_packet_from_far_holds_up_who_is_at_home) {
  // A header takes rd + ld per router. Who follows it at home ends behind by that for each router
  // but the last, and by what the pair on one switch has; so do all, in every schedule.
  Machine machine("single:2");
  machine.topology = topology_from_dot("graph { a -- s -- t -- u -- b }", "chain").value();
  machine.schedule =
      plan(machine.topology, SpanningTree(machine.topology), Method::alternating).value();
  SimulationOptions options = machine.options(LinkModel::at_link);
  options.phase = ns(1000);
  options.synchronisations = 4;
  options.interval_slots = 10;
  const SimulationResult result = machine.run(options);
  const auto ends = result.at_slot(machine.schedule.slots);
  for (std::size_t i = 1; i < ends.size(); ++i)
    EXPECT_EQ(ends[i]->latest() - ends[i - 1]->latest(),
              10 * machine.parameters.slot() + ns(2 * (100 + 17) - 3.23));
  EXPECT_EQ(result.largest_skew(3), ns(230.77));
  EXPECT_LT(skew_of_schedule(machine.schedule, 2, {}, Reading::published), ns(200));
}

TEST(Simulator, a_guardless_link_is_slower_than_its_slowest_interface) {
  // Without idle flits every slot gets longer by rd less the flit in which it would have passed:
  // 95 ns in 12.5 us, 0.76 %.
  Machine machine("single:4");
  SimulationOptions options = machine.options(LinkModel::at_link);
  options.synchronisations = 50;
  const auto pace = [&](std::int64_t guard) {
    options.guard_flits = guard;
    const SimulationResult result = machine.run(options);
    return (result.boundaries.back().latest() - result.boundaries.front().latest()) /
           (50.0 * 4 * machine.parameters.slot());
  };
  EXPECT_NEAR(pace(0), 1.0076, 0.0006);
  EXPECT_NEAR(pace(20), 1.0, 0.0002);
}

TEST(Simulator, skipping_changes_nothing_but_the_events) {
  std::int64_t skipped[2] = {};  // by link model
  const char* const networks[] = {"single:2", "single:5",  "single:8", "tree:3x3",   "tree:4x3",
                                  "mesh:3x2", "torus:3x3", "tree:3x4", "mesh:4x1x2", "fat-tree:4"};
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    RandomStream random(seed, 7);
    Machine machine(networks[seed % 10], seed % 3 == 0 ? Method::joined : Method::hss);
    machine.parameters.slot_flits = static_cast<std::int64_t>(200 + random.below(400));
    machine.parameters.sd = ns(random.uniform(0.5, 6));
    machine.parameters.rd = ns(random.uniform(20, 200));
    machine.parameters.ks = static_cast<std::int64_t>(20 + random.below(40));
    machine.parameters.kg = static_cast<std::int64_t>(random.below(20));
    SimulationOptions options =
        machine.options(seed % 20 < 10 ? LinkModel::at_switch : LinkModel::at_link);
    options.guard_flits = std::min<std::int64_t>(options.guard_flits, 100);
    options.drift_ppb = static_cast<std::int64_t>(random.below(500'000));
    options.seed = seed;
    options.synchronisations = 2;
    options.interval_slots = machine.schedule.slots + 5;
    options.load = random.uniform(0, 1);
    options.every_slot = true;
    const SimulationResult with = machine.run(options);
    options.skip = false;
    const SimulationResult without = machine.run(options);
    ASSERT_EQ(with.boundaries.size(), without.boundaries.size());
    for (std::size_t i = 0; i < with.boundaries.size(); ++i)
      EXPECT_EQ(with.boundaries[i].reached_fs, without.boundaries[i].reached_fs) << seed;
    EXPECT_EQ(with.blocked_fs, without.blocked_fs);
    EXPECT_EQ(with.injected_flits, without.injected_flits);
    EXPECT_EQ(with.largest_occupancy, without.largest_occupancy);
    EXPECT_EQ(with.inversions, without.inversions);
    ASSERT_EQ(with.overruns.size(), without.overruns.size());
    for (std::size_t i = 0; i < with.overruns.size(); ++i) {
      EXPECT_EQ(with.overruns[i].flits, without.overruns[i].flits);
      EXPECT_EQ(with.overruns[i].largest, without.overruns[i].largest);
    }
    EXPECT_EQ(with.undelivered_flits(), 0);
    EXPECT_EQ(without.undelivered_flits(), 0);
    EXPECT_EQ(without.skipped_flits, 0);
    EXPECT_LE(with.events, without.events);
    skipped[seed % 20 < 10 ? 0 : 1] += with.skipped_flits;
  }
  EXPECT_GT(skipped[0], 100'000);
  EXPECT_GT(skipped[1], 100'000);
}

TEST(Simulator, is_the_same_for_the_same_seed) {
  const Machine machine("tree:4x3");
  SimulationOptions options = machine.options(LinkModel::at_switch);
  options.drift_ppb = 300'000;
  options.load = 0.5;
  options.interval_slots = 100;
  const auto run = [&](std::uint64_t seed) {
    options.seed = seed;
    return machine.run(options);
  };
  const SimulationResult first = run(3), again = run(3), other = run(4);
  EXPECT_EQ(first.boundaries.back().reached_fs, again.boundaries.back().reached_fs);
  EXPECT_EQ(first.events, again.events);
  EXPECT_NE(first.boundaries.back().reached_fs, other.boundaries.back().reached_fs);
  EXPECT_GT(first.packets, 0);
}

TEST(Simulator, rates_span_the_drift) {
  const Machine machine("single:6");
  SimulationOptions options = machine.options(LinkModel::at_switch);
  options.drift_ppb = 300'000;
  const SimulationResult result = machine.run(options);
  EXPECT_EQ(*std::min_element(result.rate_ppb.begin(), result.rate_ppb.end()), 0);
  EXPECT_EQ(*std::max_element(result.rate_ppb.begin(), result.rate_ppb.end()), 300'000);
  EXPECT_EQ(result.boundaries.front().skew(), options.phase);
}

TEST(Simulator, small_buffers_overrun_where_that_is_predicted) {
  Machine machine("single:4");
  EXPECT_TRUE(overrun_risks(machine.topology, machine.parameters, LinkModel::at_switch).empty());
  EXPECT_TRUE(machine.run(machine.options(LinkModel::at_switch)).overruns.empty());

  machine.parameters.cp = ns(3.13);  // 13 flits are on their way when STOP takes effect, room is 11
  const auto risks = overrun_risks(machine.topology, machine.parameters, LinkModel::at_switch);
  ASSERT_EQ(risks.size(), 4u);  // the links from the interfaces
  EXPECT_EQ(risks[0].room, 11);
  EXPECT_EQ(risks[0].needed, 14);
  const SimulationResult result = machine.run(machine.options(LinkModel::at_switch));
  ASSERT_FALSE(result.overruns.empty());
  EXPECT_GT(result.overruns[0].largest, 64);
  EXPECT_LE(result.overruns[0].largest, machine.parameters.ks + risks[0].needed);
  EXPECT_EQ(result.undelivered_flits(), 0);
}

TEST(Simulator, no_buffer_overruns_where_none_is_predicted) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    RandomStream random(seed, 8);
    Machine machine(seed % 2 == 0 ? "tree:3x4" : "single:6");
    machine.parameters.slot_flits = 500;
    machine.parameters.cp = ns(random.uniform(2, 12));
    machine.parameters.sd = ns(random.uniform(1, 4));
    machine.parameters.ld = ns(random.uniform(0, 40));
    SimulationOptions options =
        machine.options(seed % 4 < 2 ? LinkModel::at_switch : LinkModel::at_link);
    options.guard_flits = std::min<std::int64_t>(options.guard_flits, 400);
    options.synchronisations = 3;
    options.drift_ppb = 500'000;
    options.seed = seed;
    // As much room behind STOP as the rule asks for.
    std::int64_t needed = 1;
    machine.parameters.ks = machine.parameters.bl;
    for (const OverrunRisk& risk :
         overrun_risks(machine.topology, machine.parameters, options.model))
      needed = std::max(needed, risk.needed);
    machine.parameters.bl = machine.parameters.ks + needed;
    EXPECT_TRUE(overrun_risks(machine.topology, machine.parameters, options.model).empty());
    EXPECT_TRUE(machine.run(options).overruns.empty()) << seed;
  }
}

TEST(Simulator, a_skew_of_a_slot_inverts_the_order) {
  const Machine machine("single:3");
  SimulationOptions options = machine.options(LinkModel::at_switch);
  options.drift_ppb = 500'000;
  options.synchronisations = 2;
  options.interval_slots = 3000;  // 1.5 slots of drift
  const SimulationResult result = machine.run(options);
  ASSERT_GT(result.inversions, 0);
  EXPECT_GT(result.first_inversion->first_slot, result.first_inversion->second_slot);
  EXPECT_GE(result.first_inversion->first_slot, 3000);
  options.interval_slots = 1000;
  EXPECT_EQ(machine.run(options).inversions, 0);
}

TEST(Simulator, options_out_of_range_are_refused) {
  const Machine machine("single:3");
  const auto refusal = [&](auto change) {
    SimulationOptions options = machine.options(LinkModel::at_switch);
    change(options);
    const auto result =
        simulate(machine.topology, machine.schedule, machine.parameters, options, nullptr);
    return result ? std::string("accepted") : result.error().message;
  };
  using testing::HasSubstr;
  EXPECT_EQ(refusal([](SimulationOptions&) {}), "accepted");
  EXPECT_THAT(refusal([](SimulationOptions& o) { o.interval_slots = 2; }),
              HasSubstr("shorter than"));
  EXPECT_THAT(refusal([](SimulationOptions& o) { o.guard_flits = 1936; }), HasSubstr("idle flits"));
  EXPECT_THAT(refusal([](SimulationOptions& o) { o.synchronisations = 0; }), HasSubstr("between"));
  EXPECT_THAT(refusal([](SimulationOptions& o) { o.phase = std::chrono::milliseconds(1); }),
              HasSubstr("more than a slot"));
  EXPECT_THAT(refusal([](SimulationOptions& o) { o.interval_slots = 400'000'000; }),
              HasSubstr("an hour"));
  EXPECT_THAT(refusal([](SimulationOptions& o) { o.guard_flits = -1; }), HasSubstr("idle flits"));
  EXPECT_THAT(refusal([](SimulationOptions& o) { o.synchronisations = 1'000'001; }),
              HasSubstr("between 1 and 1000000"));
  Machine none("single:3");
  none.schedule = {};
  SimulationOptions options = machine.options(LinkModel::at_switch);
  const auto without_slots =
      simulate(none.topology, none.schedule, none.parameters, options, nullptr);
  ASSERT_FALSE(without_slots);
  EXPECT_THAT(without_slots.error().message, HasSubstr("no slots"));
  none.parameters.cp = Femtoseconds(0);
  EXPECT_FALSE(simulate(none.topology, machine.schedule, none.parameters, options, nullptr));
  const Machine large("single:16");
  options = large.options(LinkModel::at_switch);
  options.synchronisations = 1'000'000;
  options.every_slot = true;
  const auto readings =
      simulate(large.topology, large.schedule, large.parameters, options, nullptr);
  ASSERT_FALSE(readings);
  EXPECT_THAT(readings.error().message, HasSubstr("too many to keep the clocks of all"));
}

/// Notes what a run tells, and stops it after some units.
struct Watcher : Progress {
  void begin(std::string_view name, std::uint64_t units, std::string_view) override {
    phase = name;
    total = units;
  }
  void advance(std::uint64_t units) override { done += units; }
  [[nodiscard]] bool cancelled() const override { return done >= most; }
  std::string phase;
  std::uint64_t total = 0, done = 0, most = ~std::uint64_t{0};
};

TEST(Simulator, tells_how_far_it_is_and_stops_when_it_shall) {
  const Machine machine("tree:4x3");
  SimulationOptions options = machine.options(LinkModel::at_switch);
  options.load = 1;
  options.synchronisations = 3;
  options.interval_slots = 200;
  options.skip = false;
  Watcher watcher;
  ASSERT_TRUE(simulate(machine.topology, machine.schedule, machine.parameters, options, &watcher));
  EXPECT_EQ(watcher.phase, "simulate");
  EXPECT_EQ(watcher.total, machine.topology.interfaces().size() *
                               static_cast<std::uint64_t>(2 * 200 + machine.schedule.slots + 1));
  EXPECT_LE(watcher.done, watcher.total);
  EXPECT_GT(watcher.done, watcher.total * 9 / 10);
  Watcher stops;
  stops.most = watcher.total / 2;
  const auto stopped =
      simulate(machine.topology, machine.schedule, machine.parameters, options, &stops);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().kind, ErrorKind::interrupted);
  EXPECT_LT(stops.done, watcher.done);
}

}  // namespace
}  // namespace entrain::net
