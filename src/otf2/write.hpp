// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <entrain/clock_map.hpp>
#include <entrain/options.hpp>
#include <entrain/progress.hpp>

#include "otf2/archive.hpp"

namespace entrain::otf2 {

/// What a new archive shall be, given an old one: same records, other times.
struct WritePlan {
  /// Per location: stored stamp -> new time. In rewrite mode the new times are stored; in overlay
  /// mode the knots become the location's ClockOffset records.
  std::vector<ClockMap> maps;
  /// Rewrite mode: ClockOffset records to store per location in place of the old ones. Empty (no
  /// location at all): old records are neutralised in place, offset 0.
  std::vector<std::vector<trace::ClockOffset>> clock_offsets;
  /// New time of a marker, given its location (k_none: not of one location) and its old time.
  /// Unset: markers stay.
  std::function<std::int64_t(LocationIndex, std::uint64_t)> marker_time;
  /// Smallest and largest new event time; ClockProperties is widened to hold both.
  std::int64_t first_time = 0;
  std::int64_t last_time = 0;
  /// Archive properties to set (replacing those of the same name).
  std::vector<trace::Property> properties;
  WriteMode mode = WriteMode::rewrite;
  LinkKind link = LinkKind::automatic;
  bool force = false;
  unsigned threads = 0;
  Progress* progress = nullptr;  ///< counts locations
};

struct WriteSummary {
  std::filesystem::path anchor;  ///< of the new archive, under its final name
  std::string link;  ///< "reflink", "symbolic link" or "hard link" for overlay, else empty
};

/// Refuses an output folder that exists already and may not be replaced, before any work is done.
Result<void> check_target(const std::filesystem::path& directory, bool force);

/// Writes the archive beside `directory` and renames it when it is complete; a failure leaves
/// neither a half archive nor a changed input. `directory` must not exist unless plan.force.
/// Errors: ErrorKind::output (no space, exists, permission), ErrorKind::input (damaged file),
/// ErrorKind::interrupted.
Result<WriteSummary> write_archive(const Archive& archive, const WritePlan& plan,
                                   const std::filesystem::path& directory);

}  // namespace entrain::otf2
