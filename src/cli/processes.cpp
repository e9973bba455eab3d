// SPDX-License-Identifier: BSD-3-Clause
#include "cli/processes.hpp"

#include <atomic>

namespace entrain::cli {

namespace {

Solo alone;
Team* all_processes = &alone;
/// Asked after the team has gone, too: by the thread that ends an interrupted run.
std::atomic<bool> is_first{true};

}  // namespace

Team& processes() { return *all_processes; }
void set_processes(Team& all) {
  all_processes = &all;
  is_first = all.rank() == 0;
}
bool speaks() { return is_first; }
void fall_silent() { is_first = false; }

}  // namespace entrain::cli
