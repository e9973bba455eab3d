// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <entrain/error.hpp>

/// How a program is started under the recorder.
namespace entrain::cli {

using Command = std::vector<std::string>;
using Environment = std::vector<std::pair<std::string, std::string>>;

/// Folder of the recorder's libraries, found relative to this program.
std::string recorder_folder();

/// True if `command` begins with a program that starts others: mpirun, mpiexec, srun and their kin.
bool is_launcher(const Command& command);

/// "openmpi" or "mpich": the MPI of the launcher, otherwise of the program, otherwise of the
/// launcher around this process. If the program's MPI is another one, the name of its library.
/// Empty if the MPI is unknown.
std::optional<std::string> mpi_of(const Command& command);

/// "openmpi" or "mpich" if that is the MPI of the program, otherwise of the launcher, and not
/// `mpi`. Its recorder would crash the program.
std::optional<std::string> other_mpi(const Command& command, const std::string& mpi);

/// Path of the recorder for that MPI; without `mpi`, of the only one that was built. An error says
/// which ones were built.
Result<std::string> recorder_library(const std::optional<std::string>& mpi);

/// The command with the launcher's own options that give `variables` to the program, on other
/// machines too. If the launcher has no such options, sets them in the environment, which it passes
/// on.
Command with_variables(const Command& command, const Environment& variables);

/// Runs the command to its end. Its exit code; if a signal ended it, the same signal ends this
/// process. -1, with a sentence on standard error, if it cannot be started.
int run_and_wait(const Command& command);

/// Becomes the command. Returns 2, with a sentence on standard error, if that fails.
int become(const Command& command);

}  // namespace entrain::cli
