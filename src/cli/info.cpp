// SPDX-License-Identifier: BSD-3-Clause
#include <entrain/entrain.hpp>

#include "cli/common.hpp"
#include "cli/verbs.hpp"
#include "engine/verbs.hpp"

namespace entrain::cli {
namespace {

class Info : public Verb {
 public:
  [[nodiscard]] const HelpText& help() const override {
    static const HelpText k_help{
        "info",
        "[OPTIONS] ARCHIVE...",
        "show the contents of an archive",
        {"Shows what an OTF2 archive holds: locations, processes and nodes, events, records of "
         "communication per kind, collective operations, the resolution of the clock, the "
         "ClockOffset records with which a tracer measured the clocks, the span of the trace, its "
         "properties (a corrected archive says there how it was made), and anything odd about its "
         "files. Changes nothing."},
        {{"entrain info traces.otf2", "Shows the contents of this archive."},
         {"entrain info --json run42/ | jq .events", "The number of events, for a script."}},
        exit_codes({{"0", "the archive could be read"}}),
        {"--json", "--verbose"}};
    return k_help;
  }

  void declare(OptionSet& set) override {
    add_archive(set, archive_, "OTF2 anchor file, or the folder that holds one.");
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
