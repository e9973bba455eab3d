// SPDX-License-Identifier: BSD-3-Clause
//
// The model against the machine: simulated skew beside the bounds. bench/net_cases.cpp does the
// same for all cases of the paper with more seeds.
#include "net/evaluation.hpp"

#include <gtest/gtest.h>

#include "net/generators.hpp"

namespace entrain::net {
namespace {

constexpr std::int64_t k_ppm = 1000;

struct Setting {
  Topology topology;
  SpanningTree tree;
  Schedule schedule;
  Parameters parameters;
  SimulationOptions options;
  BothReadings bound{};

  Setting(const char* text, LinkModel model, std::int64_t drift_ppb,
          const std::map<std::string, std::string>& values = {}, Method method = Method::hss)
      : topology(generate(text, 1).value()),
        tree(topology),
        schedule(plan(topology, tree, method).value()),
        parameters(with_values({}, values).value()) {
    const MethodRow row =
        evaluate_method(topology, tree, schedule, method, parameters, drift_ppb, nullptr).value();
    bound = row.skew;
    options.model = model;
    options.guard_flits = usual_guard_flits(parameters, model);
    options.drift_ppb = drift_ppb;
    options.phase = parameters.slot() / 2;
    options.synchronisations = 3;
    options.interval_slots = row.drift.interval_slots[0];
  }

  [[nodiscard]] SimulationReport run() const {
    return evaluate_simulation("", topology, tree, schedule, Method::hss, parameters, options,
                               nullptr)
        .value();
  }
};

/// All but the cases that are exceptions (simulator_test.cpp tells why): the skew is within the
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
      EXPECT_EQ(report.result.lost_flits(), 0);
    }
  }
}

TEST(Evaluation, SkewOfOneSwitchIsWithinTheBoundAndTheDriftOfTheSchedule) {
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

TEST(Evaluation, SkewOfTreesIsWithinTheBound) {
  expect_within_bounds("tree:4x3", LinkModel::at_switch, {});
  expect_within_bounds("tree:4x3", LinkModel::at_link, {});
  expect_within_bounds("tree:4x4", LinkModel::at_switch, {});
  expect_within_bounds("tree:4x3", LinkModel::at_switch, {{"cp", "4.17ns"}});
}

TEST(Evaluation, OwnMethodsSynchroniseToo) {
  for (const Method method : {Method::joined, Method::alternating, Method::doubling}) {
    for (const LinkModel model : {LinkModel::at_switch, LinkModel::at_link}) {
      Setting setting("tree:4x3", model, 300 * k_ppm, {}, method);
      const SimulationReport report = setting.run();
      EXPECT_LE(report.skew_after, setting.bound[0] + report.drift_allowance) << name_of(method);
      EXPECT_TRUE(report.synchronised());
    }
  }
}

TEST(Evaluation, SkewStaysBelowHalfASlotOver100Intervals) {
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

TEST(Evaluation, WhereTheBoundIsTooSmallSoIsTheRoomThatEquation11Leaves) {
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

TEST(Evaluation, ThePhysicalLinksOf392InterfacesTakeNoTime) {
  Setting setting("tree:8x4", LinkModel::at_link, 300 * k_ppm);
  setting.options.synchronisations = 2;
  const SimulationReport report = setting.run();
  EXPECT_TRUE(report.synchronised());
  EXPECT_EQ(report.result.lost_flits(), 0);
  EXPECT_LE(report.skew_after, setting.bound[0]);
  // Nearly all is skipped: what is left are the headers' and the tails' ways.
  EXPECT_LT(report.result.events, report.result.injected_flits / 10);
}

TEST(Evaluation, WithoutSchedulesTheClocksDriftApart) {
  // The same interval, but only one schedule: at its end nothing has brought them together again.
  Setting setting("single:8", LinkModel::at_switch, 300 * k_ppm);
  const SimulationReport report = setting.run();
  EXPECT_GT(report.skew_before, 20 * report.skew_after);
}

TEST(Evaluation, TheIntervalCanBeStretchedUntilSynchronyIsLost) {
  Setting setting("single:4", LinkModel::at_switch, 300 * k_ppm);
  const std::int64_t by_equation = setting.options.interval_slots;
  const Limit limit = find_limit(setting.topology, setting.schedule, setting.parameters,
                                 setting.options, by_equation, nullptr)
                          .value();
  // Half a slot is what equation (11) asks for, a whole one is what the machine needs.
  EXPECT_GT(limit.margin(), 1.5);
  EXPECT_LT(limit.margin(), 2.5);
  setting.options.interval_slots = limit.interval_slots * 11 / 10;
  EXPECT_FALSE(setting.run().synchronised());
}

TEST(Evaluation, PresetsSynchroniseOnPhysicalLinks) {
  for (const Preset& known : presets()) {
    EXPECT_TRUE(overrun_risks(generate("tree:4x3", 1).value(), known.parameters, LinkModel::at_link)
                    .empty())
        << known.name;
  }
}

}  // namespace
}  // namespace entrain::net
