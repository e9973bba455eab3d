// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/source/load.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "base/try.hpp"
#include "formats/otf2/source/same_files.hpp"

namespace entrain::otf2 {

using session::LoadedTrace;
using session::Workers;

namespace {

/// Refuses a trace none of whose event files exists although there should be some.
Result<void> check_anything_there(Team& processes, const trace::Trace& trace) {
  const auto missing = [](const auto& location) { return location.event_file_missing; };
  const auto present = [](const auto& location) { return location.event_count > 0; };
  const bool any_missing = std::any_of(trace.locations.begin(), trace.locations.end(), missing);
  const bool any_present = std::any_of(trace.locations.begin(), trace.locations.end(), present);
  if (processes.any(any_missing) && !processes.any(any_present)) {
    return no_event_files(trace.path);
  }
  return {};
}

/// Reads these locations, which belong to this process. Collective.
Result<void> scan(Workers& workers, LoadedTrace& loaded,
                  const std::vector<LocationIndex>& locations, Progress* progress) {
  static_cast<Archive&>(*loaded.reader).note_files(locations, workers.threads());
  TRY_ASSIGN(
      std::vector<trace::LocationSkeleton> skeletons,
      agree(workers.processes(), loaded.reader->scan_all(locations, workers.threads(), progress)));
  for (std::size_t i = 0; i < locations.size(); ++i) {
    loaded.trace.locations[locations[i]] = std::move(skeletons[i]);
  }
  return {};
}

}  // namespace

tl::unexpected<Error> no_event_files(const std::string& path) {
  return fail(
      ErrorKind::input,
      fmt::format("none of the event files of {} exists; was the archive moved without them?",
                  path));
}

Result<LoadedTrace> load(const std::filesystem::path& path, unsigned threads, Progress* progress) {
  Workers workers(threads);
  return load(workers, path, progress);
}

Result<LoadedTrace> load(Workers& workers, const std::filesystem::path& path, Progress* progress,
                         std::span<const std::uint32_t> together) {
  LoadedTrace loaded;
  Team& processes = workers.processes();
  TRY_ASSIGN(loaded.reader, agree(processes, Archive::open(path)));
  TRY(check_same_common_files(processes, archive_of(loaded)));
  loaded.trace.path = loaded.reader->path();
  loaded.trace.definitions = loaded.reader->definitions();
  const std::vector<std::uint64_t> weight =
      workers.weigh(loaded.trace.definitions, [&](LocationIndex l) {
        return loaded.reader->event_bytes({&l, 1});
      });
  loaded.partition = trace::divide(loaded.trace.definitions, weight, processes.size(), together);
  loaded.trace.locations.resize(loaded.trace.definitions.locations.size());
  TRY(scan(workers, loaded, loaded.own(processes), progress));
  TRY(check_anything_there(processes, loaded.trace));
  return loaded;
}

}  // namespace entrain::otf2
