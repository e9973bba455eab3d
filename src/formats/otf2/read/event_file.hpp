// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include <entrain/progress.hpp>

#include "base/ids.hpp"
#include "formats/otf2/read/read_definitions.hpp"
#include "trace/trace.hpp"

namespace entrain::otf2 {

/// An event file, and the definitions that give its ids a meaning. The definitions must outlive it.
struct EventFile {
  std::filesystem::path path;
  std::uint64_t chunk_size = 0;  ///< bytes, from the anchor
  const LocalDefinitions& local;
  const References& references;
  std::uint64_t location = 0;  ///< OTF2 id of the location in the files of its archive
};

/// Maps a local id to the position of the global definition, or k_none. Remembers the results for
/// ids below 65,536.
class Resolver {
 public:
  Resolver(const IdMapping& mapping, const References::Map& positions)
      : mapping_(mapping), positions_(positions) {}

  std::uint32_t operator()(std::uint32_t local) {
    if (local < memory_.size() && memory_[local] != k_unknown) return memory_[local];
    const std::uint64_t global = mapping_(local);
    const auto found = positions_.find(static_cast<std::uint32_t>(global));
    const std::uint32_t position =
        global > k_none || found == positions_.end() ? k_none : found->second;
    if (local < k_remembered) {
      if (local >= memory_.size()) memory_.resize(local + 1, k_unknown);
      memory_[local] = position;
    }
    return position;
  }

 private:
  static constexpr std::uint32_t k_unknown = k_none - 1;
  static constexpr std::uint32_t k_remembered = 1u << 16;
  const IdMapping& mapping_;
  const References::Map& positions_;
  std::vector<std::uint32_t> memory_;
};

/// Reads one event file into a skeleton (events, span, flushes, anomalies). A missing or truncated
/// file is an anomaly. `progress`, which may be null, counts bytes and may cancel. Errors:
/// ErrorKind::input for a damaged file, ErrorKind::interrupted.
Result<trace::LocationSkeleton> scan_events(const EventFile& file, Progress* progress);

/// Position in Definitions::regions of the innermost region that is open at the first event with
/// stamp `time`, or k_none. If that event is an Enter, its own region counts as open. Reads the
/// chunk with that event, found by bisection, and earlier ones as far as calls began there.
Result<std::uint32_t> find_region(const EventFile& file, std::uint64_t time);

/// See trace::EventReader::regions_around(). Ignores records before the chunk that holds the event,
/// or the one before it.
Result<std::vector<trace::RegionRecord>> find_regions_around(const EventFile& file,
                                                             std::uint64_t time, std::size_t most);

/// Calls `visit` for every Enter and Leave of an event file, in order. A missing file has none, a
/// truncated one those before its end. `progress`, which may be null, counts bytes and may cancel.
/// Errors: ErrorKind::input for a damaged file, ErrorKind::interrupted.
Result<void> read_regions(const EventFile& file, Progress* progress,
                          const trace::RegionVisitor& visit);

}  // namespace entrain::otf2
