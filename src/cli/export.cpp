// SPDX-License-Identifier: BSD-3-Clause
#include <string>
#include <vector>

#include <entrain/entrain.hpp>

#include "base/try.hpp"
#include "cli/check_options.hpp"
#include "cli/values.hpp"
#include "engine/verbs.hpp"

namespace entrain::cli {
namespace {

class Export : public CheckingVerb {
 public:
  [[nodiscard]] const HelpText& help() const override {
    static const HelpText k_help{
        "export",
        "[OPTIONS] ARCHIVE... -o FILE",
        "write a trace for Perfetto and other viewers",
        {"Writes a trace for a viewer, by the clocks as measured or, with --correct, as "
         "corrected. Calls lie on one track per location, messages are arrows, and each end of a "
         "collective has an arrow from the begin that it waited for last. A violation has a mark "
         "with its margin and the minimum latency.",
         "A file for https://ui.perfetto.dev (--to perfetto) that would pass 200 MB gets only what "
         "is around the ten worst edges, unless --from or --until says what to write."},
        {{"entrain export traces.otf2 --to perfetto -o trace.pftrace",
          "Writes the whole trace, if it is not too large."},
         {"entrain export traces.otf2 --both -o both.pftrace",
          "Shows everything twice: as measured, and as correct would write it."},
         {"entrain export traces.otf2 --correct -o right.pftrace",
          "Shows only the times that "
          "correct would write."},
         {"entrain export traces.otf2 -o begin.pftrace --from 0 --until 0.5",
          "Writes the first half second."}},
        exit_codes({{"0", "the file is written"}}),
        {"--to", "--output", "--correct", "--both", "--around", "--from"}};
    return k_help;
  }

  void declare(OptionSet& set) override {
    add_archive(set, archive_);
    declare_output(set);
    declare_part(set);
    declare_check(set, "");
    set.after_parsing([this, &set] {
      if (!set.given("--to")) options_.format = format_of_name();
      return refuse_useless_options(set);
    });
  }

  int run() override {
    options_.check = check_;
    options_.check.threads = common_.threads;
    return run_and_report(common_, [&](Progress* progress) {
      return engine::export_trace(paths(), output_, options_, progress);
    });
  }

 private:
  void declare_output(OptionSet& set);
  void declare_part(OptionSet& set);

  /// The format that the name of the file tells.
  [[nodiscard]] ExportFormat format_of_name() const {
    if (output_.ends_with(".json")) return ExportFormat::chrome;
    return output_.ends_with(".csv") ? ExportFormat::csv : ExportFormat::perfetto;
  }

  [[nodiscard]] Result<void> refuse_useless_options(const OptionSet& set) const {
    TRY(set.refuse({"--bounds", "--bounds-csv", "--max-rate-ppm"},
                   "is of no use here: a picture has no bounds; see check"));
    if (options_.format == ExportFormat::csv) {
      TRY(set.refuse({"--window"}, "is of no use here: a table of edges is written whole"));
    }
    if (options_.corrected) TRY(set.refuse({"--both"}, "shows the corrected times too"));
    if (options_.from_s || options_.to_s) {
      TRY(set.refuse({"--around"}, "chooses the parts itself; leave out --from and --until"));
      TRY(set.refuse({"--window"}, "is of no use beside --from and --until; see --around"));
    }
    if (options_.from_s && options_.to_s && *options_.from_s > *options_.to_s) {
      return fail(ErrorKind::usage, "--from is later than --until, so nothing would be written");
    }
    return {};
  }

  std::string output_;
  ExportOptions options_;
};

void Export::declare_output(OptionSet& set) {
  set.group("OUTPUT OPTIONS");
  set.choice(
      "--to", options_.format, named_up_to(ExportFormat::csv),
      "Format of FILE. perfetto: for https://ui.perfetto.dev and its query language. chrome: JSON "
      "that chrome://tracing and many other viewers read, several times as large. csv: no "
      "picture, but a row per edge with its margin, as entrain edges writes it. Default: chrome "
      "if FILE ends in .json, csv if it ends in .csv, else perfetto.");
  add_output_file(set, output_, "FILE", "The file");
  set.flag("--both", options_.both,
           "Show everything twice, as two groups of tracks: by the clocks as measured, and by the "
           "times that entrain correct would write. Use it to see what a correction does. ARCHIVE "
           "must be the trace before a correction. Default: as measured only.");
  set.flag("--correct", options_.corrected,
           "Show the times that entrain correct would write, in place of those as measured. "
           "ARCHIVE must be the trace before a correction. Not with --both. Default: the times as "
           "measured.");
  add_force(set, options_.force, "FILE");
}

void Export::declare_part(OptionSet& set) {
  set.value("--from", options_.from_s, number(0, 1e9, "seconds"), "SECONDS",
            "Write only what happened from this time on, seconds after the first event. Calls "
            "that are open then begin there. --from 0 writes all of a large trace. Default: the "
            "beginning.");
  set.value(
      "--around", options_.around,
      [](std::string_view text) -> Result<std::uint32_t> {
        constexpr std::string_view k_worst = "worst:";
        constexpr std::uint64_t k_most_windows = 1'000'000;
        if (text.starts_with(k_worst)) {
          const auto count = parse_count(text.substr(k_worst.size()), 1, k_most_windows);
          if (count) return static_cast<std::uint32_t>(*count);
        }
        return usage_error("is not worst:N with N from 1 to {}", k_most_windows);
      },
      "worst:N",
      "Write only what is around the N worst edges: those with the least slack (effect minus "
      "cause minus minimum latency). Default: worst:10 where the file would pass 200 MB, else "
      "everything.");
  set.value("--window", options_.window_s, parse_duration, "TIME",
            "With --around: how much is written around each end of an edge, half of it before: a "
            "number with s, ms, us or ns after it. Default: 10ms.");
  set.value("--until", options_.to_s, number(0, 1e9, "seconds"), "SECONDS",
            "Write only what happened up to this time, seconds after the first event. Default: "
            "the end.");
}

}  // namespace

std::unique_ptr<Verb> make_export() { return std::make_unique<Export>(); }

}  // namespace entrain::cli
