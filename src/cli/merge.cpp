// SPDX-License-Identifier: BSD-3-Clause
#include <string>
#include <vector>

#include <entrain/entrain.hpp>

#include "base/try.hpp"
#include "cli/check_options.hpp"
#include "engine/verbs.hpp"

namespace entrain::cli {
namespace {

class Merge : public CheckingVerb {
 public:
  [[nodiscard]] const HelpText& help() const override {
    static const HelpText k_help{
        "merge",
        "[OPTIONS] RANK... -o FILE",
        "write all ranks of a training run as one trace for viewers",
        {"Corrects the clocks of all ranks and writes their files as one: slices with all "
         "arguments, arrows, counters, names and order of processes and threads; of JSON "
         "everything. It adds an arrow to each end of a collective, from the rank that it waited "
         "for last, and a track with the verdict and what was added to each clock.",
         "The name of FILE decides its format: JSON for chrome://tracing and others if it ends in "
         ".json, else Perfetto; packed if .gz or .zst follows."},
        {{"entrain merge traces -o run.pftrace", "Writes a file for https://ui.perfetto.dev."},
         {"entrain merge rank0.json rank1.json --bounds -o run.json.gz",
          "Writes packed JSON, with the proved error bound of each clock."}},
        exit_codes({{"0", "the file is written, and by its times nothing is violated"},
                    {"1", "the file is written, but violations remain"},
                    {"3",
                     "the file is written and nothing in it is violated, but too little could be "
                     "checked (see --min-coverage)"}}),
        {"--output", "--force", "--bounds", "--json"}};
    return k_help;
  }

  void declare(OptionSet& set) override {
    set.arguments("RANK", archive_,
                  "Files of a training run, plain or packed (.gz, .zst), one after the other, or "
                  "their folder. They are never touched.");
    add_output_file(set, output_, "FILE", "The file");
    add_force(set, options_.force, "FILE");
    declare_check(set, "all that correct shows with -v");
  }

  int run() override {
    return run_and_report(
        common_,
        [&](Progress* progress) -> Result<MergeReport> {
          TRY(check_distinct({{"--bounds-csv", bounds_csv_}, {"-o", output_}}));
          TRY(prepare());
          options_.check = check_;
          options_.check.threads = common_.threads;
          TRY_ASSIGN(MergeReport report, engine::merge(paths(), output_, options_, progress));
          const CorrectReport& correction = report.correction;
          TRY(write_bounds(correction.bounds, correction.before.resolution_hz));
          return report;
        },
        [](const MergeReport& report) { return exit_code_of(report.correction.judgement); });
  }

 private:
  std::string output_;
  MergeOptions options_;
};

}  // namespace

std::unique_ptr<Verb> make_merge() { return std::make_unique<Merge>(); }

}  // namespace entrain::cli
