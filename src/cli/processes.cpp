// SPDX-License-Identifier: BSD-3-Clause
#include "cli/processes.hpp"

namespace entrain::cli {

namespace {

Solo alone;
Team* team = &alone;

}  // namespace

Team& processes() { return *team; }
void set_processes(Team& all) { team = &all; }
bool speaks() { return team->rank() == 0; }

}  // namespace entrain::cli
