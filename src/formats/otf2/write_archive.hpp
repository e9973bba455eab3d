// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <entrain/clock_map.hpp>
#include <entrain/error.hpp>
#include <entrain/options.hpp>
#include <entrain/progress.hpp>

#include "formats/otf2/read/archive.hpp"
#include "output/output.hpp"
#include "trace/share.hpp"

namespace entrain::otf2 {

/// How a new archive differs from an old one: the same records with other times, or some less.
struct WritePlan {
  /// Per location: stored stamp -> new time. In rewrite mode the new times are stored; in overlay
  /// mode the knots become the location's ClockOffset records.
  std::vector<ClockMap> maps;
  /// Rewrite mode, per location: the map has knots inside buffer flushes, for the events there.
  /// Stop times must then not move its segment (StopTimes::stand_alone). Empty: of no location.
  std::vector<bool> split_flushes{};
  /// Rewrite mode: ClockOffset records to store per location in place of the old ones. Empty (no
  /// location at all): old records are neutralised in place, offset 0.
  std::vector<std::vector<trace::ClockOffset>> clock_offsets{};
  /// Rewrite mode: writes the event file of a location to a path in a way of its own, with the
  /// times that events have, and returns the number of records. Called by several threads, once per
  /// location. Local definitions stay, and global ones name these numbers. Empty: all records are
  /// written, with new times.
  std::function<Result<std::uint64_t>(LocationIndex, const std::filesystem::path&)> copy_events{};
  /// New times in place of those that read_marker_times() gives, one for each. Empty: markers stay.
  std::vector<std::int64_t> marker_times{};
  /// Smallest and largest new event time; ClockProperties is widened to hold both.
  std::int64_t first_time = 0;
  std::int64_t last_time = 0;
  /// Archive properties to set (replacing those of the same name).
  std::vector<trace::Property> properties{};
  /// Properties whose names begin with this are removed first; empty: none.
  std::string removed_properties{};
  WriteMode mode = WriteMode::rewrite;
  LinkKind link = LinkKind::automatic;
  OutputRule rule;  ///< rule of the output
  unsigned threads = 0;
  Progress* progress = nullptr;  ///< counts bytes of events, in overlay mode locations
  /// The processes that write together, and this one's locations; null: this process writes alone.
  /// `maps` and `clock_offsets` are used for the locations of this process only, the other fields
  /// must be the same at all.
  const trace::Share* share = nullptr;
};

/// An archive of a run, and the folder for its copy in the folder for all of them.
struct PlacedArchive {
  const Archive& archive;
  std::filesystem::path place{};  ///< empty: in that folder itself
};

/// A complete archive, or several of one run, without the final name yet. Destroyed without
/// commit() it vanishes.
class StagedArchive {
 public:
  /// Path of the (first) anchor now, in the folder beside the final one.
  [[nodiscard]] std::filesystem::path anchor() const { return folder() / anchors_.front(); }
  /// Path of the (first) anchor after commit().
  [[nodiscard]] std::filesystem::path final_anchor() const {
    return directory_.target() / anchors_.front();
  }
  /// Paths of all anchors in the folder, one for each archive that was written.
  [[nodiscard]] const std::vector<std::filesystem::path>& anchors() const { return anchors_; }
  /// The folder now, and after commit().
  [[nodiscard]] const std::filesystem::path& folder() const { return directory_.path(); }
  [[nodiscard]] const std::filesystem::path& final_folder() const { return directory_.target(); }
  /// Numbers of links to event files, of all processes; zeros for a rewrite.
  [[nodiscard]] const LinkCounts& links() const { return links_; }
  /// Folders that killed runs had left and that were removed. The same at every process.
  [[nodiscard]] std::uint64_t leftovers_removed() const { return leftovers_removed_; }
  /// Waits until the archive is on the disk and gives it its final name. With several processes
  /// only rank 0 calls it. Errors: ErrorKind::output.
  Result<void> commit() { return directory_.commit(); }

 private:
  friend Result<StagedArchive> stage_archives(std::span<const PlacedArchive> archives,
                                              const WritePlan& plan,
                                              const std::filesystem::path& directory);
  StagedArchive(OutputFolder directory, std::vector<std::filesystem::path> anchors,
                const LinkCounts& links, std::uint64_t leftovers_removed)
      : directory_(std::move(directory)),
        anchors_(std::move(anchors)),
        links_(links),
        leftovers_removed_(leftovers_removed) {}

  OutputFolder directory_;
  std::vector<std::filesystem::path> anchors_;
  LinkCounts links_;
  std::uint64_t leftovers_removed_;
};

/// Writes the archive into a folder beside `directory`; commit() gives it that name. A failure
/// leaves neither a half archive nor a changed input. It keeps to plan.rule.
/// The processes of plan.share write together (collective): rank 0 writes the files of the whole
/// archive, every process those of its locations. Errors: ErrorKind::output (no space, exists,
/// permission), ErrorKind::input (damaged file), ErrorKind::interrupted.
Result<StagedArchive> stage_archive(const Archive& archive, const WritePlan& plan,
                                    const std::filesystem::path& directory);

/// The same for all archives of a run, into one folder. Maps and so on are those of all locations,
/// marker times follow each other.
Result<StagedArchive> stage_archives(std::span<const PlacedArchive> archives, const WritePlan& plan,
                                     const std::filesystem::path& directory);

/// stage_archive() and commit() by one process; returns the path of the new anchor file.
Result<std::filesystem::path> write_archive(const Archive& archive, const WritePlan& plan,
                                            const std::filesystem::path& directory);

}  // namespace entrain::otf2
