// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/write/filter_archive.hpp"

#include <numeric>
#include <unordered_map>

#include <fmt/core.h>

#include "base/cancel.hpp"
#include "base/executor.hpp"
#include "base/file.hpp"
#include "base/try.hpp"
#include "formats/otf2/format/archive_files.hpp"
#include "formats/otf2/write/archive_folder.hpp"
#include "formats/otf2/write/event_counts.hpp"
#include "formats/otf2/write/write_archive.hpp"

namespace entrain::otf2 {

namespace {

namespace fs = std::filesystem;

Result<void> copy_if_there(const fs::path& from, const fs::path& folder) {
  if (!file_exists(from)) return {};
  return duplicate_file(from, folder / from.filename());
}

Result<FilteredEvents> write_location(const Archive& archive, const FilterPlan& plan,
                                      LocationIndex location, const fs::path& folder) {
  TRY(Cancel(plan.progress).check());
  TRY(copy_if_there(archive.definition_file(location), folder));
  TRY(copy_if_there(archive.snapshot_file(location), folder));
  TRY_ASSIGN(const LocalDefinitions local, archive.local_definitions(location));
  if (!trace::in_order(local.clock_offsets)) {
    return fail(
        ErrorKind::input,
        fmt::format("{} is damaged: its ClockOffset records are not in order of time, and no "
                    "reader would take a copy; write one without them by entrain correct "
                    "--presync none",
                    archive.definition_file(location).string()));
  }
  const fs::path from = archive.event_file(location);
  if (!file_exists(from)) return FilteredEvents{};
  return filter_events(archive.events_of(location, local), folder / from.filename(),
                       *plan.filters[location], plan.progress);
}

/// The files of the whole archive. The anchor comes last: without it nothing looks like an archive.
Result<void> write_globals(const Archive& archive, const std::vector<FilteredEvents>& written,
                           const fs::path& directory) {
  std::unordered_map<std::uint64_t, std::uint64_t> counts;
  for (LocationIndex l = 0; l < written.size(); ++l) {
    if (!file_exists(archive.event_file(l))) continue;
    counts[archive.definitions().locations[l].id] = written[l].events;
  }
  const fs::path definitions = archive.global_definition_file();
  TRY(write_event_counts(definitions, directory / definitions.filename(),
                         archive.anchor().definition_chunk_size, counts));
  TRY(copy_if_there(archive.marker_file(), directory));
  TRY(copy_thumbnails(archive, directory));
  return duplicate_file(archive.path(), directory / fs::path(archive.path()).filename());
}

}  // namespace

Result<FilteredArchive> filter_archive(const Archive& archive, const FilterPlan& plan,
                                       const fs::path& directory) {
  TRY(check_writable(archive));
  TRY_ASSIGN(OutputFolder staged, OutputFolder::create(directory, plan.rule));
  TRY_ASSIGN(const fs::path folder, create_location_folder(archive, staged.path()));
  FilteredArchive result;
  result.locations.resize(archive.definitions().locations.size());
  std::vector<LocationIndex> all(result.locations.size());
  std::iota(all.begin(), all.end(), LocationIndex{0});
  if (plan.progress != nullptr) plan.progress->begin("write", archive.event_bytes(all), "B");
  TRY(parallel_for(plan.threads, all.size(), [&](std::size_t i) -> Result<void> {
    TRY_ASSIGN(result.locations[i], write_location(archive, plan, all[i], folder));
    return {};
  }));
  TRY(write_globals(archive, result.locations, staged.path()));
  TRY(archive.check_unchanged());
  TRY(staged.commit());
  result.leftovers_removed = staged.leftovers_removed();
  result.anchor = staged.target() / fs::path(archive.path()).filename();
  return result;
}

}  // namespace entrain::otf2
