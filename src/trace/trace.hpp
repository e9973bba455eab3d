// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <entrain/error.hpp>
#include <entrain/progress.hpp>

#include "trace/definitions.hpp"
#include "trace/skeleton.hpp"

namespace entrain::trace {

/// A call of a region begins or ends.
struct RegionRecord {
  std::uint64_t time = 0;         ///< stored stamp
  std::uint32_t region = k_none;  ///< position in Definitions::regions, or k_none
  bool enter = false;             ///< else the call ends
};

/// Takes the begins and ends of calls, one after the other.
using RegionVisitor = std::function<void(const RegionRecord&)>;

/// The events of a trace on disk. Reads only; const functions may be called from any thread.
class EventReader {
 public:
  virtual ~EventReader() = default;

  /// Path of the file that stands for the trace, for messages.
  [[nodiscard]] virtual const std::string& path() const = 0;

  [[nodiscard]] virtual const Definitions& definitions() const = 0;

  /// Bytes that a scan of these locations reads; where the size is unknown, 0. O(locations).
  [[nodiscard]] virtual std::uint64_t event_bytes(
      std::span<const LocationIndex> locations) const = 0;

  /// Reads these locations from begin to end on `threads` threads (0: all cores). One skeleton per
  /// location named, in that order. Counts their event_bytes() in `progress`, which may be null.
  /// Errors: ErrorKind::input for a file that cannot be opened or whose structure is damaged;
  /// ErrorKind::interrupted. A missing or truncated file is a counted anomaly of the result
  /// instead.
  [[nodiscard]] virtual Result<std::vector<LocationSkeleton>> scan_all(
      std::span<const LocationIndex> locations, unsigned threads, Progress* progress) const = 0;

  /// Name of the innermost region that is open at the first event with stamp `time`, or "". Errors:
  /// ErrorKind::input for a file that cannot be read any more.
  [[nodiscard]] virtual Result<std::string> region_at(LocationIndex location,
                                                      std::uint64_t time) const = 0;

  /// Begins and ends of calls around stamp `time`, in stream order: at most `most` before it and
  /// `most` from it on. Fewer, or none, where the format does not know them or the file ends.
  /// Errors: those of region_at().
  [[nodiscard]] virtual Result<std::vector<RegionRecord>> regions_around(LocationIndex location,
                                                                         std::uint64_t time,
                                                                         std::size_t most) const {
    static_cast<void>(location), static_cast<void>(time), static_cast<void>(most);
    return std::vector<RegionRecord>();
  }

  /// Calls `visit` for every begin and end of a call in this location, in stream order; for none
  /// where the format does not know them. Memory does not grow with their number. Counts
  /// event_bytes() in `progress`, which may be null. Errors: as of scan_all().
  [[nodiscard]] virtual Result<void> visit_regions(LocationIndex location, Progress* progress,
                                                   const RegionVisitor& visit) const {
    static_cast<void>(location), static_cast<void>(progress), static_cast<void>(visit);
    return {};
  }

  /// Refuses files that have changed since they were first read. Errors: ErrorKind::input, naming
  /// the file.
  [[nodiscard]] virtual Result<void> check_unchanged() const { return {}; }
};

/// A trace in memory: definitions, and the skeleton of every location.
struct Trace {
  std::string path;
  Definitions definitions;
  std::vector<LocationSkeleton> locations;  ///< one per Definitions::locations
};

}  // namespace entrain::trace
