// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <entrain/entrain.hpp>

#include "base/try.hpp"
#include "base/unfinished.hpp"
#include "cli/check_options.hpp"
#include "cli/report_file.hpp"
#include "engine/verbs.hpp"
#include "output/output.hpp"
#include "report/parts.hpp"
#include "report/report.hpp"

namespace entrain::cli {
namespace {

class ReportVerb : public CheckingVerb {
 public:
  [[nodiscard]] const HelpText& help() const override {
    static const HelpText k_help{
        "report",
        "[OPTIONS] ARCHIVE [-o FILE.html]",
        "write a page for a browser: clocks and violations",
        {"Checks a trace, computes what correct would change, and shows both on one page for a "
         "browser: the verdict, the offset of every clock over time, violations by pair of "
         "processes, margins, the clocks in a table, the worst edges with the calls around them, "
         "whom others wait for in collectives, and what was left out. Changes nothing, and writes "
         "no archive.",
         "Of training runs and spans of services, calls are shown around the ten worst edges "
         "only. Views without content are left out.",
         "The page is a single file that needs no network. The data are inside, as JSON, for "
         "other programs.",
         "Bounds are always proved, as with --bounds: the page shows the interval in which each "
         "clock lies.",
         "Prints the verdict on the trace as it is, and ends with its exit code."},
        {{"entrain report traces.otf2", "Writes report.html."},
         {"entrain report traces.otf2 -o run42.html --max-rate-ppm 20",
          "With smaller bounds, for clocks whose rates are known."}},
        exit_codes({{"0", "the page is written; the trace is clean"},
                    {"1", "the page is written; the trace has violations"},
                    {"3", "the page is written; too little could be checked"}}),
        {"--output", "--force", "--max-rate-ppm", "--presync", "--clock-domain"}};
    return k_help;
  }

  void declare(OptionSet& set) override {
    add_archive(set, archive_);
    set.group("OUTPUT OPTIONS");
    set.path("-o,--output", file_.path, "FILE.html",
             "The file to write the page to; it must not exist yet (but see --force). Default: "
             "report.html.");
    add_force(set, force_, "FILE.html");
    declare_check(set, "kinds of operation without edges, and counters at 0");
  }

  [[nodiscard]] bool in_common() const override { return true; }

  int run() override {
    return run_and_show(
        common_, [&](Progress* progress) { return work(progress); },
        [](const CorrectReport& report) { return exit_code_of(report.before.judgement.verdict); },
        [this](const CorrectReport& report) {
          return common_.json ? report::json_text(report) : text_of(report);
        });
  }

 private:
  [[nodiscard]] std::string text_of(const CorrectReport& report) const {
    const report::Style style = common_.style();
    return fmt::format("{}{}\nAs entrain correct would write it:\n{}\nThe page: {}\n",
                       report::verdict_text(report.before, style),
                       report::paragraph(report::clocks_sentence(report.clocks), style),
                       report::verdict_text(report, style), file_.path);
  }

  Result<CorrectReport> work(Progress* progress) {
    TRY(check_distinct({{"--bounds-csv", bounds_csv_}, {"-o", file_.path}}));
    TRY(file_.prepare(engine::output_rule(paths(), check_, force_)));
    TRY(prepare());
    CorrectOptions options;
    options.check = check_;
    options.check.bounds.wanted = true;
    options.check.threads = common_.own_threads();
    const engine::Run run{.processes = processes(), .progress = progress, .page = file_.data()};
    TRY_ASSIGN(CorrectReport report, engine::plan_correction(run, paths(), options));
    TRY(write_bounds(report.bounds, report.before.resolution_hz));
    TRY(file_.write(report, "report"));
    note_result(file_.path);
    return report;
  }

  bool force_ = false;
  ReportFile file_{"report.html"};
};

}  // namespace

std::unique_ptr<Verb> make_report() { return std::make_unique<ReportVerb>(); }

}  // namespace entrain::cli
