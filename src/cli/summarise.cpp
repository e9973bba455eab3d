// SPDX-License-Identifier: BSD-3-Clause
#include <string>
#include <vector>

#include <entrain/parts.hpp>

#include "cli/common.hpp"
#include "cli/verbs.hpp"
#include "engine/verbs.hpp"

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
    set.group("OUTPUT OPTIONS");
    set.required_path("-o,--output", output_, "FILE",
                      "The summary to write; required. It appears when it is complete, and it must "
                      "not exist yet (but see --force).");
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

}  // namespace

std::unique_ptr<Verb> make_summarise() { return std::make_unique<Summarise>(); }

}  // namespace entrain::cli
