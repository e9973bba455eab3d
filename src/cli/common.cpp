// SPDX-License-Identifier: BSD-3-Clause
#include "cli/common.hpp"

#include <fmt/core.h>
#include <fmt/format.h>

#include "base/trace_kinds.hpp"
#include "cli/same_start.hpp"
#include "cli/values.hpp"

namespace entrain::cli {

void CommonOptions::declare(OptionSet& set, const std::string& rows) {
  set.group(k_general);
  set.flag("--json", json,
           "Print one JSON document on standard output, and nothing else there: durations in "
           "seconds (_s), ticks as integers (_ticks), shares as fractions (_share). Use it when a "
           "program reads the report.");
  set.value("--threads", threads, count(0, 4096), "N",
            "Worker threads, 0 to 4096. 0 means all cores, or one thread for each process "
            "when an MPI launcher started several. Use it when others need the machine too. "
            "The result does not depend on it. Default: 0.");
  set.flag("-q,--quiet", quiet,
           "Print no progress bar and no messages but errors; of the report of check, clocks, "
           "correct, align and stragglers only the verdict. The bar shows on a terminal only, "
           "after the first second.");
  const std::string also = rows.empty() ? "" : ", and show in the report " + rows;
  const std::string help = "Say on standard error how long each phase took" + also + ".";
  set.flag("-v,--verbose", verbose, help.c_str());
}

int exit_code_of(Verdict verdict) {
  return verdict == Verdict::violations ? k_exit_violations
         : verdict == Verdict::clean    ? k_exit_fine
                                        : k_exit_unproven;
}

void add_archive(OptionSet& set, std::vector<std::string>& target) {
  set.arguments(
      "ARCHIVE", target,
      fmt::format("The trace, which is never changed: {}. Several files or archives of one run "
                  "are one trace: name their folder, or one after the other. Files may be packed "
                  "(.gz, .zst); - is standard input, for all but OTF2, "
                  "CTF, and Paraver where clocks are corrected.",
                  k_trace_kinds));
}

void add_max_unpacked(OptionSet& set, std::uint64_t& target) {
  set.value(
      "--max-unpacked", target, parse_size, "BYTES",
      "Largest unpacked size of a packed file (.gz, .zst), bytes, e.g. 20G (powers of 1024). "
      "Larger ones are refused. Use it when a file that you trust is refused, or when files come "
      "from strangers. Default: 64G, and beyond 256M no more than 250 times the file's size.");
}

void add_columns(OptionSet& set, std::string& target) {
  set.path("--columns", target, "COLUMN=NAME,...",
           "Names the columns of a CSV table: each by its name or its number from 1, columns of "
           "times also with their unit (s, ms, us, ns). Of spans: "
           "trace=TraceID,span=2,start=Begin[ms]; of edges: cause_clock=src,effect_clock=3. Use "
           "it if a column is not found, or the wrong one is. Default: the names of the manual, "
           "or usual ones such as TraceID, src and send_time; the report shows them.");
}

void add_output(OptionSet& set, std::string& target, bool& force) {
  set.group("OUTPUT OPTIONS");
  set.required_path(
      "-o,--output", target, "DIR",
      "The folder to write the result to; required. The result of a single file is a file if this "
      "name ends as the format does: .json, .jsonl, .ndjson (JSON), .pftrace, .perfetto-trace, "
      ".proto (Perfetto), .pb, .binpb, .otlp, .csv (spans), each with .gz or .zst if the input is "
      "packed so. It appears under this name only when it is complete, and it must not exist yet "
      "(but see --force).");
  add_force(set, force, "DIR");
}

void add_output_file(OptionSet& set, std::string& target, const std::string& type,
                     const std::string& what) {
  set.group("OUTPUT OPTIONS");
  set.required_path("-o,--output", target, type,
                    what +
                        " to write; required. It appears when it is complete, and it must not "
                        "exist yet (but see --force).");
}

void add_force(OptionSet& set, bool& force, const std::string& what) {
  set.group("OUTPUT OPTIONS");
  set.flag("--force", force,
           "Replace " + what +
               " if it is an unchanged result of entrain, or empty. Use it when a script writes "
               "the same result again and again. Anything else is refused. Default: refuse.");
}

int parse_and_run(Verb& verb, int argc, char** argv) {
  const HelpText& help = verb.help();
  OptionSet set(help);
  verb.declare(set);
  if (const auto parsed = set.parse(argc, argv); !parsed) {
    complain(fmt::format("{} (see entrain {} --help)", parsed.error().message, help.verb));
    return k_exit_failure;
  }
  if (set.asked_for_help()) return write_out(set.help_page()) ? k_exit_fine : k_exit_failure;
  if (!speaks() && !verb.in_common()) return k_exit_fine;
  if (verb.in_common() && set.has_relative_path()) {
    if (const auto same = check_same_folder(processes()); !same) return exit_code_of(same.error());
  }
  return verb.run();
}

}  // namespace entrain::cli
