// SPDX-License-Identifier: BSD-3-Clause
#include <optional>
#include <system_error>

#include "base/try.hpp"
#include "cli/common.hpp"
#include "cli/values.hpp"
#include "net/cli/options.hpp"
#include "net/cli/verbs.hpp"
#include "net/plan/choice.hpp"
#include "net/report/files.hpp"
#include "net/report/reports.hpp"
#include "net/simulate/simulator.hpp"
#include "output/output.hpp"

namespace entrain::net {

using namespace cli;

namespace {

constexpr std::int64_t k_unset = -1;

class SimulateVerb : public Verb {
 public:
  [[nodiscard]] const HelpText& help() const override {
    static const HelpText k_help{
        "net simulate",
        "[OPTIONS] TOPOLOGY",
        "run a synchronising schedule flit by flit",
        {"Simulates interfaces whose clocks differ in rate and phase, links, slack buffers "
         "with STOP and GO, and wormhole routers, and runs the schedule again and again. "
         "Shows how far the clocks are apart before and after, beside the skew bounds; how "
         "long interfaces stood still; buffers that are too small for their links, "
         "predicted and seen; and whether the order of the slots was kept.",
         "A buffer that overruns keeps its flits here, and the run goes on. The report counts "
         "those "
         "that a real network would lose. It also names a skew after a schedule above the bound "
         "(published reading), be it by no more than the clocks drift during the schedule.",
         "With --link-model switch, routers forward a flit every sd, as the paper reads. "
         "With link they do so every cp, as a physical link does, and a slot ends with idle "
         "flits. The same options give the same result."},
        {{"entrain net simulate single:8", "Ten intervals by equation (11)."},
         {"entrain net simulate tree:8x4 --link-model link --load 0.5",
          "392 interfaces that send in every other slot between the schedules."},
         {"entrain net simulate single:4 --limit", "How far the interval can be stretched."}},
        exit_codes({{"0", "synchrony and bound are kept, no flit is lost"},
                    {"1",
                     "synchrony is lost, the bound exceeded, flits are lost or the plan "
                     "fails"}}),
        {"--method", "--drift", "--link-model", "--svg", "--json"}};
    return k_help;
  }

  void declare(OptionSet& set) override;
  int run() override;

 private:
  Result<SimulationReport> work(Progress* progress) const;
  [[nodiscard]] Result<void> check_files() const;
  /// Writes --csv and --svg, both or none, and adds their names to `report`.
  Result<void> write_files(const Topology& topology, SimulationReport& report) const;

