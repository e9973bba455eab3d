// SPDX-License-Identifier: BSD-3-Clause
#include <string>
#include <vector>

#include <entrain/parts.hpp>

#include "base/try.hpp"
#include "cli/check_options.hpp"
#include "cli/common.hpp"
#include "cli/method_options.hpp"
#include "cli/verbs.hpp"
#include "engine/verbs.hpp"
#include "report/report.hpp"

namespace entrain::cli {
namespace {

class Fit : public Verb {
 public:
  [[nodiscard]] const HelpText& help() const override {
    static const HelpText k_help{
        "fit",
        "[OPTIONS] SUMMARY... -o CLOCKS",
        "correct in parts, step 2: find the clocks of all parts",
        {"Reads the summaries of all parts of a run, joins the messages and collectives whose ends "
         "lie in different parts, and finds the clocks as entrain correct does. Its verdict is on "
         "the times that entrain apply will write.",
         "With --csv the clocks are also a table with a row per straight piece of a clock, by "
         "which any data base maps times. For a time t take the row of its clock with the largest "
         "since that is not above t: the common time is t + offset + drift * (t - tick), the "
         "product rounded to a whole number."},
        {{"entrain fit *.edges -o run.clocks", "Finds the clocks of a run."},
         {"entrain fit *.edges -o run.clocks --csv clocks.csv --bounds",
          "Also as a table, with the proved error bound of each clock."}},
        exit_codes({{"0", "the clocks are written, and by the new times nothing is violated"},
                    {"1", "the clocks are written, but violations remain"},
                    {"3",
                     "the clocks are written and nothing is violated, but too little could be "
                     "checked (see --min-coverage)"}}),
        {"--output", "--csv", "--force", "--bounds", "--json"}};
    return k_help;
  }

  void declare(OptionSet& set) override {
    set.arguments("SUMMARY", files_, "Files that entrain summarise has written, in any order.");
    set.group("OUTPUT OPTIONS");
    set.required_path("-o,--output", output_, "CLOCKS",
                      "The file of clocks to write; required. It appears when it is complete, and "
                      "it must not exist yet (but see --force).");
    set.path(
        "--csv", table_, "FILE",
        "Also write the clocks as a table: clock, since, tick, offset, drift, bound. Times are "
        "ticks, as in the files. Use it to map times in a data base. Default: no table.");
    add_force(set, method_.options.force, "CLOCKS");
    method_.declare(set);
    check_.declare(set);
    common_.declare(set, "all that correct shows with -v");
    set.after_parsing([this, &set] { return method_.refuse_useless(set); });
  }

  int run() override {
    return run_and_report(
        common_,
        [&](Progress* progress) -> Result<FitReport> {
          const engine::Paths paths = engine::paths_of(files_);
          TRY(check_distinct(
              {{"--bounds-csv", check_.bounds_csv}, {"--csv", table_}, {"-o", output_}}));
          TRY(check_.prepare(paths));
          method_.options.check = check_.options;
          method_.options.check.threads = common_.threads;
          TRY_ASSIGN(FitReport report, fit(paths, output_, table_, method_.options, progress));
          const CorrectReport& correction = report.correction;
          TRY(check_.write_bounds(correction.bounds, correction.before.resolution_hz));
          return report;
        },
        [](const FitReport& report) { return exit_code_of(report.correction.judgement); });
  }

 private:
  std::vector<std::string> files_;
  std::string output_, table_;
  MethodArguments method_;
  CheckArguments check_;
  CommonOptions common_;
};

}  // namespace

std::unique_ptr<Verb> make_fit() { return std::make_unique<Fit>(); }

}  // namespace entrain::cli
