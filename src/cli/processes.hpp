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

}  // namespace entrain::cli
