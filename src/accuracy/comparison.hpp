// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <entrain/compare.hpp>
#include <entrain/error.hpp>

#include "accuracy/sums.hpp"
#include "base/ids.hpp"

/// The part of compare that depends on no format.
namespace entrain::accuracy {

/// Traces of one run that hold the same events.
class Compared {
 public:
  struct Location {
    std::uint64_t id = 0;
    std::string name{};  ///< see LocationDifference::name
  };

  Compared() = default;
  Compared(const Compared&) = delete;
  Compared& operator=(const Compared&) = delete;
  virtual ~Compared() = default;

  /// All vectors of the result have the same size, but for a truth that is not there. Called by
  /// several threads, and several times for a location. Errors: ErrorKind::input for events that
  /// are not the same.
  [[nodiscard]] virtual Result<LocationTimes> times(LocationIndex location) const = 0;

  std::string a, b, truth;  ///< paths; `truth` empty: there is none
  std::vector<Location> locations;
  std::uint64_t resolution_hz = 0;
  std::int64_t begin = 0, end = 0;  ///< range of the times of the truth, ticks
  SpanOrigin span_source = SpanOrigin::whole_trace;
};

/// entrain::compare() of traces that were opened. Errors: those of Compared::times().
Result<CompareReport> compare(const Compared& traces, const CompareOptions& options);

}  // namespace entrain::accuracy
