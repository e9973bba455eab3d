// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "formats/otf2/read/archive.hpp"
#include "formats/otf2/read/scan_events.hpp"

namespace entrain::otf2 {

/// Scans locations of an archive: first the small event files, each by one thread, then the large
/// ones in parts, so that a single large file keeps all threads busy.
class ParallelScan {
 public:
  /// A file of 2 * `part_bytes` or more counts as large. `threads` 0: all cores. `progress`, which
  /// may be null, counts bytes and may cancel.
  ParallelScan(const Archive& archive, std::span<const LocationIndex> locations, unsigned threads,
               Progress* progress, std::uint64_t part_bytes);

  /// Returns one skeleton per entry of `locations`, in that order. Errors: those of Archive::scan,
  /// for any of the locations; ErrorKind::interrupted.
  Result<std::vector<trace::LocationSkeleton>> run();

 private:
  /// A large event file.
  struct LargeFile {
    LargeFile(std::size_t i, std::uint64_t b) : index(i), bytes(b) {}
    std::size_t index;  ///< position in locations_
    std::uint64_t bytes;
    std::vector<ScannedPart> parts;
    std::atomic<std::size_t> parts_left{0};
  };
  struct Task {
    LargeFile* file;
    std::size_t part;
  };

  Result<void> scan_location(std::size_t index);
  [[nodiscard]] std::vector<Task> split_large_files();
  Result<void> scan_part_of(const Task& task);

  const Archive& archive_;
  std::span<const LocationIndex> locations_;
  unsigned threads_;
  Progress* progress_;
  std::uint64_t part_bytes_;
  std::vector<trace::LocationSkeleton> skeletons_;  ///< one for each of locations_
  std::mutex mutex_;
  std::vector<std::unique_ptr<LargeFile>> large_files_;
};

}  // namespace entrain::otf2
