// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include <entrain/distort.hpp>
#include <entrain/error.hpp>
#include <entrain/info.hpp>
#include <entrain/options.hpp>
#include <entrain/report.hpp>

#include "base/team.hpp"
#include "engine/timeline.hpp"
#include "engine/verbs.hpp"
#include "formats/recording.hpp"
#include "output/output.hpp"

/// The verbs for traces in other formats than OTF2.
namespace entrain::engine {

/// The files of such a trace: a file of JSON, or those of a folder that holds no OTF2 anchor, in
/// order of their names. Empty: the path is to be read as an OTF2 archive. Errors: ErrorKind::input
/// for a folder that cannot be read.
Result<std::vector<std::filesystem::path>> recording_files(const std::filesystem::path& path);

/// A trace in another format; null if there is one path and recording_files() has none for it.
/// `max_unpacked`: as CheckOptions::max_unpacked_bytes.
/// Errors: those of chrome::read(); ErrorKind::usage for several paths of which one is no such
/// file.
Result<std::unique_ptr<formats::Recording>> open_recording(const Paths& paths, unsigned threads,
                                                           std::uint64_t max_unpacked = 0);

/// The same for the processes of a run, of which several share no such trace. Collective: they get
/// the same errors, also where one of them sees other files. Errors: those above; ErrorKind::usage.
Result<std::unique_ptr<formats::Recording>> open_recording(Team& processes, const Paths& paths,
                                                           unsigned threads,
                                                           std::uint64_t max_unpacked = 0);

/// inspect() of such a trace.
ArchiveInfo inspect_recording(const formats::Recording& recording);

/// Where a verb writes to.
struct Target {
  const std::filesystem::path& path;
  const OutputRule& rule;
};

/// check(), correct(), plan_correction() and distort() of such a trace. A plan has the times before
/// they are rounded to what the files can hold. Errors: ErrorKind::usage for options that concern
/// archives only.
Result<CheckReport> check_recording(const Run& run, const formats::Recording& recording,
                                    const CheckOptions& options);
Result<CorrectReport> correct_recording(const Run& run, const formats::Recording& recording,
                                        const Target& output, const CorrectOptions& options);
Result<CorrectReport> plan_recording(const Run& run, const formats::Recording& recording,
                                     const CorrectOptions& options);
Result<DistortReport> distort_recording(const formats::Recording& recording, const Target& output,
                                        const DistortOptions& options, Progress* progress);

/// A recording's edges, and how they stand by the clocks as measured.
struct TimedRecording {
  Timeline timeline;  ///< timeline of Purpose::bounds; its locations are the clocks
  CheckReport counts;
};

/// Prepares a recording for tables and pictures. Errors: ErrorKind::usage for options that concern
/// archives only; those of find_timeline().
Result<TimedRecording> time_recording(const Run& run, const formats::Recording& recording,
                                      const CheckOptions& options);

/// The maps that correct_recording() writes with, per clock. Errors: those of plan_recording().
Result<std::vector<ClockMap>> corrected_maps(const Run& run, const formats::Recording& recording,
                                             const CorrectOptions& options);

}  // namespace entrain::engine
