// SPDX-License-Identifier: BSD-3-Clause

#include <entrain/entrain.hpp>

#include "base/try.hpp"
#include "cli/check_options.hpp"
#include "cli/report_file.hpp"
#include "engine/verbs.hpp"
#include "output/output.hpp"

namespace entrain::cli {
namespace {

class Correct : public CheckingVerb {
 public:
  [[nodiscard]] const HelpText& help() const override;

  void declare(OptionSet& set) override {
    add_archive(set, archive_);
    declare_output(set);
    method_.declare(set);
    declare_check(set,
                  "kinds of operation without edges, the worst edge also of kinds without "
                  "violations, and counters at 0");
    set.after_parsing([this, &set] { return refuse_useless_options(set); });
  }

  [[nodiscard]] bool in_common() const override { return true; }

  int run() override {
    options_.verify = !no_verify_;
    return run_and_report(
        common_, [&](Progress* progress) { return correct(progress); },
        [](const CorrectReport& report) { return exit_code_of(report.judgement); });
  }

 private:
  void declare_output(OptionSet& set);
  /// Refuses options that others make meaningless.
  Result<void> refuse_useless_options(const OptionSet& set) const;

  Result<CorrectReport> correct(Progress* progress) {
    TRY(check_distinct(
        {{"--bounds-csv", bounds_csv_}, {"--report", report_file_.path}, {"-o", output_}}));
    TRY(report_file_.prepare(rule()));
    TRY(prepare());
    options_.check = check_;
    options_.check.threads = common_.own_threads();
    const engine::Run run{
        .processes = processes(), .progress = progress, .page = report_file_.data()};
    TRY_ASSIGN(CorrectReport report, engine::correct(run, paths(), output_, options_));
    TRY(write_bounds(report.bounds, report.before.resolution_hz));
    TRY(report_file_.write(report, "correct"));
    return report;
  }

  std::string output_;
  MethodArguments method_;
  CorrectOptions& options_ = method_.options;
  bool no_verify_ = false;
  ReportFile report_file_;
};

const HelpText& Correct::help() const {
  static const HelpText k_help{
      "correct",
      "[OPTIONS] ARCHIVE... -o DIR",
      "write a copy with repaired times",
      {"Writes a copy of a trace, in its format, with repaired times, so that no receive is "
       "earlier than its send. Violations that remain are reported. A trace without violations "
       "keeps its times.",
       "The first step bends the clocks as smoothly as messages and collectives demand "
       "(--presync). Locations that share a clock are bent together (--clock-domain).",
       "In the second step the controlled logical clock removes the violations that are left. A "
       "receive that is earlier than its send moves after it. Later events of its location move "
       "along and return to their own time slowly (forward amortization), and earlier ones are "
       "stretched smoothly towards the jump (backward amortization). Apart from one tick of "
       "rounding this step only moves times forward; the order of the events of a location stays.",
       "Then independent code reads the copy back and checks it. The report shows, per kind of "
       "operation, violations before and after, how far events moved, and by how much local "
       "intervals changed. It begins with a verdict on the copy: violations, clean, or unproven.",
       "Several machines (mpirun -n 4 entrain correct ...) share the work: each reads and writes "
       "the files of its own locations. The result is the same, bit for bit."},
      {{"entrain correct traces.otf2 -o corrected",
        "Corrects a trace; the result is corrected/traces.otf2."},
       {"entrain correct traces.otf2 -o corrected --mode overlay",
        "The same without copying the events: takes megabytes, however large the trace is."},
       {"entrain correct traces.otf2 -o corrected --gamma 0.99 --mu 1e-6",
        "With a fixed gamma and a minimum latency of one microsecond."},
       {"mpirun -n 16 entrain correct traces.otf2 -o corrected",
        "On 16 processes of one or more machines with a common file system."}},
      exit_codes({{"0",
                   "the archive is written and clean: enough could be checked, and nothing is "
                   "violated; or it was not to be checked (--no-verify)"},
                  {"1",
                   "the archive is written, but violations remain (with --strict-latency: or "
                   "edges closer than the minimum latency)"},
                  {"3",
                   "the archive is written and nothing in it is violated, but too little could be "
                   "checked (see --min-coverage)"}}),
      {"--output", "--force", "--report", "--mode", "--mark-offsets", "--presync", "--clock-domain",
       "--mu", "--bounds", "--json", "--quiet", "--verbose"}};
  return k_help;
}

Result<void> Correct::refuse_useless_options(const OptionSet& set) const {
  if (options_.mode != WriteMode::overlay) {
    TRY(set.refuse({"--link"}, "needs --mode overlay: a rewrite links nothing"));
  }
  return method_.refuse_useless(set);
}

void Correct::declare_output(OptionSet& set) {
  add_output(set, output_, options_.force);
  set.choice("--mode", options_.mode, named_up_to(WriteMode::overlay),
             "How the correction is stored. rewrite: a self-contained archive; every time "
             "stamp is replaced and every other byte stays. overlay: the event files of "
             "ARCHIVE are linked, and the correction is stored beside them as ClockOffset "
             "records, which every tool built on the OTF2 library applies; of a training run, the "
             "files are linked, and one shift per file is stored as perfetto_manifest.json, which "
             "Perfetto applies. Use overlay when disk space or time is short and ARCHIVE stays in "
             "its place. Default: rewrite.");
  set.choice("--link", options_.link,
             {{"auto", LinkKind::automatic},
              {"reflink", LinkKind::reflink},
              {"symbolic", LinkKind::symbolic},
              {"hard", LinkKind::hard}},
             "How overlay links event files; only with --mode overlay. reflink: copy on "
             "write, if the file system can; ARCHIVE may be deleted. symbolic: relative "
             "symbolic links; ARCHIVE must stay. hard: hard links; ARCHIVE may be deleted, "
             "but must not be written to. auto: the first of these that works; the report "
             "names it. Use it when ARCHIVE will be moved or deleted. Default: auto.");
  set.flag("--mark-offsets", options_.mark_offsets,
           "Give each span that moves an attribute entrain.offset_ns: what was added to its "
           "begin, ns. For spans of services only. Use it to see in a viewer what was moved. "
           "Default: only times change.");
  set.flag("--no-verify", no_verify_,
           "Do not read the new archive back to check it. The report then neither says "
           "what changed nor has a verdict. Use it when time is short and you run check "
           "later. Default: check it.");
  report_file_.declare(set);
}

}  // namespace

std::unique_ptr<Verb> make_correct() { return std::make_unique<Correct>(); }

}  // namespace entrain::cli
