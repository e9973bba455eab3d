// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "trace/trace.hpp"
#include "verify/outline.hpp"
#include "verify/places.hpp"

namespace entrain::verify {

/// Orders the calls of each column of a process by begin; of calls begun at one stamp, requests
/// come first, then the call that ended first. Calls of one thread keep the stream order of their
/// begins. Sets Outline::Call::order and Outline::Column::operations. O(n log n) in the calls of
/// columns that are disordered or of several threads.
///
/// Example: thread 0 makes a barrier over [10, 20], thread 1 one over [15, 30] and one over [5, 8]
/// before it: the process made them in the order [5, 8], [10, 20], [15, 30].
void order_calls(const trace::Trace& trace, const Places& places, Outline& outline);

/// Sets Outline::Post::order and Outline::Channel::symbols. O(n log n) in the posts of disordered
/// channels.
void order_posts(const trace::Trace& trace, const Places& places, Outline& outline);

}  // namespace entrain::verify
