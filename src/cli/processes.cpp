// SPDX-License-Identifier: BSD-3-Clause
#include "cli/processes.hpp"

#include <atomic>

namespace entrain::cli {

namespace {

Solo alone;
Team* team = &alone;
/// Asked after the team has gone, too: by the thread that ends an interrupted run.
std::atomic<bool> first{true};

}  // namespace

Team& processes() { return *team; }
void set_processes(Team& all) {
  team = &all;
  first = all.rank() == 0;
}
bool speaks() { return first; }
void fall_silent() { first = false; }

}  // namespace entrain::cli
