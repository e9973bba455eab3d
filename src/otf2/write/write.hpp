// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <entrain/clock_map.hpp>
#include <entrain/options.hpp>
#include <entrain/progress.hpp>

#include "base/staging.hpp"
#include "base/team.hpp"
#include "otf2/read/archive.hpp"
#include "trace/partition.hpp"

namespace entrain::otf2 {

/// What a new archive shall be, given an old one: same records, other times.
struct WritePlan {
  /// Per location: stored stamp -> new time. In rewrite mode the new times are stored; in overlay
  /// mode the knots become the location's ClockOffset records.
  std::vector<ClockMap> maps;
  /// Rewrite mode, per location: the map has knots inside buffer flushes for the events there, so
  /// that stop times must not move its segment as they do in a reader. Empty: of none.
  std::vector<bool> split_flushes;
  /// Rewrite mode: ClockOffset records to store per location in place of the old ones. Empty (no
  /// location at all): old records are neutralised in place, offset 0.
  std::vector<std::vector<trace::ClockOffset>> clock_offsets;
  /// New times in place of those that read_marker_times() gives, one for each. Empty: markers stay.
  std::vector<std::int64_t> marker_times;
  /// Smallest and largest new event time; ClockProperties is widened to hold both.
  std::int64_t first_time = 0;
  std::int64_t last_time = 0;
  /// Archive properties to set (replacing those of the same name).
  std::vector<trace::Property> properties;
  /// Properties whose names begin so are removed first; empty: none.
  std::string removed_properties;
  WriteMode mode = WriteMode::rewrite;
  LinkKind link = LinkKind::automatic;
  bool force = false;
  unsigned threads = 0;
  Progress* progress = nullptr;  ///< counts bytes of events, or, of an overlay, locations
  /// Processes that write together; null: this one alone. `maps` and `clock_offsets` are needed
  /// only for the locations of this process, all else is the same everywhere.
  Team* team = nullptr;
  const trace::Partition* partition = nullptr;  ///< with team: whose location is whose
};

/// Refuses an output folder that exists already and may not be replaced, before any work is done.
Result<void> check_target(const std::filesystem::path& directory, bool force);

/// A complete archive that has not got its final name yet. Destroyed without commit() it vanishes.
class StagedArchive {
 public:
  /// Of the archive as it lies now, beside its final place.
  [[nodiscard]] std::filesystem::path anchor() const { return directory_.path() / anchor_name_; }
  /// Of the archive after commit().
  [[nodiscard]] std::filesystem::path final_anchor() const {
    return directory_.target() / anchor_name_;
  }
  /// "reflink", "symbolic link" or "hard link" for overlay, else empty.
  [[nodiscard]] const std::string& link() const { return link_; }

  /// Gives the archive its final name; in a team, of the process that created it (rank 0) only.
  /// Errors: ErrorKind::output.
  Result<void> commit() { return directory_.commit(); }

 private:
  friend Result<StagedArchive> stage_archive(const Archive& archive, const WritePlan& plan,
                                             const std::filesystem::path& directory);
  StagedArchive(StagedDirectory directory, std::filesystem::path anchor_name, std::string link)
      : directory_(std::move(directory)),
        anchor_name_(std::move(anchor_name)),
        link_(std::move(link)) {}

  StagedDirectory directory_;
  std::filesystem::path anchor_name_;
  std::string link_;
};

/// Whether archives can be written from this one; not from a copy that the OTF2 library made.
/// Errors: ErrorKind::input with a sentence that says what can.
Result<void> check_writable(const Archive& archive);

/// Writes the archive beside `directory`, whose name it gets by commit(); a failure leaves neither
/// a half archive nor a changed input. `directory` must not exist unless plan.force. A team writes
/// in common: rank 0 the files of the whole archive, everybody those of his locations. Errors:
/// ErrorKind::output (no space, exists, permission), ErrorKind::input (damaged file),
/// ErrorKind::interrupted.
Result<StagedArchive> stage_archive(const Archive& archive, const WritePlan& plan,
                                    const std::filesystem::path& directory);

/// stage_archive() and commit(); returns the path of the new anchor file. Not for a team.
Result<std::filesystem::path> write_archive(const Archive& archive, const WritePlan& plan,
                                            const std::filesystem::path& directory);

}  // namespace entrain::otf2
