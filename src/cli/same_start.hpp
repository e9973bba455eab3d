// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include <entrain/error.hpp>

#include "base/team.hpp"

namespace entrain::cli {

// Processes of a run that were started with different words would do different work and wait for
// each other for ever. So they compare first.

/// Returns the words that this process was started with: name and version of the tool, the
/// environment that counts as an option, and the arguments.
std::vector<std::string> words_of_start(int argc, char** argv);

/// Refuses a run of whose processes one was started with other words than the first one. The
/// sentence names the first such process and what differs. Collective; the same result everywhere.
/// Errors: ErrorKind::usage.
Result<void> check_same_start(Team& team, const std::vector<std::string>& words);

/// The same for the working folder, for runs that were given relative paths.
Result<void> check_same_folder(Team& team);

}  // namespace entrain::cli
