// SPDX-License-Identifier: BSD-3-Clause
#include "session/load.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "base/executor.hpp"
#include "base/try.hpp"
#include "otf2/read/adopt.hpp"
#include "otf2/read/parallel_scan.hpp"

namespace entrain::session {

namespace {

/// Refuses a trace of which no event file exists although there should be some.
Result<void> check_anything_there(Team& processes, const trace::Trace& trace) {
  const auto missing = [](const auto& location) { return location.event_file_missing; };
  const auto present = [](const auto& location) { return location.event_count > 0; };
  const bool any_missing = std::any_of(trace.locations.begin(), trace.locations.end(), missing);
  const bool any_present = std::any_of(trace.locations.begin(), trace.locations.end(), present);
  if (processes.any(any_missing) && !processes.any(any_present)) {
    return fail(
        ErrorKind::input,
        fmt::format("none of the event files of {} exists; was the archive moved without them?",
                    trace.path));
  }
  return {};
}

}  // namespace

Result<LoadedTrace> load(const std::filesystem::path& path, unsigned threads, Progress* progress) {
  Workers workers(threads);
  return load(workers, path, progress);
}

Result<LoadedTrace> load(Workers& workers, const std::filesystem::path& path, Progress* progress,
                         std::span<const std::uint32_t> together) {
  Team& processes = workers.processes();
  LoadedTrace loaded;
  TRY_ASSIGN(loaded.archive, agree(processes, otf2::Archive::open(path)));
  loaded.trace.path = loaded.archive->path();
  loaded.trace.definitions = loaded.archive->definitions();
  TRY_ASSIGN(loaded.partition, workers.share_out(
                                   loaded.trace.definitions,
                                   [&](LocationIndex l) {
                                     std::error_code missing;
                                     const auto size = std::filesystem::file_size(
                                         loaded.archive->event_file(l), missing);
                                     return missing ? 0 : size;
                                   },
                                   together));
  const std::vector<LocationIndex> own = loaded.own(processes);
  loaded.trace.locations.resize(loaded.trace.definitions.locations.size());
  TRY_ASSIGN(std::vector<trace::LocationSkeleton> skeletons,
             agree(processes, otf2::scan_all(*loaded.archive, own, workers.threads(), progress)));
  for (std::size_t i = 0; i < own.size(); ++i) {
    loaded.trace.locations[own[i]] = std::move(skeletons[i]);
  }
  TRY(check_anything_there(processes, loaded.trace));
  return loaded;
}

Result<LoadedTrace> load_overlay(Workers& workers, const std::filesystem::path& path,
                                 LoadedTrace& original) {
  Team& processes = workers.processes();
  LoadedTrace loaded;
  TRY_ASSIGN(loaded.archive, agree(processes, otf2::Archive::open(path)));
  loaded.trace.path = loaded.archive->path();
  loaded.trace.definitions = loaded.archive->definitions();
  loaded.partition = original.partition;
  const std::vector<LocationIndex> own = original.own(processes);
  loaded.trace.locations.resize(loaded.trace.definitions.locations.size());
  TRY(processes.agree(
      parallel_for(workers.threads(), own.size(), [&](std::size_t i) -> Result<void> {
        const LocationIndex l = own[i];
        trace::LocationSkeleton skeleton = std::move(original.trace.locations[l]);
        TRY_ASSIGN(const bool adopted,
                   otf2::adopt_skeleton(*original.archive, *loaded.archive, l, skeleton));
        if (!adopted) {
          skeleton = {};
          TRY_ASSIGN(skeleton, loaded.archive->scan(l));
        }
        loaded.trace.locations[l] = std::move(skeleton);
        return {};
      })));
  return loaded;
}

}  // namespace entrain::session
