// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/team.hpp"

namespace entrain::cli {

/// The processes of this run, this one alone until set_processes() says otherwise. Call that once,
/// before anything else; `team` must live as long as the program works.
Team& processes();
void set_processes(Team& team);

/// True in the process that speaks for all: the others print nothing.
bool speaks();
/// From now on this process does not speak: all is said, and only MPI has to end. A launcher that
/// saw another process end may stop this one then. From any thread.
void fall_silent();

}  // namespace entrain::cli
