// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "cli/verb.hpp"

namespace entrain::cli {

/// Parses the arguments of a verb (`argv[0]` is its name), shows its help if asked for, else runs
/// it. Bad usage is one sentence on standard error and exit code 2. Returns the exit code.
int parse_and_run(Verb& verb, int argc, char** argv);

}  // namespace entrain::cli
