// SPDX-License-Identifier: BSD-3-Clause
#include <string>
#include <vector>

#include <entrain/parts.hpp>

#include "cli/common.hpp"
#include "cli/verbs.hpp"
#include "engine/verbs.hpp"

namespace entrain::cli {
namespace {

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

std::unique_ptr<Verb> make_apply() { return std::make_unique<Apply>(); }

}  // namespace entrain::cli
