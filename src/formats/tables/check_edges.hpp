// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <entrain/align.hpp>
#include <entrain/error.hpp>

namespace entrain::tables {

/// Refuses invalid clocks and edges: arrays of different lengths, clocks that do not exist,
/// stamps of 2^63 or more, delays below 0, ranges outside the members, two clocks of one name, two
/// begins of one clock in an instance. Errors: ErrorKind::usage, naming the element. O(edges), on
/// `threads` threads.
Result<void> check(const Clocks& clocks, const Edges& edges, unsigned threads);

}  // namespace entrain::tables
