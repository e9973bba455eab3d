// SPDX-License-Identifier: BSD-3-Clause
#include "net/simulator.hpp"

#include <gmock/gmock.h>

#include "base/random.hpp"
#include "net/generators.hpp"

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
    options.guard_flits = usual_guard_flits(parameters, model);
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

/// Two interfaces on a switch, `skew` apart; what is left of it after one schedule.
SimulationResult pair_after(Femtoseconds skew, LinkModel model = LinkModel::at_switch) {
  const Machine machine("single:2");
  SimulationOptions options = machine.options(model);
  options.phase = skew;
  return machine.run(options);
}

TEST(Simulator, TheFastOneOfAPairIsHeldBackUntilItIsALittleSlow) {
  // STOP at 53 flits, then 100 ns of routing and the drain of the buffer: the pair ends 150 ns
  // apart, whatever the skew was.
  for (const double skew : {260.0, 500.0, 1000.0, 3000.0, 6000.0}) {
    const SimulationResult result = pair_after(ns(skew));
    EXPECT_NEAR(ns_of(result.largest_skew(2)), 150, 6.25) << skew;
    EXPECT_EQ(result.inversions, 0);
  }
}

TEST(Simulator, BelowTheDeadZoneNothingHappens) {
  // The buffer takes ks - 1 flits before it says anything: (ks - 1) cp - rd - sd = 223 ns.
  for (const double skew : {0.0, 50.0, 200.0, 217.0}) {
    const SimulationResult result = pair_after(ns(skew));
    EXPECT_EQ(result.largest_skew(2), ns(skew));
    EXPECT_EQ(result.blocked_fs, (std::vector<std::int64_t>{0, 0}));
  }
  EXPECT_LT(pair_after(ns(230)).largest_skew(2), ns(160));
}

TEST(Simulator, AGuardlessLinkIsSlowerThanItsSlowestInterface) {
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

TEST(Simulator, SkippingChangesNothingButTheEvents) {
  std::int64_t skipped = 0;
  const char* const networks[] = {"single:2",  "single:5",  "single:8", "tree:3x3", "tree:4x3",
                                  "mesh:3x2",  "torus:3x3", "tree:3x4", "mesh:4x1x2",
                                  "fat-tree:4"};
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    RandomStream random(seed, 7);
    Machine machine(networks[seed % 10], seed % 3 == 0 ? Method::joined : Method::hss);
    machine.parameters.slot_flits = static_cast<std::int64_t>(200 + random.below(400));
    machine.parameters.sd = ns(random.uniform(0.5, 6));
    machine.parameters.rd = ns(random.uniform(20, 200));
    machine.parameters.ks = static_cast<std::int64_t>(20 + random.below(40));
    machine.parameters.kg = static_cast<std::int64_t>(random.below(20));
    SimulationOptions options =
        machine.options(seed % 2 == 0 ? LinkModel::at_switch : LinkModel::at_link);
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
    EXPECT_EQ(with.overruns.size(), without.overruns.size());
    EXPECT_EQ(with.lost_flits(), 0);
    EXPECT_EQ(without.lost_flits(), 0);
    EXPECT_EQ(without.skipped_flits, 0);
    EXPECT_LE(with.events, without.events);
    skipped += with.skipped_flits;
  }
  EXPECT_GT(skipped, 100'000);
}

TEST(Simulator, IsTheSameForTheSameSeed) {
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

TEST(Simulator, RatesSpanTheDrift) {
  const Machine machine("single:6");
  SimulationOptions options = machine.options(LinkModel::at_switch);
  options.drift_ppb = 300'000;
  const SimulationResult result = machine.run(options);
  EXPECT_EQ(*std::min_element(result.rate_ppb.begin(), result.rate_ppb.end()), 0);
  EXPECT_EQ(*std::max_element(result.rate_ppb.begin(), result.rate_ppb.end()), 300'000);
  EXPECT_EQ(result.boundaries.front().skew(), options.phase);
}

TEST(Simulator, SmallBuffersOverrunWhereThatIsPredicted) {
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
  EXPECT_EQ(result.lost_flits(), 0);
}

TEST(Simulator, NoBufferOverrunsWhereNoneIsPredicted) {
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
    for (const OverrunRisk& risk : overrun_risks(machine.topology, machine.parameters, options.model))
      needed = std::max(needed, risk.needed);
    machine.parameters.bl = machine.parameters.ks + needed;
    EXPECT_TRUE(overrun_risks(machine.topology, machine.parameters, options.model).empty());
    EXPECT_TRUE(machine.run(options).overruns.empty()) << seed;
  }
}

TEST(Simulator, ASkewOfASlotInvertsTheOrder) {
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

TEST(Simulator, OptionsOutOfRangeAreRefused) {
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
  EXPECT_THAT(refusal([](SimulationOptions& o) { o.interval_slots = 2; }), HasSubstr("shorter than"));
  EXPECT_THAT(refusal([](SimulationOptions& o) { o.guard_flits = 1936; }), HasSubstr("idle flits"));
  EXPECT_THAT(refusal([](SimulationOptions& o) { o.synchronisations = 0; }), HasSubstr("between"));
  EXPECT_THAT(refusal([](SimulationOptions& o) { o.phase = std::chrono::milliseconds(1); }),
              HasSubstr("more than a slot"));
  EXPECT_THAT(refusal([](SimulationOptions& o) { o.interval_slots = 400'000'000; }),
              HasSubstr("an hour"));
}

}  // namespace
}  // namespace entrain::net
