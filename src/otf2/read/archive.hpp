// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <entrain/progress.hpp>

#include "otf2/format/anchor.hpp"
#include "otf2/library/source.hpp"
#include "otf2/read/definitions.hpp"
#include "trace/trace.hpp"

namespace entrain::otf2 {

/// An OTF2 archive on disk, opened for reading by our own scanner: nothing of it is trusted. Only
/// what the scanner does not know goes through the OTF2 library first, in a process of its own
/// (LibraryCopy); the files below are those of the copy then. Const functions may be called from
/// any thread.
class Archive final : public trace::Source {
 public:
  /// `path` is an anchor file or the folder that holds exactly one. Reads anchor and global
  /// definitions. Errors: ErrorKind::input with a sentence that names the file.
  static Result<std::unique_ptr<Archive>> open(const std::filesystem::path& path);

  const std::string& path() const override { return anchor_path_; }
  const trace::Definitions& definitions() const override { return definitions_; }
  Result<trace::LocationSkeleton> scan(LocationIndex location) const override;
  /// As above, and gives up with ErrorKind::interrupted when `progress`, which may be null, says
  /// so.
  Result<trace::LocationSkeleton> scan(LocationIndex location, Progress* progress) const;
  /// Scans these locations on `threads` threads (0: all cores) and counts their bytes in
  /// `progress`, which may be null; large event files are shared among the threads. One skeleton
  /// per location named, in that order. Errors: as of scan(), and ErrorKind::interrupted.
  Result<std::vector<trace::LocationSkeleton>> scan_all(std::span<const LocationIndex> locations,
                                                        unsigned threads, Progress* progress) const;
  std::string region_at(LocationIndex location, std::uint64_t time) const override;

  [[nodiscard]] const Anchor& anchor() const { return anchor_; }
  /// True if what is read is a copy that the OTF2 library made: fit for reading, but it lacks what
  /// the correction does not need, so that no corrected archive can be written from it.
  [[nodiscard]] bool is_copy() const { return copy_ != nullptr; }
  /// Folder that holds the anchor, and the archive's name ("traces" for traces.otf2).
  [[nodiscard]] std::filesystem::path folder() const;
  [[nodiscard]] std::string name() const;
  /// Paths of the files of one location; they need not exist.
  [[nodiscard]] std::filesystem::path event_file(LocationIndex location) const;
  /// Bytes of the event files of these locations; nothing for one that cannot be looked at.
  [[nodiscard]] std::uint64_t event_bytes(std::span<const LocationIndex> locations) const;
  [[nodiscard]] std::filesystem::path definition_file(LocationIndex location) const;
  [[nodiscard]] std::filesystem::path snapshot_file(LocationIndex location) const;
  [[nodiscard]] std::filesystem::path global_definition_file() const;
  [[nodiscard]] std::filesystem::path marker_file() const;
  [[nodiscard]] std::filesystem::path thumbnail_file(std::uint32_t number) const;

 private:
  friend class ParallelScan;
  Archive() = default;
  [[nodiscard]] std::filesystem::path location_file(LocationIndex location,
                                                    const char* extension) const;
  /// Adds to a scanned skeleton what does not stand in the event file.
  void complete(trace::LocationSkeleton& skeleton, LocationIndex location,
                LocalDefinitions& local) const;

  std::string anchor_path_;
  std::unique_ptr<LibraryCopy> copy_;
  Anchor anchor_;
  trace::Definitions definitions_;
  References references_;
};

}  // namespace entrain::otf2
