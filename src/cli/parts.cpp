// SPDX-License-Identifier: BSD-3-Clause
#include <entrain/parts.hpp>

#include <string>
#include <vector>

#include "base/try.hpp"
#include "cli/check_options.hpp"
#include "cli/common.hpp"
#include "engine/verbs.hpp"
#include "report/report.hpp"

namespace entrain::cli {
namespace {

class Summarise : public Verb {
 public:
  [[nodiscard]] const HelpText& help() const override {
    static const HelpText k_help{
        "summarise",
        "[OPTIONS] PART... -o FILE",
        "correct in parts, step 1: summarise the files of a part",
        {"Reads some files of a training run or of spans of services on the machine where they "
         "lie, and writes a small summary: the calls and messages by which entrain fit finds the "
         "clocks of all parts. entrain apply then writes each part with corrected times. The "
         "result is that of entrain correct for all files together, to the bit.",
         "A part is any set of the files, and each file is in one part. All verbs that only look "
         "at a trace take summaries as well: entrain check *.edges. Recipes for xargs, Slurm and "
         "others: docs/manual/engines.md."},
        {{"entrain summarise rank0.json rank1.json -o part0.edges", "Summarises two files."},
         {"ls traces/*.json | xargs -P 8 -I{} entrain summarise {} -o {}.edges",
          "A summary per file, eight at a time."}},
        exit_codes({{"0", "the summary is written"}}),
        {"--output", "--force", "--threads"}};
    return k_help;
  }

  void declare(OptionSet& set) override {
    set.arguments("PART", files_,
                  "Files of a training run or of spans of services, plain or packed (.gz, .zst), "
                  "one after the other, or their folder. They are never touched.");
    add_output_file(set, output_, "FILE", "The summary");
    add_force(set, options_.force, "FILE");
    add_max_unpacked(set, options_.max_unpacked_bytes);
    add_columns(set, options_.columns);
    common_.declare(set, "");
  }

  int run() override {
    return run_and_report(common_, [&](Progress* progress) {
      options_.threads = common_.threads;
      return summarise(engine::paths_of(files_), output_, options_, progress);
    });
  }

 private:
  std::vector<std::string> files_;
  std::string output_;
  PartOptions options_;
  CommonOptions common_;
};

class Fit : public CheckingVerb {
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
    set.arguments("SUMMARY", archive_, "Files that entrain summarise has written, in any order.");
    add_output_file(set, output_, "CLOCKS", "The file of clocks");
    set.path(
        "--csv", table_, "FILE",
        "Also write the clocks as a table: clock, since, tick, offset, drift, bound. Times are "
        "ticks, as in the files. Use it to map times in a data base. Default: no table.");
    add_force(set, method_.options.force, "CLOCKS");
    method_.declare(set);
    declare_check(set, "all that correct shows with -v");
    set.after_parsing([this, &set] { return method_.refuse_useless(set); });
  }

  int run() override {
    return run_and_report(
        common_,
        [&](Progress* progress) -> Result<FitReport> {
          TRY(check_distinct({{"--bounds-csv", bounds_csv_}, {"--csv", table_}, {"-o", output_}}));
          TRY(prepare());
          method_.options.check = check_;
          method_.options.check.threads = common_.threads;
          TRY_ASSIGN(FitReport report, fit(paths(), output_, table_, method_.options, progress));
          const CorrectReport& correction = report.correction;
          TRY(write_bounds(correction.bounds, correction.before.resolution_hz));
          return report;
        },
        [](const FitReport& report) { return exit_code_of(report.correction.judgement); });
  }

 private:
  std::string output_, table_;
  MethodArguments method_;
};

class Apply : public Verb {
 public:
  [[nodiscard]] const HelpText& help() const override {
    static const HelpText k_help{
        "apply",
        "[OPTIONS] CLOCKS PART... -o DIR",
        "correct in parts, step 3: write a part with corrected times",
        {"Writes some files of a run with the common times that entrain fit has found, every other "
         "byte unchanged, and verifies them: each must hold the new times. A file that has "
         "changed since it was summarised is refused.",
         "Files are identified by their names, without their folders. A part need not be one that "
         "was summarised: any files of the run will do."},
        {{"entrain apply run.clocks rank0.json rank1.json -o corrected0",
          "Writes two files of a run."},
         {"entrain apply run.clocks rank0.json -o corrected/rank0.json",
          "Writes one file into a folder that has others."}},
        exit_codes({{"0", "the part is written, and holds the new times"}}),
        {"--output", "--force", "--mark-offsets", "--threads"}};
    return k_help;
  }

  void declare(OptionSet& set) override {
    set.argument("CLOCKS", clocks_, "The clocks of the run, as entrain fit has written them.");
    set.arguments(
        "PART", files_,
        "Files of the run, one after the other, or their folder. They are never touched.");
    add_output(set, output_, options_.force);
    set.flag("--mark-offsets", options_.mark_offsets,
             "Give each span that moves an attribute entrain.offset_ns: what was added to its "
             "begin, ns. For spans of services only. Use it to see in a viewer what was moved. "
             "Default: only times change.");
    add_max_unpacked(set, options_.max_unpacked_bytes);
    add_columns(set, options_.columns);
    common_.declare(set, "");
  }

  int run() override {
    return run_and_report(common_, [&](Progress* progress) {
      options_.threads = common_.threads;
      return apply(clocks_, engine::paths_of(files_), output_, options_, progress);
    });
  }

 private:
  std::string clocks_;
  std::vector<std::string> files_;
  std::string output_;
  PartOptions options_;
  CommonOptions common_;
};

}  // namespace

std::unique_ptr<Verb> make_summarise() { return std::make_unique<Summarise>(); }
std::unique_ptr<Verb> make_fit() { return std::make_unique<Fit>(); }
std::unique_ptr<Verb> make_apply() { return std::make_unique<Apply>(); }

}  // namespace entrain::cli
