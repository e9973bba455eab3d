// SPDX-License-Identifier: BSD-3-Clause
#include <filesystem>
#include <optional>

#include <nlohmann/json.hpp>

#include "base/try.hpp"
#include "cli/common.hpp"
#include "cli/values.hpp"
#include "net/cli/options.hpp"
#include "net/cli/verbs.hpp"
#include "net/plan/choice.hpp"
#include "net/report/files.hpp"
#include "net/report/reports.hpp"
#include "output/output.hpp"
#include "report/json.hpp"

namespace entrain::net {

using namespace cli;

namespace {

namespace fs = std::filesystem;

class ScheduleVerb : public Verb {
 public:
  [[nodiscard]] const HelpText& help() const override {
    static const HelpText k_help{
        "net schedule",
        "[OPTIONS] TOPOLOGY",
        "plan a synchronising schedule and verify it",
        {"Plans with every method and compares the plans: slots, skew bound (by the routes "
         "of the plan), how often the schedule has to run, and the share of the time that "
         "it takes. Each plan is verified by code that shares nothing with the planner: no "
         "link carries two packets in one slot, and every interface precedes every other "
         "one. If a plan fails, the report names a counterexample."},
        {{"entrain net schedule tree:8x4", "Compares the methods for 392 interfaces."},
         {"entrain net schedule net.dot -o plan.csv",
          "Writes the slots, destinations and routes of each interface."}},
        exit_codes({{"0", "the plan that is taken holds"}, {"1", "it fails"}}),
        {"--method", "--drift", "--preset", "--output", "--json"}};
    return k_help;
  }

  void declare(OptionSet& set) override {
    topology_.declare(set);
    add_method(set, method_);
    add_drift(set, drift_ppb_);
    set.group("OPTIONS OF THE SCHEDULE");
    set.value("--seed", seed_, k_any_count, "N",
              "Seed of the random numbers of a topology random:..., 0 to 2^64-1. Use it to get "
              "another random network. Default: 1.");
    parameters_.declare(set);
    set.group("OUTPUT OPTIONS");
    set.path("-o,--output", output_, "FILE",
             "Write the plan that is taken to FILE, which must not exist: .csv or .json. Use it "
             "when another program is to send the packets. Default: write none.");
    common_.declare(set, "");
  }

  int run() override {
    return run_and_report(
        common_, [&](Progress* progress) { return work(progress); },
        [](const ScheduleReport& report) {
          return report.chosen_row().verification.holds() ? k_exit_fine : k_exit_violations;
        });
  }

 private:
  Result<ScheduleReport> work(Progress* progress) const {
    const std::string extension = fs::path(output_).extension().string();
    if (!output_.empty() && extension != ".csv" && extension != ".json")
      return fail(ErrorKind::usage,
                  fmt::format("--output {}: the name must end with .csv or .json", output_));
    if (!output_.empty()) TRY(OutputFile::check(output_, {.offers_force = false, .inputs = {}}));
    TRY_ASSIGN(const Parameters parameters, parameters_.get());
    TRY_ASSIGN(const Topology topology, topology_.get(seed_));
    const SpanningTree tree(topology);
    TRY_ASSIGN(
        PlanChoice plans,
        choose_plan(topology, tree, parameters,
                    {.method = method_, .compare = true, .sending = {}, .drift_ppb = drift_ppb_},
                    progress));
    ScheduleReport report;
    report.topology = summarise(topology_.name(), topology, tree);
    report.parameters = parameters;
    report.delays = link_delays(topology, parameters);
    report.seed = seed_;
    report.drift_ppb = drift_ppb_;
    report.choice = plans.choice;
    report.methods = std::move(plans.rows);
    if (output_.empty()) return report;
    const std::string text =
        extension == ".csv"
            ? schedule_csv(topology, plans.schedule)
            : report::dump(schedule_json(topology, plans.schedule, name_of(report.choice.method)));
    TRY(write_output(output_, text));
    report.written = output_;
    return report;
  }

  TopologyArgument topology_;
  ParameterOptions parameters_;
  std::optional<Method> method_;
  std::int64_t drift_ppb_ = 300'000;
  std::uint64_t seed_ = 1;
  std::string output_;
  CommonOptions common_;
};

}  // namespace

std::unique_ptr<Verb> make_schedule() { return std::make_unique<ScheduleVerb>(); }

}  // namespace entrain::net
