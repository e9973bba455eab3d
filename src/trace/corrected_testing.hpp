// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include <entrain/clock_map.hpp>

#include "trace/share.hpp"
#include "trace/testing.hpp"

/// Corrections of hand-made traces for unit tests.
namespace entrain::trace::testing {

/// The map that adds an offset.
inline ClockMap shifted(std::int64_t offset) {
  return ClockMap::from_knots({{0, offset}, {1, offset}}).value();
}

/// A trace in one process, with its maps before and after a correction.
struct Corrected {
  explicit Corrected(const TraceBuilder& builder)
      : trace(builder.trace()),
        partition(undivided(trace.definitions)),
        measured(trace.locations.size(), shifted(100)),
        corrected(trace.locations.size(), shifted(130)) {}

  [[nodiscard]] Share share() { return {solo, partition, trace}; }

  Solo solo;
  Trace trace;
  Partition partition;
  std::vector<ClockMap> measured, corrected;
};

/// Two locations; the first one has events at 1000 and 3000, the second one at 2000.
inline TraceBuilder two_locations() {
  TraceBuilder b(2);
  b.add(0, 1000, EventKind::send);
  b.add(0, 3000, EventKind::send);
  b.add(1, 2000, EventKind::recv);
  return b;
}

}  // namespace entrain::trace::testing
