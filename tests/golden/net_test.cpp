// SPDX-License-Identifier: BSD-3-Clause
//
// The reports that the verbs of `entrain net` print, and the files that they write.
#include <nlohmann/json.hpp>

#include "golden/golden.hpp"
#include "net/model/generators.hpp"
#include "net/paper/tables_report.hpp"
#include "net/report/files.hpp"
#include "net/report/reports.hpp"

namespace entrain::report {
namespace {

constexpr std::int64_t k_ppm = 1000;

template <class Report>
void expect_golden_net_report(const std::string& name, const Report& shown) {
  Style verbose;
  verbose.verbose = true;
  report::expect_golden_report(name, to_text(shown, {}), to_text(shown, verbose), to_json(shown));
}

struct Network {
  net::Topology topology = net::generate("tree:3x3", 1).value();
  net::SpanningTree tree{topology};
  net::Schedule schedule = net::plan(topology, tree, net::Method::hss).value();

  [[nodiscard]] net::SimulationReport simulate(net::Parameters parameters,
                                               net::SimulationOptions options) const {
    options.guard_flits = net::usual_guard_flits(parameters, options.model, parameters.ld);
    options.phase = parameters.slot() / 2;
    options.synchronisations = 2;
    options.every_slot = true;
    const net::PlannedNetwork network{topology, tree, schedule, parameters};
    const net::MethodRow row =
        net::evaluate_method(network, net::Method::hss, {}, options.drift_ppb, nullptr).value();
    auto report = net::evaluate_simulation("tree:3x3", network, row, options, nullptr);
    report->seconds = 0.5;  // the one figure that is never the same
    return report.value();
  }
};

TEST(GoldenNet, bound) {
  expect_golden_net_report(
      "net_bound", net::evaluate_bound({}, 8, 4, {100 * k_ppm, 300 * k_ppm, 10'000 * k_ppm}));
}

TEST(GoldenNet, tables) {
  expect_golden_net_report("net_tables",
                           net::TablesReport{net::published_cells(), net::published_figures(), {}});
}

TEST(GoldenNet, schedule) {
  const Network network;
  net::ScheduleReport report;
  report.topology = net::summarise("tree:3x3", network.topology, network.tree);
  report.drift_ppb = 300 * k_ppm;
  report.delays = net::link_delays(network.topology, {});
  report.seed = 1;
  report.choice.method = net::Method::hss;
  report.written = "plan.csv";
  for (const net::Method method : net::k_methods) {
    const net::Schedule schedule = net::plan(network.topology, network.tree, method).value();
    report.methods.push_back(net::evaluate_method({network.topology, network.tree, schedule, {}},
                                                  method, {}, report.drift_ppb, nullptr)
                                 .value());
  }
  expect_golden_net_report("net_schedule", report);
  expect_golden("net_plan.csv", net::schedule_csv(network.topology, network.schedule));
  expect_golden("net_plan.json",
                dump(net::schedule_json(network.topology, network.schedule, "hss")));
}

TEST(GoldenNet, simulation) {
  net::SimulationOptions options;
  options.drift_ppb = 300 * k_ppm;
  options.interval_slots = 600;
  const Network network;
  net::SimulationReport report = network.simulate({}, options);
  report.limit = net::Limit{.interval_slots = 1200, .by_equation = 600, .is_lost_beyond = true};
  expect_golden_net_report("net_simulate", report);
  expect_golden("net_skew.csv", net::skew_csv(network.topology, report));
}

TEST(GoldenNet, simulation_that_overruns_and_loses_the_order) {
  net::SimulationOptions options;
  options.model = net::LinkModel::at_link;
  options.drift_ppb = 500 * k_ppm;
  options.interval_slots = 4000;
  net::Parameters parameters;
  parameters.cp = net::Femtoseconds(3'130'000);
  net::SimulationReport report = Network().simulate(parameters, options);
  report.limit = net::Limit{.interval_slots = 5000, .by_equation = 600, .is_lost_beyond = false};
  expect_golden_net_report("net_simulate_lost", report);
}

}  // namespace
}  // namespace entrain::report
