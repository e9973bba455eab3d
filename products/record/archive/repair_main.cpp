// SPDX-License-Identifier: BSD-3-Clause
// entrain-record-repair DIR: what `entrain record --repair` runs. A program of its own, since the
// OTF2 library ends the process on some damaged archives.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "base/printable.hpp"
#include "record/archive/folders.hpp"
#include "record/archive/repair.hpp"

using namespace entrain::record;

namespace {

volatile bool out_of_memory = false;

/// Notes what std::bad_alloc will say; it may be thrown where nothing can catch it.
void note_lack_of_memory() {
  out_of_memory = true;
  throw std::bad_alloc();
}

/// Ends the program with a sentence, without memory: the OTF2 library lets no exception through,
/// and without memory none may be left.
[[noreturn]] void end_by_exception() {
  constexpr std::string_view k_no_memory =
      "entrain: not enough memory to repair; the recording stays as it is\n";
  constexpr std::string_view k_other =
      "entrain: the repair failed inside; the recording stays as it is; please report it\n";
  const std::string_view text = out_of_memory || errno == ENOMEM ? k_no_memory : k_other;
  static_cast<void>(::write(STDERR_FILENO, text.data(), text.size()) == 0);
  ::_exit(2);
}

/// Comes before the statics of libraries: these need memory, too.
[[gnu::constructor(101)]] void catch_the_uncaught() {
  std::set_terminate(end_by_exception);
  std::set_new_handler(note_lack_of_memory);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("entrain: entrain-record-repair takes one folder\n", stderr);
    return 2;
  }
  RepairReport report;
  const std::string problem = repair_archive(argv[1], report);
  if (!problem.empty()) {
    std::fprintf(stderr, "entrain: %s\n", entrain::presentable(problem).c_str());
    return 2;
  }
  const std::string directory = argv[1];
  const std::string table = directory + '/' + k_clock_processes;
  std::printf("repaired  %s\n",
              entrain::printable(report.clocks_only ? table : anchor_path(directory)).c_str());
  if (report.truth)
    std::printf("and       %s\n", entrain::printable(anchor_path(truth_folder(directory))).c_str());
  std::printf("processes %llu found, %llu missing\n",
              static_cast<unsigned long long>(report.processes),
              static_cast<unsigned long long>(report.missing));
  if (report.limited != 0) {
    std::printf("limited   %llu, whose recording ended at --max-size or --max-locations\n",
                static_cast<unsigned long long>(report.limited));
  }
  for (const std::string& what : report.left_out)
    std::printf("left out  %s\n", entrain::printable(what).c_str());
  if (report.clocks_only) return 0;
  std::printf("events    %llu of %llu locations\n", static_cast<unsigned long long>(report.events),
              static_cast<unsigned long long>(report.locations));
  return 0;
}
