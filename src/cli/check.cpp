// SPDX-License-Identifier: BSD-3-Clause
#include <entrain/entrain.hpp>

#include "base/try.hpp"
#include "cli/check_options.hpp"
#include "cli/report_file.hpp"
#include "engine/verbs.hpp"
#include "output/output.hpp"

namespace entrain::cli {
namespace {

class Check : public CheckingVerb {
 public:
  [[nodiscard]] const HelpText& help() const override {
    static const HelpText k_help{
        "check",
        "[OPTIONS] ARCHIVE...",
        "find violations: messages that arrive before they are sent",
        {"Reports where an effect has an earlier time than its cause, such as a receive before "
         "its send. It looks at every message, collective, thread operation and one-sided "
         "synchronisation. Per kind of operation it shows the number of edges (pairs of a send "
         "and a receive; a collective counts all of its pairs), how many are violated, how many "
         "are closer than the minimum latency, and the worst one with its place. Changes nothing.",
         "The report begins with a verdict: violations, clean, or unproven. It names the share of "
         "the recorded receives and calls of collectives that could be checked, and what could "
         "not."},
        {{"entrain check traces.otf2",
          "Are there violations in the times that an OTF2 reader "
          "shows?"},
         {"entrain check --presync none traces.otf2",
          "The same for the time stamps as they were recorded."},
         {"entrain check --mu 1e-6 --strict-latency traces.otf2",
          "Ends with 1 if a message took less than a microsecond."},
         {"entrain check --bounds traces.otf2", "How wrong can these times be?"},
         {"entrain check --json traces.otf2 | jq .violations",
          "The number of violations, for a script."}},
        exit_codes({{"0", "clean: enough could be checked, and nothing is violated"},
                    {"1",
                     "violations found (with --strict-latency: or edges closer than the "
                     "minimum latency)"},
                    {"3",
                     "unproven: nothing is violated, but too little could be checked (see "
                     "--min-coverage)"}}),
        {"--report", "--presync", "--mu", "--strict-latency", "--min-coverage", "--clock-domain",
         "--bounds", "--json", "--quiet", "--verbose"}};
    return k_help;
  }

  void declare(OptionSet& set) override {
    add_archive(set, archive_);
    report_file_.declare(set);
    declare_check(set,
                  "kinds of operation without edges, the worst edge also of kinds without "
                  "violations, and counters at 0");
  }

  [[nodiscard]] bool in_common() const override { return true; }

  int run() override {
    check_.threads = common_.own_threads();
    return run_and_report(
        common_, [&](Progress* progress) { return check(progress); },
        [](const CheckReport& report) { return exit_code_of(report.judgement.verdict); });
  }

 private:
  Result<CheckReport> check(Progress* progress) {
    TRY(check_distinct({{"--bounds-csv", bounds_csv_}, {"--report", report_file_.path}}));
    TRY(report_file_.prepare(rule()));
    TRY(prepare());
    const engine::Run run{
        .processes = processes(), .progress = progress, .page = report_file_.data()};
    TRY_ASSIGN(CheckReport report, engine::check(run, paths(), check_));
    TRY(write_bounds(report.bounds, report.resolution_hz));
    TRY(report_file_.write(report, "check"));
    return report;
  }

  ReportFile report_file_;
};

}  // namespace

std::unique_ptr<Verb> make_check() { return std::make_unique<Check>(); }

}  // namespace entrain::cli
