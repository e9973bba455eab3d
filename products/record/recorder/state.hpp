// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>

namespace entrain::record {

class Location;

/// idle: before MPI_Init, or nothing is to be recorded. measuring: another tracer records the
/// events, and only clocks are measured. over: after MPI_Finalize or an abort.
enum class State : int { idle, recording, measuring, over };
extern std::atomic<State> state;

/// True once this process has reached a limit of its settings: no thread records anything from its
/// next call on.
inline std::atomic<bool> limit_reached{false};

/// True once a failing call may return to the program. The program has asked for that on some
/// communicator, and others inherit it from that one.
inline std::atomic<bool> errors_return{false};

/// The recorder's knowledge of one thread.
struct ThreadState {
  Location* location = nullptr;
  int depth = 0;  ///< calls of MPI, or of the recorder, that the thread is inside of
};
extern thread_local ThreadState this_thread __attribute__((tls_model("initial-exec")));

}  // namespace entrain::record
