// SPDX-License-Identifier: BSD-3-Clause
#include "session/load.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "base/try.hpp"
#include "session/open_trace.hpp"
#include "session/same_files.hpp"

namespace entrain::session {

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

}  // namespace

Result<void> check_unchanged(Team& processes, const LoadedTrace& loaded) {
  const auto* const archive = dynamic_cast<const otf2::Archive*>(loaded.source.get());
  return processes.agree(archive == nullptr ? Result<void>() : archive->check_unchanged());
}

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
  Team& processes = workers.processes();
  LoadedTrace loaded;
  TRY_ASSIGN(loaded.source, agree(processes, open_trace(path)));
  // No other source of files is known; see open_trace().
  auto* const archive = dynamic_cast<otf2::Archive*>(loaded.source.get());
  if (archive != nullptr) TRY(check_same_common_files(processes, *archive));
  loaded.trace.path = loaded.source->path();
  loaded.trace.definitions = loaded.source->definitions();
  TRY_ASSIGN(loaded.partition, workers.share_out(
                                   loaded.trace.definitions,
                                   [&](LocationIndex l) {
                                     return loaded.source->event_bytes({&l, 1});
                                   },
                                   together));
  const std::vector<LocationIndex> own = loaded.own(processes);
  if (archive != nullptr) archive->note_files(own);
  loaded.trace.locations.resize(loaded.trace.definitions.locations.size());
  TRY_ASSIGN(std::vector<trace::LocationSkeleton> skeletons,
             agree(processes, loaded.source->scan_all(own, workers.threads(), progress)));
  for (std::size_t i = 0; i < own.size(); ++i) {
    loaded.trace.locations[own[i]] = std::move(skeletons[i]);
  }
  TRY(check_anything_there(processes, loaded.trace));
  return loaded;
}

namespace {

Result<const otf2::Archive*> as_archive(const trace::Source* source, const std::string& path) {
  const auto* archive = dynamic_cast<const otf2::Archive*>(source);
  if (archive != nullptr) return archive;
  return fail(ErrorKind::input,
              fmt::format("{} is no OTF2 archive: it can be checked, but nothing can be written "
                          "from it",
                          path));
}

}  // namespace

Result<const otf2::Archive*> otf2_archive(const LoadedTrace& loaded) {
  return as_archive(loaded.source.get(), loaded.trace.path);
}

Result<const otf2::Archive*> otf2_archive(const trace::Source& source) {
  return as_archive(&source, source.path());
}

}  // namespace entrain::session
