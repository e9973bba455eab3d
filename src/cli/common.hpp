// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include <entrain/progress.hpp>
#include <entrain/report.hpp>

#include "cli/output.hpp"
#include "cli/progress_bar.hpp"
#include "cli/verbs.hpp"
#include "report/report.hpp"

namespace entrain::cli {

inline constexpr const char* k_general = "GENERAL OPTIONS";  ///< heading of common options

/// Options that every verb has.
struct CommonOptions {
  bool json = false;
  bool quiet = false;
  bool verbose = false;
  unsigned threads = 0;  ///< 0: all cores

  /// Threads of this process: if several processes share a machine, one is the default.
  [[nodiscard]] unsigned own_threads() const {
    return threads == 0 && processes().size() > 1 ? 1 : threads;
  }

  /// How reports are shown.
  [[nodiscard]] report::Style style() const {
    report::Style style = output_style(verbose);
    style.brief = quiet;
    return style;
  }

  /// `rows` names the rows that -v adds to the report; "" if there are none.
  void declare(OptionSet& set, const std::string& rows);
};

/// Adds the argument ARCHIVE of the verbs that also take the files of one run, one by one.
void add_archive(OptionSet& set, std::vector<std::string>& target);

/// Adds -o, --output and --force of the verbs that write an archive.
void add_output(OptionSet& set, std::string& target, bool& force);
/// Adds -o, --output of the verbs that write a file, `what` begins its help.
void add_output_file(OptionSet& set, std::string& target, const std::string& type,
                     const std::string& what);
/// Adds --force of a verb that writes `what`, the value of its option as the help names it.
void add_force(OptionSet& set, bool& force, const std::string& what);

/// Adds --max-unpacked of the verbs that read packed files.
void add_max_unpacked(OptionSet& set, std::uint64_t& target);
/// Declares --columns.
void add_columns(OptionSet& set, std::string& target);

/// The exit code that tells a verdict; without one nothing was found.
int exit_code_of(Verdict verdict);
inline int exit_code_of(const std::optional<Judgement>& judgement) {
  return judgement ? exit_code_of(judgement->verdict) : k_exit_fine;
}

/// Does `work(Progress*)` under a progress bar, prints `text(report)` and returns the exit code:
/// `verdict(report)` if all went well.
template <class Work, class Verdict, class Text>
int run_and_show(const CommonOptions& common, Work work, Verdict verdict, Text text) {
  const auto result = [&] {
    ProgressBar progress(common.quiet || !speaks(), common.verbose && speaks());
    return work(static_cast<Progress*>(&progress));
  }();
  if (!common.quiet) tell_of_refused_threads();
  if (!result) return exit_code_of(result.error());
  return !speaks() || write_out(text(*result)) ? verdict(*result) : k_exit_failure;
}
/// The same with the text that the options ask for.
template <class Work, class Verdict>
int run_and_report(const CommonOptions& common, Work work, Verdict verdict) {
  return run_and_show(common, work, verdict, [&](const auto& report) {
    using report::json_text, report::to_text;  // or those beside the report, as in entrain::net
    return common.json ? json_text(report) : to_text(report, common.style());
  });
}
/// The same of work that is fine if it is done.
template <class Work>
int run_and_report(const CommonOptions& common, Work work) {
  return run_and_report(common, work, [](const auto&) { return k_exit_fine; });
}

/// Parses the arguments of a verb (`argv[0]` is its name), shows its help if asked for, else runs
/// it. Bad usage is one sentence on standard error and exit code 2. Returns the exit code.
int parse_and_run(Verb& verb, int argc, char** argv);

}  // namespace entrain::cli
