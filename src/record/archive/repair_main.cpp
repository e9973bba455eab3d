// SPDX-License-Identifier: BSD-3-Clause
// entrain-record-repair DIR: what `entrain record --repair` runs. A program of its own, since the
// OTF2 library ends the process on some damaged archives.
#include <cstdio>
#include <string>

#include "record/archive/folders.hpp"
#include "record/archive/repair.hpp"

using namespace entrain::record;

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("entrain: entrain-record-repair takes one folder\n", stderr);
    return 2;
  }
  RepairReport report;
  const std::string problem = repair_archive(argv[1], report);
  if (!problem.empty()) {
    std::fprintf(stderr, "entrain: %s\n", problem.c_str());
    return 2;
  }
  const std::string directory = argv[1];
  std::printf("repaired  %s\n", anchor_path(directory).c_str());
  if (report.truth) std::printf("and       %s\n", anchor_path(truth_folder(directory)).c_str());
  std::printf("processes %llu found, %llu missing\n",
              static_cast<unsigned long long>(report.processes),
              static_cast<unsigned long long>(report.missing));
  if (report.limited != 0) {
    std::printf("limited   %llu, whose recording ended at --max-size or --max-locations\n",
                static_cast<unsigned long long>(report.limited));
  }
  for (const std::string& what : report.left_out) std::printf("left out  %s\n", what.c_str());
  std::printf("events    %llu of %llu locations\n", static_cast<unsigned long long>(report.events),
              static_cast<unsigned long long>(report.locations));
  return 0;
}
