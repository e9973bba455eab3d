// SPDX-License-Identifier: BSD-3-Clause
//
// The model against the machine: simulated skew beside the bounds. bench/net_cases.cpp does the
// same for all cases of the paper with more seeds.
#include "net/simulate/simulation_report.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "net/model/generators.hpp"
#include "net/model/topology_dot.hpp"
#include "net/plan/method.hpp"
#include "net/plan/schedule_skew.hpp"

namespace entrain::net {
namespace {

constexpr std::int64_t k_ppm = 1000;

struct Setting {
  Topology topology;
  SpanningTree tree;
  Schedule schedule;
  Parameters parameters;
  SimulationOptions options;
  MethodRow row;
  BothReadings bound{};

  Setting(const char* text, LinkModel model, std::int64_t drift_ppb,
          const std::map<std::string, std::string>& values = {}, Method method = Method::hss)
      : topology(generate(text, 1).value()),
        tree(topology),
        schedule(plan(topology, tree, method).value()),
        parameters(with_values({}, values).value()) {
    row = evaluate_method({topology, tree, schedule, parameters}, method, {}, drift_ppb, nullptr)
              .value();
    bound = row.skew;
    options.model = model;
    options.guard_flits = usual_guard_flits(parameters, model, parameters.ld);
    options.drift_ppb = drift_ppb;
    options.phase = parameters.slot() / 2;
    options.synchronisations = 3;
    options.interval_slots = row.drift.interval_slots[0];
  }

  [[nodiscard]] PlannedNetwork network() const { return {topology, tree, schedule, parameters}; }

  [[nodiscard]] SimulationReport run() const {
    return evaluate_simulation("", {topology, tree, schedule, parameters}, row, options, nullptr)
        .value();
  }
};

/// All but the cases that are exceptions (simulator_test.cpp says why): the skew is within the
/// bound and the drift during the schedule, the order is kept, and nobody falls behind the slowest
/// by more than the bound.
void expect_within_bounds(const char* topology, LinkModel model,
                          const std::map<std::string, std::string>& values) {
  for (const std::int64_t drift_ppm : {100, 500}) {
    Setting setting(topology, model, drift_ppm * k_ppm, values);
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      setting.options.seed = seed;
      const SimulationReport report = setting.run();
      EXPECT_LE(report.skew_after, setting.bound[0] + report.drift_allowance)
          << topology << ", " << name_of(model) << ", " << drift_ppm << " ppm, seed " << seed;
      EXPECT_LT(report.skew_before, setting.parameters.slot() / 2);
      EXPECT_LE(*report.lag_per_schedule, setting.bound[0]);
      EXPECT_TRUE(report.synchronised());
      EXPECT_EQ(report.result.undelivered_flits(), 0);
    }
  }
}

TEST(Evaluation, skew_of_one_switch_is_within_the_bound_and_the_drift_of_the_schedule) {
  for (const char* topology : {"single:4", "single:8", "single:16"}) {
    expect_within_bounds(topology, LinkModel::at_switch, {});
    expect_within_bounds(topology, LinkModel::at_link, {});
  }
  for (const char* rd : {"50ns", "90ns", "140ns"})
    expect_within_bounds("single:8", LinkModel::at_switch, {{"rd", rd}});
  for (const char* bl : {"128", "256"}) {
    expect_within_bounds("single:8", LinkModel::at_switch, {{"bl", bl}});
    expect_within_bounds("single:8", LinkModel::at_link, {{"bl", bl}});
  }
  expect_within_bounds("single:8", LinkModel::at_switch, {{"cp", "12.5ns"}});
  expect_within_bounds("single:8", LinkModel::at_link, {{"cp", "12.5ns"}});
}

TEST(Evaluation, skew_of_trees_is_within_the_bound) {
  expect_within_bounds("tree:4x3", LinkModel::at_switch, {});
  expect_within_bounds("tree:4x3", LinkModel::at_link, {});
  expect_within_bounds("tree:4x4", LinkModel::at_switch, {});
  expect_within_bounds("tree:4x3", LinkModel::at_switch, {{"cp", "4.17ns"}});
}

/// Delays of all links at random, up to `most`.
Topology with_random_delays(const Topology& base, Femtoseconds most, std::uint64_t seed) {
  RandomStream random(seed, 5);
  std::vector<Link> links(base.links().begin(), base.links().end());
  for (Link& link : links)
    link.delay = Femtoseconds(
        static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(most.count()) + 1)));
  return Topology::make({base.nodes().begin(), base.nodes().end()}, std::move(links)).value();
}

