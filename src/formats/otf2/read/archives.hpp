// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "formats/otf2/read/archive.hpp"

namespace entrain::otf2 {

/// The anchors that paths stand for: folders for all of theirs. A path that cannot be told stays.
std::vector<std::filesystem::path> anchors_of(std::span<const std::filesystem::path> paths);

/// The OTF2 archives of one run, of which tracers such as lo2s write one per machine: one trace.
/// Mostly there is one archive. Their definitions follow each other: locations, regions and
/// communicators of each archive are its own. Const functions may be called from any thread.
class Archives final : public trace::EventReader {
 public:
  /// Each path is an anchor file or a folder, all of whose anchors count. Errors: those of
  /// Archive::open(); ErrorKind::input for clocks of different resolution, and for archives of one
  /// name.
  static Result<std::unique_ptr<Archives>> open(std::span<const std::filesystem::path> paths);

  [[nodiscard]] std::span<const std::unique_ptr<Archive>> all() const { return archives_; }
  /// The archive that a location is in.
  [[nodiscard]] const Archive& of(LocationIndex location) const;
  /// Folder of an archive of all() in a folder for all of them: empty where their anchors have
  /// different names and stand side by side.
  [[nodiscard]] std::filesystem::path place_of(std::size_t archive) const;

  const std::string& path() const override { return path_; }
  const trace::Definitions& definitions() const override { return archives_[0]->definitions(); }
  [[nodiscard]] std::uint64_t event_bytes(std::span<const LocationIndex> locations) const override;
  Result<std::vector<trace::LocationSkeleton>> scan_all(std::span<const LocationIndex> locations,
                                                        unsigned threads,
                                                        Progress* progress) const override;
  Result<std::string> region_at(LocationIndex location, std::uint64_t time) const override;
  Result<std::vector<trace::RegionRecord>> regions_around(LocationIndex location,
                                                          std::uint64_t time,
                                                          std::size_t most) const override;
  Result<void> visit_regions(LocationIndex location, Progress* progress,
                             const trace::RegionVisitor& visit) const override;
  /// See Archive::note_files().
  void note_files(std::span<const LocationIndex> locations, unsigned threads);
  [[nodiscard]] Result<void> check_unchanged() const override;

 private:
  Archives() = default;

  std::vector<std::unique_ptr<Archive>> archives_;
  std::vector<std::string> names_;  ///< folders of the archives; empty: the anchors' names differ
  std::string path_;
};

}  // namespace entrain::otf2
