// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace entrain::cli {

/// Makes SIGINT and SIGTERM a request to stop, see interrupted(). A run that has not ended half a
/// second later, since it waits for the system, is ended: what it has left unfinished is removed,
/// and its exit code is k_exit_interrupted. A second signal ends the process at once. Writing to a
/// closed pipe becomes an error of the write instead of a signal. Call it before other threads are
/// started.
void install_signal_handlers();

/// True once the user asked to stop. May be called from any thread.
bool interrupted();

}  // namespace entrain::cli
