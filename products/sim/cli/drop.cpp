// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <string>

#include <entrain/entrain.hpp>

#include "cli/common.hpp"
#include "cli/values.hpp"
#include "sim/cli/verbs.hpp"
#include "sim/report/reports.hpp"

namespace entrain::cli {
namespace {

/// "0.1" or "10%", alone or with ":0.5", the share of the locations.
Result<DropStretch> parse_stretch(std::string_view text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const auto share = parse_share(text.substr(0, colon));
  DropStretch stretch;
  const auto locations = colon == text.size() ? Result<double>(stretch.locations)
                                              : parse_share(text.substr(colon + 1));
  if (!share || !locations || *locations == 0) {
    return fail(ErrorKind::usage,
                "is neither a share such as 0.1 or 10% nor two of them such as 0.1:0.5");
  }
  return DropStretch{*share, *locations};
}

class Drop : public Verb {
 public:
  [[nodiscard]] const HelpText& help() const override {
    static const HelpText k_help{
        "drop",
        "[OPTIONS] ARCHIVE -o DIR",
        "remove records of an archive, to test tools on incomplete ones",
        {"Writes an archive without some records of messages and collectives, as filters, full "
         "buffers and killed processes leave it. All other records keep their places and times. "
         "The original is then the ground truth. The options can be combined. The same seed gives "
         "the same archive."},
        {{"entrain drop traces.otf2 -o lossy --random 0.1%", "One record in a thousand is lost."},
         {"entrain drop traces.otf2 -o lossy --windows 10% --mark-windows",
          "A third of the locations record no communication for a tenth of their time."},
         {"entrain drop traces.otf2 -o lossy --tail 0.3:0.1 --call Bcast",
          "A tenth of the locations end early, and no broadcast is recorded."}},
        exit_codes({{"0", "the archive is written"}}),
        {"--output", "--random", "--windows", "--tail", "--call"}};
    return k_help;
  }

  void declare(OptionSet& set) override {
    set.argument("ARCHIVE", archive_,
                 "An OTF2 archive: its anchor file, or the folder that holds one. It is never "
                 "changed.");
    add_output(set, output_, options_.force);
    declare_losses(set);
    common_.declare(set, "all locations, and kinds of records that do not occur");
    set.after_parsing([this, &set] { return check(set); });
  }

  int run() override {
    options_.threads = common_.threads;
    return run_and_report(common_, [&](Progress* progress) {
      return entrain::drop(archive_, output_, options_, progress);
    });
  }

 private:
  void declare_losses(OptionSet& set);

  [[nodiscard]] Result<void> check(const OptionSet& set) const {
    const bool any = set.given("--random") || set.given("--windows") || set.given("--tail") ||
                     set.given("--call");
    if (!any) {
      return fail(ErrorKind::usage,
                  "nothing would be lost; name --random, --windows, --tail or --call");
    }
    if (options_.mark_windows && !set.given("--windows")) {
      return fail(ErrorKind::usage, "--mark-windows needs --windows");
    }
    return {};
  }

  std::string archive_, output_;
  DropOptions options_;
  CommonOptions common_;
};

void Drop::declare_losses(OptionSet& set) {
  set.group("OPTIONS OF THE LOSS");
  set.value("--seed", options_.seed, k_any_count, "N",
            "Seed of the random numbers, 0 to 2^64-1. Use another one for another loss. Default: "
            "1.");
  set.value("--random", options_.random, parse_share, "SHARE",
            "Lose each record of a message or collective with this probability, 0 to 1, or 0% to "
            "100%. Use it for buffers that get lost and tracers that sample. Default: 0.");
  set.value("--windows", options_.windows, parse_stretch, "SHARE[:LOCATIONS]",
            "Lose all records of messages and collectives in one window of time per location. The "
            "window takes SHARE of the location's time and lies anywhere in it; LOCATIONS is the "
            "share of the communicating locations that get one, at least one. Use it for "
            "measurement that is switched off for a while. Default: none; if LOCATIONS is "
            "missing, a third.");
  set.flag("--mark-windows", options_.mark_windows,
           "Write MeasurementOnOff records at the ends of windows, as a tracer does that is "
           "switched off and on. Use it to test tools that read them. Default: no marks.");
  set.value("--tail", options_.tail, parse_stretch, "SHARE[:LOCATIONS]",
            "Lose the last SHARE of the time of some locations, with records of every kind. "
            "Regions that are open there are never left. Use it for full buffers and killed "
            "processes. Default: none; if LOCATIONS is missing, a third.");
  set.values(
      "--call", options_.calls, "NAME",
      "Lose all records of one kind of call. NAME is send, isend, recv, irecv or collective; a "
      "collective operation such as Allreduce; or a region such as MPI_Ssend, for the records "
      "written in it. It can be given more than once. Use it for filters. Default: no call.");
}

}  // namespace

std::unique_ptr<Verb> make_drop() { return std::make_unique<Drop>(); }

}  // namespace entrain::cli
