// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <new>

namespace entrain::cli {

/// Makes SIGINT and SIGTERM a request to stop, see interrupted(). A run that has not ended half a
/// second later, since it waits for the system, is ended: what it has left unfinished is removed,
/// and its exit code is k_exit_interrupted. A second signal ends the process at once. Writing to a
/// closed pipe becomes an error of the write instead of a signal. Call it before other threads are
/// started.
void install_signal_handlers();

/// True once the user asked to stop. May be called from any thread.
bool interrupted();

// Sentences for standard error that need neither memory nor locks, for runs that end on the spot.
// Where the result of the run is complete already, they say where it is.

/// "interrupted; nothing was written", from the process that speaks for all. Safe in a signal
/// handler.
void say_interrupted() noexcept;

/// "there is not enough memory for this trace", or the sentence that the exception has (see
/// NoRoomForArrays). From any process.
void say_no_memory(const std::bad_alloc& exception) noexcept;

/// Ends the process after an exception that nobody catches: prints a sentence, removes unfinished
/// outputs and returns k_exit_failure.
[[noreturn]] void end_by_exception() noexcept;

}  // namespace entrain::cli
