// SPDX-License-Identifier: BSD-3-Clause
#include <entrain/entrain.hpp>

#include "base/try.hpp"
#include "cli/check_options.hpp"
#include "engine/verbs.hpp"
#include "report/report.hpp"

namespace entrain::cli {
namespace {

class Stragglers : public CheckingVerb {
 public:
  [[nodiscard]] const HelpText& help() const override {
    static const HelpText k_help{
        "stragglers",
        "[OPTIONS] ARCHIVE...",
        "say who comes late to collectives, and how long the others wait",
        {"Finds, by the times that correct would write, the process for which the others waited "
         "in each collective: in an allreduce or barrier the last one to begin, in a broadcast or "
         "scatter the root, in a reduction or gather the last one but the root. Changes nothing.",
         "A process is blamed only where the proved bounds of the clocks (see check --bounds) "
         "leave no other one. Where they do not tell who was last, the collective is a tie; where "
         "nothing bounds the clocks, it is unproven. Waits are summed up over all who wait; "
         "\"alone\" is the time for which only the last one was missing.",
         "Shows the processes that cause most waits first, then groups, steps of the training "
         "loop and single collectives. Needs a training run, an OTF2 archive or a trace of "
         "Paraver."},
        {{"entrain stragglers run/", "Which rank do the others wait for?"},
         {"entrain stragglers --csv run/ > collectives.csv", "A row per collective."},
         {"entrain stragglers --presync none run/",
          "What the times as recorded say: wrong clocks may blame the wrong rank."}},
        exit_codes({{"0", "the table is shown"},
                    {"3", "no last arrival is proved, or there are no collectives"}}),
        {"--csv", "--json", "--quiet", "--verbose", "--presync", "--max-rate-ppm"}};
    return k_help;
  }

  void declare(OptionSet& set) override {
    add_archive(set, archive_);
    set.group("OPTIONS OF THE TABLE");
    set.flag("--csv", csv_,
             "Print CSV, a row per collective in order of time, with the columns of \"longest\" in "
             "--json. Use it for a spreadsheet, or to plot waits over time.");
    declare_check(set, "all processes");
    set.after_parsing([this, &set]() -> Result<void> {
      TRY(set.refuse({"--bounds-csv"}, "is of no use here; see check"));
      if (!csv_ || !common_.json) return {};
      return fail(ErrorKind::usage, "--csv and --json exclude each other");
    });
  }

  int run() override {
    CorrectOptions options;
    options.check = check_;
    options.check.threads = common_.threads;
    return run_and_show(
        common_,
        [&](Progress* progress) { return engine::find_stragglers(paths(), options, progress); },
        [](const StragglerReport& r) { return r.proven > 0 ? k_exit_fine : k_exit_unproven; },
        [this](const StragglerReport& r) {
          return csv_           ? report::stragglers_csv(r)
                 : common_.json ? report::json_text(r)
                                : report::to_text(r, common_.style());
        });
  }

 private:
  bool csv_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_stragglers() { return std::make_unique<Stragglers>(); }

}  // namespace entrain::cli