/// Runs whatever the buffers can take; the simulation keeps what overruns.
void expect_within_bounds(const Topology& topology, Method method, LinkModel model,
                          const Parameters& parameters, std::uint64_t seed) {
  const SpanningTree tree(topology);
  const Schedule schedule = plan(topology, tree, method).value();
  SimulationOptions options;
  options.model = model;
  options.guard_flits =
      usual_guard_flits(parameters, model, link_delays(topology, parameters).most);
  options.drift_ppb = 300 * k_ppm;
  options.phase = parameters.slot() / 4;
  options.synchronisations = 4;
  options.seed = seed;
  const MethodRow row = evaluate_method({topology, tree, schedule, parameters}, method,
                                        {model, options.guard_flits}, options.drift_ppb, nullptr)
                            .value();
  options.interval_slots = row.drift.interval_slots[0];
  ASSERT_GT(options.interval_slots, 0) << ns_of(row.skew[0]);
  const SimulationReport report =
      evaluate_simulation("", {topology, tree, schedule, parameters}, row, options, nullptr)
          .value();
  EXPECT_TRUE(report.synchronised());
  EXPECT_LE(report.skew_after, row.skew[0] + report.drift_allowance)
      << name_of(method) << ", " << name_of(model) << ", seed " << seed;
  EXPECT_LE(report.skew_before, parameters.slot() / 2);
}

TEST(Evaluation, skew_is_within_the_bound_where_links_have_delays_of_their_own) {
  // Where half a slot has room for the bound: 100 us.
  const Parameters long_slots = with_values({}, {{"slot-flits", "32000"}}).value();
  for (const char* text : {"single:2", "single:8", "tree:3x3", "tree:4x3", "random:8x4x5"}) {
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      const Topology topology =
          with_random_delays(generate(text, seed).value(), std::chrono::microseconds(3), seed);
      for (const Method method :
           {Method::hss, Method::joined, Method::alternating, Method::doubling}) {
        for (const LinkModel model : {LinkModel::at_switch, LinkModel::at_link})
          expect_within_bounds(topology, method, model, long_slots, seed);
      }
    }
  }
}

TEST(Evaluation, skew_is_within_the_bound_of_short_links_of_different_lengths) {
  // With the slots of the paper.
  for (const char* text : {"single:8", "tree:3x3"}) {
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      const Topology topology =
          with_random_delays(generate(text, seed).value(), std::chrono::nanoseconds(300), seed);
      for (const LinkModel model : {LinkModel::at_switch, LinkModel::at_link})
        expect_within_bounds(topology, Method::joined, model, {}, seed);
    }
  }
}

TEST(Evaluation, long_cables_are_in_the_bound) {
  // Both cables of 900 us: 72 slots until a flit is there. Nothing can be promised.
  const Topology even =
      topology_from_dot("graph { edge [delay=\"900us\"]; a -- s; b -- s }", "t").value();
  const Topology odd =
      topology_from_dot("graph { a -- s [delay=\"900us\"]; b -- s; c -- s }", "t").value();
  for (const Topology& topology : {even, odd}) {
    const SpanningTree tree(topology);
    const Schedule schedule = plan(topology, tree, Method::sss).value();
    const MethodRow row =
        evaluate_method({topology, tree, schedule, {}}, Method::sss, {}, 300 * k_ppm, nullptr)
            .value();
    EXPECT_GT(row.skew[0], std::chrono::microseconds(800));
    EXPECT_EQ(row.drift.interval_slots[0], 0);
  }
}

TEST(Evaluation, own_methods_synchronise_too) {
  for (const Method method : {Method::joined, Method::alternating, Method::doubling}) {
    for (const LinkModel model : {LinkModel::at_switch, LinkModel::at_link}) {
      Setting setting("tree:4x3", model, 300 * k_ppm, {}, method);
      const SimulationReport report = setting.run();
      EXPECT_LE(report.skew_after, setting.bound[0] + report.drift_allowance) << name_of(method);
      EXPECT_TRUE(report.synchronised());
    }
  }
}

