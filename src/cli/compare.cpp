// SPDX-License-Identifier: BSD-3-Clause
#include <map>
#include <string>
#include <utility>

#include <fmt/core.h>

#include <entrain/entrain.hpp>

#include "base/text.hpp"
#include "base/try.hpp"
#include "cli/common.hpp"
#include "cli/values.hpp"
#include "engine/verbs.hpp"
#include "output/output.hpp"

namespace entrain::cli {
namespace {

/// For plots: one line per event.
std::string csv_of(const CompareReport& report) {
  const bool known = !report.truth.empty();
  std::string text = known ? "location,time_s,difference_s,a_error_s,b_error_s,a_between_s,"
                             "a_common_s,b_between_s,b_common_s\n"
                           : "location,time_s,difference_s\n";
  std::map<std::uint64_t, std::string> fields;
  for (const LocationDifference& location : report.locations) {
    fields[location.id] =
        csv_field(location.name.empty() ? fmt::format("{}", location.id) : location.name);
  }
  for (const ComparedEvent& event : report.events) {
    text +=
        fmt::format("{},{:.9f},{:.6e}", fields[event.location], event.time_s, event.difference_s);
    if (known) {
      text += fmt::format(",{:.6e},{:.6e},{:.6e},{:.6e},{:.6e},{:.6e}", event.a_error_s,
                          event.b_error_s, event.a_error_s - event.a_common_s, event.a_common_s,
                          event.b_error_s - event.b_common_s, event.b_common_s);
    }
    text += '\n';
  }
  return text;
}

class Compare : public Verb {
 public:
  [[nodiscard]] const HelpText& help() const override {
    static const HelpText k_help{
        "compare",
        "[OPTIONS] A B",
        "compare the times of two versions of one trace",
        {"Compares two versions of one trace, event for event. Shows root mean square, 99th "
         "percentile, largest and mean difference of B from A: over all events, over "
         "communication (sends, receives and ends of collectives of the application between the "
         "first and the last clock session: the figure to quote), and per location. Times are "
         "those that an OTF2 reader shows.",
         "A and B are of one format and hold the same events; of several files, the names are the "
         "same in both.",
         "With --truth, a third version with the true times, it also shows the errors of A and of "
         "B. One affine function common to all locations is removed before, since the choice of "
         "the master clock is free. The error over communication has two parts: between clocks, "
         "after removing at each moment the mean over all locations, and common to all, which no "
         "message shows. Judge a correction by the first part."},
        {{"entrain compare traces.otf2 corrected", "Shows what the correction changed."},
         {"entrain compare traces.otf2 corrected --truth truth",
          "Did it come closer to the truth?"},
         {"entrain compare rewrite overlay --tolerance 0",
          "Ends with 1 unless both have the same times."},
         {"entrain compare traces.otf2 corrected --truth truth --csv errors.csv",
          "Errors over time, to be plotted."}},
        exit_codes(
            {{"0", "compared"}, {"1", "the largest difference of B from A exceeds --tolerance"}}),
        {"--truth", "--tolerance", "--csv", "--points", "--json"}};
    return k_help;
  }

  void declare(OptionSet& set) override {
    set.argument("A", a_, "A trace of any format: a file, or a folder.");
    set.argument("B", b_, "Another version of the same trace, in the same format.");
    set.group("OPTIONS");
    set.path("--truth", truth_, "T",
             "A version of the same trace with the true times: shows the errors of A and B "
             "against it. Use it with traces of synth and distort, or of a better tracer, to see "
             "whether a correction came closer to the truth. Default: none.");
    set.value("--tolerance", tolerance_s_, number(0, 1e9, "seconds"), "SECONDS",
              "End with exit status 1 if the times of any event differ by more than this, "
              "seconds, 0 to 1e9. Use it when a script must notice a change. Default: no limit.");
    set.path("--csv", csv_, "FILE",
             "Write --points events per location to FILE, which must not exist: the time since "
             "the first event, the difference of B from A and, with --truth, the errors of both "
             "with their parts, all in seconds. Use it when you want to plot differences over "
             "time. Default: no file.");
    set.value("--points", points_, count(2, 1'000'000), "N",
              "How many events of each location --csv takes: the first, the last and others "
              "between them, 2 to 1000000. Use more when a plot hides short disturbances. "
              "Default: 1000.");
    set.flag("--raw", options_.raw_a,
             "Take the time stamps of A as they are stored, without its ClockOffset records. Use "
             "it when these are wrong. For OTF2 archives only. Default: with them.");
    add_max_unpacked(set, options_.max_unpacked_bytes);
    add_columns(set, options_.columns);
    common_.declare(set, "all locations instead of the ten that differ most");
    set.after_parsing([this, &set]() -> Result<void> {
      return csv_.empty() ? set.refuse({"--points"}, "is of no use without --csv") : Result<void>();
    });
  }

  int run() override {
    options_.threads = common_.threads;
    std::optional<std::filesystem::path> truth;
    if (!truth_.empty()) truth = truth_;
    return run_and_report(
        common_, [&](Progress* progress) { return compare(truth, progress); },
        [&](const CompareReport& report) {
          const bool exceeded = tolerance_s_ && !(report.all.max_s <= *tolerance_s_);
          return exceeded ? k_exit_violations : k_exit_fine;
        });
  }

 private:
  Result<CompareReport> compare(const std::optional<std::filesystem::path>& truth,
                                Progress* progress) {
    engine::Paths inputs{a_, b_};
    if (truth) inputs.push_back(*truth);
    const OutputRule rule = engine::output_rule(inputs);
    if (!csv_.empty()) {
      TRY(OutputFile::check(csv_, rule));
      options_.events_per_location = points_;
    }
    TRY_ASSIGN(CompareReport report, entrain::compare(a_, b_, truth, options_, progress));
    if (!csv_.empty()) TRY(write_output(csv_, csv_of(report), rule));
    return marked(std::move(report));
  }

  /// With a note for people on where the times of A come from.
  [[nodiscard]] CompareReport marked(CompareReport report) const {
    if (options_.raw_a && !common_.json) report.a += " (as stored)";
    return report;
  }

  std::string a_, b_, truth_, csv_;
  std::uint64_t points_ = 1000;
  std::optional<double> tolerance_s_;
  CompareOptions options_;
  CommonOptions common_;
};

}  // namespace

std::unique_ptr<Verb> make_compare() { return std::make_unique<Compare>(); }

}  // namespace entrain::cli
