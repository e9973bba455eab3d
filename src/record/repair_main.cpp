// SPDX-License-Identifier: BSD-3-Clause
// entrain-record-repair DIR: what `entrain record --repair` runs. A program of its own, since the
// OTF2 library ends the process on some damaged archives.
#include <cstdio>

#include "record/repair.hpp"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("entrain: entrain-record-repair takes one folder\n", stderr);
    return 2;
  }
  entrain::record::RepairReport report;
  const std::string problem = entrain::record::repair_archive(argv[1], report);
  if (!problem.empty()) {
    std::fprintf(stderr, "entrain: %s\n", problem.c_str());
    return 2;
  }
  std::printf("repaired  %s/traces.otf2\n", argv[1]);
  if (report.truth) std::printf("and       %s.truth/traces.otf2\n", argv[1]);
  std::printf("processes %llu found, %llu missing\n",
              static_cast<unsigned long long>(report.processes),
              static_cast<unsigned long long>(report.missing));
  if (report.limited != 0) {
    std::printf("limited   %llu, whose recording ended at --max-size or --max-locations\n",
                static_cast<unsigned long long>(report.limited));
  }
  std::printf("events    %llu of %llu locations\n", static_cast<unsigned long long>(report.events),
              static_cast<unsigned long long>(report.locations));
  return 0;
}
