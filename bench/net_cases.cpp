// SPDX-License-Identifier: BSD-3-Clause
//
// Simulates every case of the paper's tables 3 and 4 and figures 4 to 6, with drifts of 100 to 500
// ppm, several seeds and both link models, and prints the largest skew beside the bounds, and how
// far the interval can be stretched beyond equation (11), as a Markdown table. One run per case, at
// 300 ppm, goes over 100 intervals; its skew before the schedules counts with the others.
//
// Usage: net_cases [SEEDS [SYNCHRONISATIONS [switch|link]]],
// by default 20, 3, both. Speed is by the processor's time, planning and verification included.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "net/model/generators.hpp"
#include "net/simulate/simulation_report.hpp"

namespace {

using namespace entrain::net;

struct Case {
  std::string name;
  std::string topology;
  std::map<std::string, std::string> parameters;
};

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const char* ports : {"4", "8", "16"})
    cases.push_back({fmt::format("table 3, {} ports", ports), fmt::format("single:{}", ports), {}});
  for (const char* ports : {"4", "8"})
    cases.push_back({fmt::format("table 4, {} ports", ports), fmt::format("tree:{}x4", ports), {}});
  for (int rd = 50; rd <= 140; rd += 10)
    cases.push_back(
        {fmt::format("figure 4, rd {} ns", rd), "single:8", {{"rd", fmt::format("{}ns", rd)}}});
  for (const char* cp : {"12.5ns", "4.17ns", "3.13ns"})
    cases.push_back({fmt::format("figure 5, cp {}", cp), "single:8", {{"cp", cp}}});
  for (const char* bl : {"128", "192", "256"})
    cases.push_back({fmt::format("figure 5, bl {}", bl), "single:8", {{"bl", bl}}});
  for (const char* levels : {"3", "4"}) {
    for (const char* cp : {"12.5ns", "6.25ns", "4.17ns", "3.13ns"})
      cases.push_back({fmt::format("figure 6, {} levels, cp {}", levels, cp),
                       fmt::format("tree:8x{}", levels),
                       {{"cp", cp}}});
  }
  return cases;
}

/// Drift of the run over many intervals and of the search for the limit.
constexpr std::int64_t k_middle_ppb = 300'000;
constexpr std::int64_t k_long_run = 100;

/// The worst values over all drifts and seeds.
struct Worst {
  Femtoseconds skew{0}, before{0}, lag{0};
  double share_of_allowed = 0;  ///< of bound + drift x length of the schedule
  std::int64_t inversions = 0, events = 0;
  int runs = 0, overrunning = 0;
  double seconds = 0;

  void take(const SimulationReport& report, Femtoseconds bound) {
    ++runs;
    skew = std::max(skew, report.skew_after);
    before = std::max(before, report.skew_before);
    lag = std::max(lag, report.lag_per_schedule.value_or(Femtoseconds(0)));
    share_of_allowed =
        std::max(share_of_allowed, report.skew_after / (1.0 * (bound + report.drift_allowance)));
    inversions += report.result.inversions;
    events += report.result.events;
    overrunning += report.result.overruns.empty() ? 0 : 1;
  }
};

/// The simulated limit of the interval, divided by equation (11).
std::string margin_text(const PlannedNetwork& network, SimulationOptions options,
                        Femtoseconds bound) {
  options.drift_ppb = k_middle_ppb;
  options.seed = 1;
  const std::int64_t by_equation = interval_slots(network.parameters, bound, options.drift_ppb);
  const auto limit = find_limit(network, options, by_equation, nullptr);
  return limit ? fmt::format("{:.2f}", limit->margin().value_or(0)) : "-";
}

void print_row(const Case& one, const Worst& worst, const MethodRow& row, Femtoseconds slot,
               const std::string& margin, bool is_predicted) {
  fmt::print("| {} | {:.0f} | {:.0f} | {:.0f} | {:.2f} | {:.3f} | {:.0f} | {} | {}/{}{} |\n",
             one.name, ns_of(row.skew[0]), ns_of(row.skew[1]), ns_of(worst.skew),
             worst.share_of_allowed, worst.before / (0.5 * slot), ns_of(worst.lag), margin,
             worst.overrunning, worst.runs, is_predicted ? ", predicted" : "");
  if (worst.inversions > 0)
    fmt::print("| | {} packets out of order | | | | | | | |\n", worst.inversions);
  std::fflush(stdout);
}

/// False if a simulation could not run. `slowest`: millions of events per second.
bool run_case(const Case& one, LinkModel model, int seeds, int synchronisations, double& slowest) {
  const Parameters parameters = with_values({}, one.parameters).value();
  const Topology topology = generate(one.topology, 1).value();
  const SpanningTree tree(topology);
  const Schedule schedule = plan(topology, tree, Method::hss).value();
  const PlannedNetwork network{topology, tree, schedule, parameters};
  Worst worst;
  MethodRow row;
  SimulationOptions options;
  options.model = model;
  options.guard_flits = usual_guard_flits(parameters, model, parameters.ld);
  options.phase = parameters.slot() / 2;
  options.synchronisations = synchronisations;
  const auto run = [&](std::int64_t drift_ppb, int seed) {
    row = evaluate_method(network, Method::hss, {}, drift_ppb, nullptr).value();
    options.drift_ppb = drift_ppb;
    options.interval_slots = row.drift.interval_slots[0];
    options.seed = static_cast<std::uint64_t>(seed);
    const std::clock_t begin = std::clock();
    const auto report = evaluate_simulation(one.topology, network, row, options, nullptr);
    if (!report) {
      fmt::print(stderr, "{}: {}\n", one.name, report.error().message);
      return false;
    }
    worst.take(*report, row.skew[0]);
    worst.seconds += static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    return true;
  };
  for (std::int64_t ppm = 100; ppm <= 500; ppm += 100) {
    for (int seed = 0; seed < seeds; ++seed) {
      if (!run(ppm * 1000, seed)) return false;
    }
  }
  options.synchronisations = k_long_run;
  if (!run(k_middle_ppb, seeds)) return false;
  print_row(one, worst, row, parameters.slot(), margin_text(network, options, row.skew[0]),
            !overrun_risks(topology, parameters, model).empty());
  slowest = std::min(slowest, static_cast<double>(worst.events) / worst.seconds * 1e-6);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const int seeds = argc > 1 ? std::atoi(argv[1]) : 20;
  const int synchronisations = argc > 2 ? std::atoi(argv[2]) : 3;
  if (seeds < 1 || synchronisations < 1) {
    fmt::print(stderr, "usage: net_cases [SEEDS [SYNCHRONISATIONS [switch|link]]]\n");
    return 2;
  }
  for (const LinkModel model : {LinkModel::at_switch, LinkModel::at_link}) {
    if (argc > 3 && std::string(argv[3]) != name_of(model)) continue;
    fmt::print(
        "| {} | bound | as printed | largest skew | share of bound + drift | before, of half a "
        "slot | behind the slowest | margin | runs with overrun |\n"
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|\n",
        name_of(model));
    double slowest = std::numeric_limits<double>::infinity();
    for (const Case& one : all_cases()) {
      if (!run_case(one, model, seeds, synchronisations, slowest)) return 1;
    }
    fmt::print("\nAt least {:.0f} million events per second.\n\n", slowest);
  }
  return 0;
}
