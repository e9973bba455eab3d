// SPDX-License-Identifier: BSD-3-Clause
#include "cli/export.hpp"

#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <entrain/entrain.hpp>

#include "cli/check_options.hpp"
#include "cli/common.hpp"
#include "cli/values.hpp"
#include "report/export_report.hpp"

namespace entrain::cli {
namespace {

constexpr const char* k_output_group = "OUTPUT OPTIONS";
constexpr double k_most_seconds = 1e9;

class Export : public Verb {
 public:
  [[nodiscard]] const HelpText& help() const override {
    static const HelpText k_help{
        "export",
        "[OPTIONS] ARCHIVE --to FORMAT -o FILE",
        "write a trace for viewers of other projects",
        {"Writes what happened, by the clocks as measured, for a viewer: calls on one track per "
         "location under its process; messages and collectives as arrows, of collectives from the "
         "begin that an end waited for last; and each violation as a mark with its margin and the "
         "least time that a message takes.",
         "A file for https://ui.perfetto.dev (--to perfetto) that would pass 200 MB gets only what "
         "is around the ten worst edges, unless --from or --until says what to write."},
        {{"entrain export traces.otf2 --to perfetto -o trace.pftrace",
          "Writes the whole trace, if it is not too large."},
         {"entrain export traces.otf2 --to perfetto -o begin.pftrace --from 0 --until 0.5",
          "Writes its first half second."}},
        exit_codes({{"0", "the file is written"}}),
        {"--to", "--output", "--from", "--until", "--force"}};
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
        [&](Progress* progress) { return export_trace(archive_, output_, options_, progress); },
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
    if (options_.from_s && options_.to_s && *options_.from_s > *options_.to_s) {
      return fail(ErrorKind::usage, "--from is later than --until, so nothing would be written");
    }
    return {};
  }

  std::string archive_, output_;
  ExportOptions options_;
  CheckArguments check_;
  CommonOptions common_;
};

void Export::declare_output(OptionSet& set) {
  static constexpr std::array<std::pair<const char*, ExportFormat>, 1> k_formats{
      {{"perfetto", ExportFormat::perfetto}}};
  add_value(
      set, "--to", options_.format,
      [](std::string_view text) { return parse_choice(text, k_formats); }, "FORMAT",
      "perfetto: for https://ui.perfetto.dev and its query language. Default: perfetto.")
      ->group(k_output_group);
  set.path("-o,--output", output_, "FILE",
           "The file to write; required. It appears when it is complete, and it must not exist yet "
           "(but see --force).")
      ->required()
      ->group(k_output_group);
  set.flag("--force", options_.force,
           "Replace FILE if it exists. Use it when a script writes the same file again and again. "
           "Default: refuse.")
      ->group(k_output_group);
}

void Export::declare_part(OptionSet& set) {
  const auto parse_time = [](std::string_view text) {
    return parse_number(text, 0, k_most_seconds, "seconds");
  };
  add_value(set, "--from", options_.from_s, parse_time, "SECONDS",
            "Write only what happened from this time on, counted from the first event. Calls that "
            "are open then begin there. --from 0 writes all of a large trace. Default: the "
            "beginning.")
      ->group(k_output_group);
  add_value(set, "--until", options_.to_s, parse_time, "SECONDS",
            "Write only what happened up to this time. Default: the end.")
      ->group(k_output_group);
}

}  // namespace

std::unique_ptr<Verb> make_export() { return std::make_unique<Export>(); }

}  // namespace entrain::cli
