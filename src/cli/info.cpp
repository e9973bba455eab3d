// SPDX-License-Identifier: BSD-3-Clause
#include <entrain/entrain.hpp>

#include "cli/common.hpp"
#include "engine/verbs.hpp"

namespace entrain::cli {
namespace {

class Info : public Verb {
 public:
  [[nodiscard]] const HelpText& help() const override {
    static const HelpText k_help{
        "info",
        "[OPTIONS] ARCHIVE...",
        "show what a trace contains",
        {"Shows the format of a trace and what it contains: clocks, processes, events, messages "
         "and collectives per kind, its time span, and defects of its files. Of an OTF2 archive "
         "also locations and nodes, the resolution of the clock, the ClockOffset records with "
         "which the tracer measured the clocks, and its properties, which say how a corrected "
         "archive was made. Changes nothing."},
        {{"entrain info traces.otf2", "What does this archive contain?"},
         {"entrain info --json run42/ | jq .events", "The number of events, for a script."}},
        exit_codes({{"0", "the trace could be read"}}),
        {"--json", "--verbose"}};
    return k_help;
  }

  void declare(OptionSet& set) override {
    add_archive(set, archive_);
    common_.declare(set, "records and operations that do not occur");
    set.group("OPTIONS");
    add_max_unpacked(set, how_.max_unpacked);
    add_columns(set, how_.columns);
  }

  int run() override {
    return run_and_report(common_, [&](Progress* progress) {
      return engine::inspect(engine::paths_of(archive_), common_.threads, progress, how_);
    });
  }

 private:
  std::vector<std::string> archive_;
  CommonOptions common_;
  formats::ReadOptions how_;
};

}  // namespace

std::unique_ptr<Verb> make_info() { return std::make_unique<Info>(); }

}  // namespace entrain::cli
