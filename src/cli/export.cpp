// SPDX-License-Identifier: BSD-3-Clause
#include "cli/export.hpp"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <entrain/entrain.hpp>

#include "cli/check_options.hpp"
#include "cli/common.hpp"
#include "cli/values.hpp"
#include "engine/verbs.hpp"
#include "report/export_report.hpp"

namespace entrain::cli {
namespace {

constexpr const char* k_export_group = "OUTPUT OPTIONS";
constexpr double k_most_seconds = 1e9;
constexpr std::uint64_t k_most_windows = 1'000'000;

/// Seconds from "10ms" and the like.
Result<double> parse_span(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, double>, 4> k_units{
      {{"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}, {"s", 1}}};
  for (const auto& [unit, seconds] : k_units) {
    if (!text.ends_with(unit)) continue;
    const auto number =
        parse_number(text.substr(0, text.size() - unit.size()), 0, k_most_seconds, "");
    if (number) return *number * seconds;
  }
  return fail(ErrorKind::usage, "is not a number with s, ms, us or ns after it, such as 10ms");
}

class Export : public Verb {
 public:
  [[nodiscard]] const HelpText& help() const override {
    static const HelpText k_help{
        "export",
        "[OPTIONS] ARCHIVE... -o FILE",
        "write a trace for viewers of other projects",
        {"Writes what happened, by the clocks as measured, for a viewer: calls on one track per "
         "location under its process; messages and collectives as arrows, of collectives from the "
         "begin that an end waited for last; and each violation as a mark with its margin and the "
         "least time that a message takes.",
         "A file for https://ui.perfetto.dev (--to perfetto) that would pass 200 MB gets only what "
         "is around the ten worst edges, unless --from or --until says what to write."},
        {{"entrain export traces.otf2 --to perfetto -o trace.pftrace",
          "Writes the whole trace, if it is not too large."},
         {"entrain export traces.otf2 --both -o both.pftrace",
          "Also shows the times that correct would write."},
         {"entrain export traces.otf2 -o begin.pftrace --from 0 --until 0.5",
          "Writes its first half second."}},
        exit_codes({{"0", "the file is written"}}),
        {"--to", "--output", "--both", "--around", "--from"}};
    return k_help;
  }

  void declare(OptionSet& set) override {
    add_archive(set, "ARCHIVE", archive_,
                "OTF2 anchor file, or the folder that holds one. It is never touched.");
    declare_output(set);
    declare_part(set);
    check_.declare(set);
    common_.declare(set, "");
    set.after_parsing([this, &set] { return refuse_useless_options(set); });
  }

  int run() override {
    options_.check = check_.options;
    options_.check.threads = common_.threads;
    return run_and_report(
        common_,
        [&](Progress* progress) {
          return engine::export_trace(engine::paths_of(archive_), output_, options_, progress);
        },
        [](const ExportReport&) { return k_exit_fine; });
  }

 private:
  void declare_output(OptionSet& set);
  void declare_part(OptionSet& set);

  [[nodiscard]] Result<void> refuse_useless_options(const OptionSet& set) const {
    for (const char* name : {"--bounds", "--bounds-csv", "--max-rate-ppm"}) {
      if (!set.given(name)) continue;
      return fail(ErrorKind::usage,
                  fmt::format("{} is of no use here: a picture has no bounds; see check", name));
    }
    if (set.given("--around") && (options_.from_s || options_.to_s)) {
      return fail(ErrorKind::usage,
                  "--around chooses the parts itself; leave out --from and --until");
    }
    if (set.given("--window") && options_.format == ExportFormat::csv) {
      return fail(ErrorKind::usage,
                  "--window is of no use here: a table of edges is written whole");
    }
    if (set.given("--window") && (options_.from_s || options_.to_s)) {
      return fail(ErrorKind::usage,
                  "--window is of no use beside --from and --until; see --around");
    }
    if (output_ == "-") {
      return fail(ErrorKind::usage,
                  "-o - names no file: a picture is not written to standard "
                  "output; name a file, or ./-");
    }
    if (options_.from_s && options_.to_s && *options_.from_s > *options_.to_s) {
      return fail(ErrorKind::usage, "--from is later than --until, so nothing would be written");
    }
    return {};
  }

  std::vector<std::string> archive_;
  std::string output_;
  ExportOptions options_;
  CheckArguments check_;
  CommonOptions common_;
};

void Export::declare_output(OptionSet& set) {
  static constexpr std::array<std::pair<const char*, ExportFormat>, 3> k_formats{
      {{"perfetto", ExportFormat::perfetto},
       {"chrome", ExportFormat::chrome},
       {"csv", ExportFormat::csv}}};
  add_value(
      set, "--to", options_.format,
      [](std::string_view text) { return parse_choice(text, k_formats); }, "FORMAT",
      "perfetto: for https://ui.perfetto.dev and its query language; chrome: JSON that "
      "chrome://tracing and many other viewers read, several times as large; csv: no picture, but "
      "a row per edge with its margin, the table that entrain edges writes. Default: perfetto.")
      ->group(k_export_group);
  set.path("-o,--output", output_, "FILE",
           "The file to write; required. It appears when it is complete, and it must not exist yet "
           "(but see --force).")
      ->required()
      ->group(k_export_group);
  set.flag("--both", options_.both,
           "Show everything twice, as two groups of tracks: by the clocks as measured, and by the "
           "times that entrain correct would write. Use it to see what a correction does. ARCHIVE "
           "is the one before the correction. Default: as measured only.")
      ->group(k_export_group);
  add_force(set, options_.force, "FILE");
}

void Export::declare_part(OptionSet& set) {
  const auto parse_time = [](std::string_view text) {
    return parse_number(text, 0, k_most_seconds, "seconds");
  };
  add_value(set, "--from", options_.from_s, parse_time, "SECONDS",
            "Write only what happened from this time on, counted from the first event. Calls that "
            "are open then begin there. --from 0 writes all of a large trace. Default: the "
            "beginning.")
      ->group(k_export_group);
  add_value(
      set, "--around", options_.around,
      [](std::string_view text) -> Result<std::uint32_t> {
        constexpr std::string_view k_worst = "worst:";
        if (text.starts_with(k_worst)) {
          const auto count = parse_count(text.substr(k_worst.size()), 1, k_most_windows);
          if (count) return static_cast<std::uint32_t>(*count);
        }
        return fail(ErrorKind::usage,
                    fmt::format("is not worst:N with N from 1 to {}", k_most_windows));
      },
      "worst:N",
      "Write only what is around the N worst edges: those that come earliest, measured against the "
      "least time that they take. Default: worst:10 where the file would pass 200 MB, else "
      "everything.")
      ->group(k_export_group);
  add_value(set, "--window", options_.window_s, parse_span, "TIME",
            "How much is written around each end of an edge, half of it before: a number with s, "
            "ms, us or ns after it. Default: 10ms.")
      ->group(k_export_group);
  add_value(set, "--until", options_.to_s, parse_time, "SECONDS",
            "Write only what happened up to this time. Default: the end.")
      ->group(k_export_group);
}

}  // namespace

std::unique_ptr<Verb> make_export() { return std::make_unique<Export>(); }

}  // namespace entrain::cli