TEST(Evaluation, skew_stays_below_half_a_slot_over100_intervals) {
  for (const char* topology : {"single:4", "single:8", "single:16", "tree:4x3", "tree:4x4"}) {
    for (const LinkModel model : {LinkModel::at_switch, LinkModel::at_link}) {
      Setting setting(topology, model, 300 * k_ppm);
      setting.options.synchronisations = 100;
      const SimulationReport report = setting.run();
      EXPECT_LT(report.skew_before, setting.parameters.slot() / 2) << topology;
      EXPECT_LE(*report.lag_per_schedule, setting.bound[0]) << topology;
      EXPECT_TRUE(report.synchronised());
    }
  }
}

TEST(Evaluation, where_the_bound_is_too_small_so_is_the_room_that_equation11_leaves) {
  // The clocks drift for half a slot less the bound; with what is left after the schedule they are
  // more than half a slot apart. The order of the slots has room for that.
  for (const auto& [model, name, value] : {std::tuple{LinkModel::at_link, "rd", "140ns"},
                                           {LinkModel::at_link, "cp", "4.17ns"},
                                           {LinkModel::at_link, "cp", "3.13ns"}}) {
    Setting setting("single:8", model, 500 * k_ppm, {{name, value}});
    setting.options.synchronisations = 20;
    Femtoseconds before(0), after(0);
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      setting.options.seed = seed;
      const SimulationReport report = setting.run();
      before = std::max(before, report.skew_before);
      after = std::max(after, report.skew_after);
      EXPECT_TRUE(report.synchronised());
    }
    const Femtoseconds half = setting.parameters.slot() / 2;
    EXPECT_GT(before, half) << value;
    EXPECT_LE(before, half + after - setting.bound[0]) << value;
  }
}

TEST(Evaluation, the_physical_links_of392_interfaces_take_no_time) {
  Setting setting("tree:8x4", LinkModel::at_link, 300 * k_ppm);
  setting.options.synchronisations = 2;
  const SimulationReport report = setting.run();
  EXPECT_TRUE(report.synchronised());
  EXPECT_EQ(report.result.undelivered_flits(), 0);
  EXPECT_LE(report.skew_after, setting.bound[0]);
  // Nearly all is skipped: what is left are the headers' and the tails' ways.
  EXPECT_LT(report.result.events, report.result.injected_flits / 10);
}

TEST(Evaluation, between_the_schedules_the_clocks_drift_apart) {
  Setting setting("single:8", LinkModel::at_switch, 300 * k_ppm);
  const SimulationReport report = setting.run();
  EXPECT_GT(report.skew_before, 20 * report.skew_after);
}

TEST(Evaluation, the_interval_can_be_stretched_until_synchrony_is_lost) {
  Setting setting("single:4", LinkModel::at_switch, 300 * k_ppm);
  const std::int64_t by_equation = setting.options.interval_slots;
  const Limit limit = find_limit(setting.network(), setting.options, by_equation, nullptr).value();
  // Half a slot is what equation (11) asks for, a whole one is what the machine needs.
  EXPECT_GT(limit.margin().value(), 1.5);
  EXPECT_LT(limit.margin().value(), 2.5);
  setting.options.interval_slots = limit.interval_slots * 11 / 10;
  EXPECT_FALSE(setting.run().synchronised());
}

TEST(Evaluation, presets_synchronise_on_physical_links) {
  const Topology topology = generate("tree:4x3", 1).value();
  for (const Preset& known : presets()) {
    EXPECT_TRUE(overrun_risks(topology, known.parameters, LinkModel::at_link).empty())
        << known.name;
    expect_within_bounds(topology, Method::joined, LinkModel::at_link, known.parameters, 1);
  }
}

