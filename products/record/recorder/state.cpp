// SPDX-License-Identifier: BSD-3-Clause
#include "record/recorder/state.hpp"

namespace entrain::record {

std::atomic<State> state{State::idle};
thread_local ThreadState this_thread;

}  // namespace entrain::record
