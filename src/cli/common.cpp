// SPDX-License-Identifier: BSD-3-Clause
#include "cli/common.hpp"

#include <fmt/core.h>

#include "base/trace_kinds.hpp"
#include "cli/values.hpp"

namespace entrain::cli {

void CommonOptions::declare(OptionSet& set, const std::string& rows) {
  set.group(k_general);
  set.flag("--json", json,
           "Print one JSON document on standard output and nothing else there: durations in "
           "seconds (_s), ticks as integers (_ticks), shares as fractions (_share). Use it "
           "when a program reads the report.");
  set.value("--threads", threads, count(0, 4096), "N",
            "Worker threads, 0 to 4096. 0 means all cores, or one thread for each process "
            "when an MPI launcher started several. Use it when others need the machine too. "
            "The result does not depend on it. Default: 0.");
  set.flag("-q,--quiet", quiet,
           "Print no progress bar and no messages but errors, and of the report of check, clocks, "
           "correct, align and stragglers the verdict alone. (The bar only ever shows on a "
           "terminal, and after the first second.)");
  const std::string also = rows.empty() ? "" : ", and show in the report " + rows;
  const std::string help = "Say on standard error how long each phase took" + also + ".";
  set.flag("-v,--verbose", verbose, help.c_str());
}

int exit_code_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::violations:
      return k_exit_violations;
    case Verdict::clean:
      return k_exit_fine;
    case Verdict::unproven:
      return k_exit_unproven;
  }
  return k_exit_unproven;
}

void add_archive(OptionSet& set, std::vector<std::string>& target, const char* help) {
  set.arguments(
      "ARCHIVE", target,
      fmt::format("{} A trace is {}. Several files, plain or packed (.gz, .zst), or several "
                  "archives are one run: name their folder, or one after the other; - is standard "
                  "input.",
                  help, k_trace_kinds));
}

void add_max_unpacked(OptionSet& set, std::uint64_t& target) {
  set.value(
      "--max-unpacked", target, parse_size, "BYTES",
      "The most bytes that a packed file (.json.gz, .json.zst) may hold when unpacked, e.g. 20G "
      "(powers of 1024). Files that hold more are refused. Use it when a file that you "
      "trust is refused, or when files come from strangers. Default: 64G, and beyond "
      "256M no more than 250 times the file's size.");
}

void add_columns(OptionSet& set, std::string& target) {
  set.path("--columns", target, "COLUMN=NAME,...",
           "Columns of a table of CSV by their names, or by their numbers from 1, those of times "
           "also with their unit (s, ms, us, ns): trace=TraceID,span=2,start=Begin[ms] of a table "
           "of spans, cause_clock=src,effect_clock=3 of one of edges. Use it for tables of other "
           "programs, if a column is not found, or a wrong one. Default: names as in the manual, "
           "or others such as TraceID, src and send_time, which the report shows.");
}

void add_output(OptionSet& set, std::string& target, bool& force) {
  set.group("OUTPUT OPTIONS");
  set.required_path(
      "-o,--output", target, "DIR",
      "The folder to write the new archive to; required. A single file of JSON becomes a file "
      "if this name ends in .json, .jsonl or .ndjson, one of Perfetto if it ends in .pftrace, "
      ".perfetto-trace or .proto, spans if it ends in .pb, .binpb, .otlp or .csv, packed as it is "
      "(.gz, .zst). It appears "
      "under this name only when it is complete, and it must not exist yet (but see --force).");
  add_force(set, force, "DIR");
}

void add_force(OptionSet& set, bool& force, const std::string& what) {
  set.group("OUTPUT OPTIONS");
  set.flag("--force", force,
           "Replace " + what +
               " if it is any result of entrain that nobody has changed, or empty. Use it when a "
               "script writes the same result again and again. Anything else is refused. Default: "
               "refuse.");
}

}  // namespace entrain::cli