TEST(Evaluation, a_schedule_that_is_longer_than_its_interval_has_none) {
  // Equation (11) gives 1603 slots, the schedule of 2047 takes longer.
  const Topology topology = generate("single:1024", 1).value();
  const SpanningTree tree(topology);
  Schedule schedule;
  schedule.slots = 1603;
  const auto interval = [&] {
    return evaluate_method({topology, tree, schedule, {}}, Method::sss, {}, 300 * k_ppm, nullptr)
        .value()
        .drift;
  };
  EXPECT_EQ(interval().interval_slots[0], 1603);
  schedule.slots = 1604;
  EXPECT_EQ(interval().interval_slots[0], 0);
  EXPECT_TRUE(std::isinf(interval().overhead_share[0]));
  const BoundReport bound = evaluate_bound({}, 1024, 4, {500 * k_ppm});
  EXPECT_EQ(bound.drifts[0].interval_slots[0], 0);
}

TEST(Evaluation, names_the_links_of_what_goes_wrong) {
  Setting small("single:4", LinkModel::at_switch, 300 * k_ppm, {{"cp", "3.13ns"}});
  const SimulationReport overrun = small.run();
  ASSERT_FALSE(overrun.risks.empty());
  ASSERT_FALSE(overrun.result.overruns.empty());
  for (const OverrunRisk& risk : overrun.risks) {
    EXPECT_FALSE(overrun.channel_names[risk.channel].empty());
  }
  EXPECT_GT(overrun.overrunning_flits(), 0);
  EXPECT_FALSE(overrun.keeps_all());
  Setting late("single:3", LinkModel::at_switch, 500 * k_ppm);
  late.options.interval_slots = 3000;
  const SimulationReport inverted = late.run();
  ASSERT_TRUE(inverted.result.first_inversion);
  EXPECT_FALSE(inverted.channel_names[inverted.result.first_inversion->channel].empty());
  EXPECT_FALSE(inverted.synchronised());
  EXPECT_FALSE(inverted.keeps_all());
}

TEST(Evaluation, keeps_all_only_within_the_bound) {
  Setting setting("single:4", LinkModel::at_switch, 100 * k_ppm);
  const SimulationReport report = setting.run();
  ASSERT_TRUE(report.keeps_all()) << report.skew_after.count();
  EXPECT_EQ(report.excess(), Femtoseconds(0));
  SimulationReport beyond = report;
  beyond.skew_after = report.method.skew[0] + Femtoseconds(7);
  EXPECT_EQ(beyond.excess(), Femtoseconds(7));
  EXPECT_FALSE(beyond.keeps_all());
  Setting once = setting;
  once.options.synchronisations = 1;  // whose lag nothing tells
  EXPECT_FALSE(once.run().lag_per_schedule);
}

TEST(Evaluation, a_machine_without_drift_has_no_limit) {
  Setting setting("single:4", LinkModel::at_switch, 0);
  const Limit limit = find_limit(setting.network(), setting.options, 100, nullptr).value();
  EXPECT_FALSE(limit.is_lost_beyond);
  EXPECT_EQ(limit.interval_slots, 10'000'000);
}

TEST(Evaluation, a_limit_below_the_schedule_is_found_there) {
  // At this drift no interval holds: the search ends at the schedule itself.
  Setting setting("single:8", LinkModel::at_switch, 300 * k_ppm);
  setting.options.drift_ppb = 20'000 * k_ppm;
  setting.options.phase = setting.parameters.slot();
  const Limit limit = find_limit(setting.network(), setting.options, 1000, nullptr).value();
  EXPECT_TRUE(limit.is_lost_beyond);
  EXPECT_LT(limit.interval_slots, 1000);
}

TEST(Evaluation, a_limit_with_traffic_is_bounded_in_packets) {
  Setting setting("single:4", LinkModel::at_switch, 300 * k_ppm, {{"slot-flits", "100"}});
  setting.options.drift_ppb = 0;
  setting.options.load = 1;
  // 5 million packets are 416,666 slots of three intervals; synchrony is never lost. To keep the
  // test short it is enough that the search begins there.
  struct Stopped : Progress {
    void begin(std::string_view, std::uint64_t units, std::string_view) override { total = units; }
    void advance(std::uint64_t) override {}
    [[nodiscard]] bool cancelled() const override { return true; }
    std::uint64_t total = 0;
  };
  Stopped stopped;
  EXPECT_FALSE(find_limit(setting.network(), setting.options, 10'000'000, &stopped));
  EXPECT_EQ(stopped.total, 4u * (2 * 416'666 + 4 + 1));
}

}  // namespace
}  // namespace entrain::net
