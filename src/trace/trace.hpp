// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include <entrain/error.hpp>

#include "trace/definitions.hpp"
#include "trace/skeleton.hpp"

namespace entrain::trace {

/// What a trace format implements. Reads only; const functions may be called from any thread.
class Source {
 public:
  virtual ~Source() = default;

  /// Path of the anchor file, for messages.
  [[nodiscard]] virtual const std::string& path() const = 0;

  [[nodiscard]] virtual const Definitions& definitions() const = 0;

  /// Reads the files of one location from begin to end. Errors: ErrorKind::input for a file that
  /// cannot be opened or whose structure is damaged; a missing or truncated file is a counted
  /// anomaly of the result instead.
  [[nodiscard]] virtual Result<LocationSkeleton> scan(LocationIndex location) const = 0;

  /// Name of the innermost region that is open at the first event with stamp `time`, or "".
  [[nodiscard]] virtual std::string region_at(LocationIndex location, std::uint64_t time) const = 0;
};

/// A trace in memory: definitions, and the skeleton of every location.
struct Trace {
  std::string path;
  Definitions definitions;
  std::vector<LocationSkeleton> locations;  ///< one per Definitions::locations
};

}  // namespace entrain::trace
