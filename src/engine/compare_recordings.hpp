// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include <entrain/compare.hpp>
#include <entrain/error.hpp>

#include "formats/recording.hpp"

/// compare() of traces in other formats than OTF2.
namespace entrain::engine {

struct ComparedPaths {
  std::filesystem::path a, b;
  std::optional<std::filesystem::path> truth;
};

/// The recordings at the paths; all null for archives.
struct ComparedRecordings {
  std::unique_ptr<formats::Recording> a, b, truth;
};

/// Errors: those of open_recording(); ErrorKind::input for traces of several formats.
Result<ComparedRecordings> open_recordings(const ComparedPaths& paths, unsigned threads,
                                           std::uint64_t max_unpacked = 0);

/// entrain::compare() of recordings that are there; `truth` may be null. Keeps 8 bytes per time of
/// each. Errors: those of Recording::event_times(); ErrorKind::input for files that do not hold
/// the same events; ErrorKind::usage for options that need archives.
Result<CompareReport> compare_recordings(const ComparedRecordings& recordings,
                                         const CompareOptions& options);

}  // namespace entrain::engine