  TopologyArgument topology_;
  ParameterOptions parameters_;
  std::optional<Method> method_;
  SimulationOptions options_;
  std::int64_t guard_flits_ = k_unset;
  std::int64_t interval_slots_ = k_unset;
  Femtoseconds phase_{k_unset};
  bool no_skip_ = false, limit_ = false;
  std::string csv_, svg_;
  CommonOptions common_;
};

void SimulateVerb::declare(OptionSet& set) {
  options_.drift_ppb = 300'000;
  options_.synchronisations = 10;
  topology_.declare(set);
  add_method(set, method_);
  add_drift(set, options_.drift_ppb);
  const auto whole = [](std::int64_t least, std::int64_t most) {
    return [=](std::string_view text) { return parse_whole(text, least, most); };
  };
  set.group("OPTIONS OF THE SIMULATION");
  set.choice("--link-model", options_.model,
             {{"switch", LinkModel::at_switch}, {"link", LinkModel::at_link}},
             "How fast flits follow each other out of a router: one every sd (switch) or every "
             "cp (link). Use link when your routers are no faster than your links; a slot then "
             "ends with idle flits, which cost bandwidth. Default: switch.");
  set.value("--guard", guard_flits_, whole(0, 1'000'000), "FLITS",
            "Idle flits at the end of a slot. Use more when interfaces fall behind the slowest "
            "one; they cost bandwidth. Default: none with the model switch; with link the "
            "larger of 1.25 rd / cp and 2 (rd + ld + fc) / cp - kg - 2, with the longest link "
            "for ld.");
  set.value("--interval", interval_slots_, whole(1, 1'000'000'000), "SLOTS",
            "Slots from the begin of a schedule to that of the next. Use it to try another one "
            "than that of equation (11); a longer one costs less bandwidth, but synchrony may "
            "be lost. Default: by equation (11).");
  set.value("--synchronisations", options_.synchronisations, whole(1, 1'000'000), "N",
            "How often the schedule runs, 1 to 1000000. Use more to see rare effects; the run "
            "takes longer. Default: 10.");
  set.value(
      "--phase", phase_, [](std::string_view text) { return parse_time(text); }, "TIME",
      "How far the clocks are apart at first, as in 5us, at most a slot. Use it to see "
      "from how far they come together. Default: half a slot.");
  set.value(
      "--load", options_.load, [](std::string_view text) { return parse_number(text, 0, 1, ""); },
      "SHARE",
      "Share of the slots between the schedules in which an interface sends a packet to "
      "another one of its switch, 0 to 1. Use it when other traffic shares your network; "
      "the run takes longer. Default: 0.");
  set.value(
      "--seed", options_.seed,
      [](std::string_view text) { return parse_count(text, 0, UINT64_MAX); }, "N",
      "Seed of the random numbers, 0 to 2^64-1. Use another one to see other rates, phases and "
      "traffic. Default: 1.");
  set.flag("--no-skip", no_skip_,
           "Simulate every flit, also those that nothing can block. Use it to check the "
           "simulation; the result is the same, but the run takes much longer.");
  set.flag("--limit", limit_,
           "Also stretch the interval, by bisection, until synchrony is lost: to 10000000 "
           "slots, 15 minutes or, with --load, 5000000 packets at most. Use it to see how "
           "much room equation (11) leaves; it repeats the simulation many times.");
  parameters_.declare(set);
  const auto file = [&](const char* name, std::string& target, const char* help) {
    set.group("OUTPUT OPTIONS");
    set.path(name, target, "FILE", help);
  };
  file("--csv", csv_,
       "Write the clocks of all interfaces at every slot of the schedules to FILE, which "
       "must not exist. Use it to look into one schedule; the file grows with slots and "
       "interfaces. Default: do not.");
  file("--svg", svg_,
       "Draw the skew over time to FILE, which must not exist. Use it for a first look. "
       "Default: do not.");
  common_.declare(set, "");
}

int SimulateVerb::run() {
  return run_and_report(
      common_, [&](Progress* progress) { return work(progress); },
      [](const SimulationReport& report) {
        return report.keeps_all() ? k_exit_fine : k_exit_violations;
      });
}

Result<SimulationReport> SimulateVerb::work(Progress* progress) const {
  TRY(check_files());
  TRY_ASSIGN(const Parameters parameters, parameters_.get());
  TRY_ASSIGN(const Topology topology, topology_.get(options_.seed));
  const SpanningTree tree(topology);
  SimulationOptions options = options_;
  options.skip = !no_skip_;
  options.every_slot = !csv_.empty() || !svg_.empty();
  options.guard_flits =
      guard_flits_ == k_unset
          ? usual_guard_flits(parameters, options.model, link_delays(topology, parameters).most)
          : guard_flits_;
  options.phase = phase_.count() == k_unset ? parameters.slot() / 2 : phase_;
  const Sending sending{.model = options.model, .guard_flits = options.guard_flits};
  TRY_ASSIGN(
      const PlanChoice plans,
      choose_plan(
          topology, tree, parameters,
          {.method = method_, .compare = false, .sending = sending, .drift_ppb = options.drift_ppb},
          progress));
  const PlannedNetwork network{topology, tree, plans.schedule, parameters};
  const MethodRow& row = plans.row();
  const std::int64_t by_equation = options.drift_ppb == 0 ? 0 : row.drift.interval_slots[0];
  if (interval_slots_ == k_unset && options.drift_ppb == 0)
    return fail(ErrorKind::usage,
                "clocks without drift (--drift 0ppm) need no schedule, and equation (11) gives no "
                "interval: say with --interval how often it runs");
  if (interval_slots_ == k_unset && by_equation == 0)
    return fail(
        ErrorKind::usage,
        fmt::format("by equation (11) this schedule cannot keep the clocks within half a slot: "
                    "its skew bound is {:g} ns, half a slot {:g} ns, and it takes {} slots; use "
                    "longer slots (--slot-flits), another --method, or set --interval",
                    ns_of(row.skew[0]), ns_of(parameters.slot() / 2), row.slots));
  options.interval_slots = interval_slots_ == k_unset ? by_equation : interval_slots_;
  TRY_ASSIGN(SimulationReport report,
             evaluate_simulation(topology_.name(), network, row, options, progress));
  report.choice = plans.choice;
  if (limit_) {
    TRY_ASSIGN(report.limit, find_limit(network, options, by_equation, progress));
  }
  TRY(write_files(topology, report));
  return report;
}

Result<void> SimulateVerb::check_files() const {
  if (!csv_.empty()) TRY(OutputFile::check(csv_, {.offers_force = false, .inputs = {}}));
  if (!svg_.empty()) TRY(OutputFile::check(svg_, {.offers_force = false, .inputs = {}}));
  return check_distinct({{"--csv", csv_}, {"--svg", svg_}});
}

Result<void> SimulateVerb::write_files(const Topology& topology, SimulationReport& report) const {
  if (!csv_.empty()) report.written.push_back(csv_);
  if (!svg_.empty()) report.written.push_back(svg_);
  if (svg_.empty())
    return csv_.empty() ? Result<void>() : write_output(csv_, skew_csv(topology, report));
  const std::string drawing = to_svg(skew_plot(report));
  if (csv_.empty()) return write_output(svg_, drawing);
  TRY_ASSIGN(OutputFile table, OutputFile::create(csv_, {.offers_force = false, .inputs = {}}));
  TRY(table.write(skew_csv(topology, report)));
  TRY_ASSIGN(OutputFile picture, OutputFile::create(svg_, {.offers_force = false, .inputs = {}}));
  TRY(picture.write(drawing));
  return OutputFile::commit_both(table, picture);
}

}  // namespace

std::unique_ptr<Verb> make_simulate() { return std::make_unique<SimulateVerb>(); }

}  // namespace entrain::net
