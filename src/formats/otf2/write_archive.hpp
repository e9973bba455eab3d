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
/// commit() of its folder, which only rank 0 calls, it vanishes.
struct StagedArchive {
  OutputFolder folder;
  std::vector<std::filesystem::path> anchors;  ///< paths in the folder, one for each archive
  LinkCounts links{};                   ///< to event files, of all processes; zeros for a rewrite
  std::uint64_t leftovers_removed = 0;  ///< folders of killed runs, the same at every process

  /// Path of the (first) anchor now, in the folder beside the final one, and after commit().
  [[nodiscard]] std::filesystem::path anchor() const { return folder.path() / anchors.front(); }
  [[nodiscard]] std::filesystem::path final_anchor() const {
    return folder.target() / anchors.front();
  }
};

/// Writes the archive into a folder beside `directory`, whose name commit() gives it. A failure
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

}  // namespace entrain::otf2
