// SPDX-License-Identifier: BSD-3-Clause
#include "otf2/read/archive.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "base/file.hpp"
#include "base/try.hpp"
#include "otf2/format/archive_files.hpp"
#include "otf2/format/definition_file.hpp"
#include "otf2/library/child.hpp"
#include "otf2/read/find_region.hpp"
#include "otf2/read/read_regions.hpp"
#include "otf2/read/scan_events.hpp"

namespace entrain::otf2 {

namespace {

namespace fs = std::filesystem;

/// The one anchor file of a folder.
Result<fs::path> anchor_in(const fs::path& folder) {
  std::vector<fs::path> anchors;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == ending::anchor) anchors.push_back(it->path());
  }
  if (error) {
    return fail(ErrorKind::input,
                fmt::format("cannot read folder {}: {}", folder.string(), error.message()));
  }
  if (anchors.size() == 1) return anchors.front();
  if (anchors.empty()) {
    return fail(ErrorKind::input,
                fmt::format("folder {} holds no trace: neither the anchor file of an OTF2 archive "
                            "(.otf2) nor JSON of a training run or of spans of services (.json, "
                            ".jsonl, .ndjson, also with .gz)",
                            folder.string()));
  }
  return fail(
      ErrorKind::input,
      fmt::format("folder {} holds several anchor files; name the .otf2 file of the archive",
                  folder.string()));
}

/// Reads from the copy the fields that stand in the anchor of an ordinary archive.
Result<void> read_copy_properties(const fs::path& folder, Anchor& anchor) {
  anchor.event_chunk_size = k_copy_event_chunk_size;
  anchor.definition_chunk_size = k_copy_definition_chunk_size;
  TRY_ASSIGN(const DefinitionFile file,
             read_definition_file(folder / k_properties_file, k_copy_definition_chunk_size));
  for (const DefinitionRecord& record : file.records) {
    const auto name_end = std::find(record.payload.begin(), record.payload.end(), 0);
    if (name_end == record.payload.end()) continue;
    const auto value_end = std::find(name_end + 1, record.payload.end(), 0);
    anchor.properties.push_back({{record.payload.begin(), name_end}, {name_end + 1, value_end}});
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Archive>> Archive::open(const fs::path& path) {
  std::error_code error;
  fs::path anchor_path = path;
  if (fs::is_directory(path, error)) {
    TRY_ASSIGN(anchor_path, anchor_in(path));
  }
  // A link to an anchor stands for the archive where that lies.
  if (fs::is_symlink(fs::symlink_status(anchor_path, error))) {
    const fs::path target = fs::canonical(anchor_path, error);
    if (!error) anchor_path = target;
  }
  std::unique_ptr<Archive> archive(new Archive());
  archive->anchor_path_ = anchor_path.string();
  for (const fs::path& file : archive->common_files()) {
    archive->common_stamps_.push_back(stamp_of(file));
  }
  TRY_ASSIGN(const auto bytes, read_file(anchor_path, k_largest_anchor));
  TRY_ASSIGN(archive->anchor_, parse_anchor(bytes, anchor_path));
  if (!archive->anchor_.foreign.empty()) {
    TRY_ASSIGN(archive->copy_, LibraryCopy::make(anchor_path, archive->anchor_.foreign));
    TRY(read_copy_properties(archive->copy_->folder(), archive->anchor_));
    archive->common_stamps_.resize(1);  // the others are files of the copy
  }
  TRY_ASSIGN(auto globals, read_global_definitions(archive->global_definition_file(),
                                                   archive->anchor_.definition_chunk_size));
  archive->definitions_ = std::move(globals.definitions);
  archive->definitions_.properties = archive->anchor_.properties;
  archive->references_ = std::move(globals.references);
  return archive;
}

fs::path Archive::folder() const {
  if (copy_ != nullptr) return copy_->folder();
  const fs::path parent = fs::path(anchor_path_).parent_path();
  return parent.empty() ? fs::path(".") : parent;
}

std::string Archive::name() const { return fs::path(anchor_path_).stem().string(); }

fs::path Archive::location_file(LocationIndex location, const char* extension) const {
  return folder() / name() / fmt::format("{}{}", definitions_.locations[location].id, extension);
}
fs::path Archive::event_file(LocationIndex location) const {
  return location_file(location, ending::events);
}
fs::path Archive::definition_file(LocationIndex location) const {
  return location_file(location, ending::definitions);
}
fs::path Archive::snapshot_file(LocationIndex location) const {
  return location_file(location, ending::snapshots);
}
fs::path Archive::global_definition_file() const {
  return folder() / (name() + ending::definitions);
}
fs::path Archive::marker_file() const { return folder() / (name() + ending::markers); }
fs::path Archive::thumbnail_file(std::uint32_t number) const {
  return folder() / fmt::format("{}.{}{}", name(), number, ending::thumbnail);
}

std::vector<fs::path> Archive::common_files() const {
  std::vector<fs::path> files{anchor_path_, global_definition_file(), marker_file()};
  for (const char* table : {"clock_samples.csv", "clock_delays.csv"}) {
    files.push_back(folder() / table);
  }
  return files;
}

std::array<fs::path, 3> Archive::files_of(LocationIndex location) const {
  return {event_file(location), definition_file(location), snapshot_file(location)};
}

void Archive::note_files(std::span<const LocationIndex> locations) {
  for (const LocationIndex location : locations) {
    std::array<FileStamp, 3>& stamps = stamps_.emplace_back();
    std::ranges::transform(files_of(location), stamps.begin(), stamp_of);
    noted_.push_back(location);
  }
}

Result<void> Archive::check_unchanged() const {
  const auto check = [](const fs::path& file, const FileStamp& before) -> Result<void> {
    if (stamp_of(file) == before) return {};
    return fail(ErrorKind::input, fmt::format("{} has changed while it was read; run again when "
                                              "nothing writes to it",
                                              file.string()));
  };
  const std::vector<fs::path> common = common_files();
  for (std::size_t i = 0; i < common_stamps_.size(); ++i) TRY(check(common[i], common_stamps_[i]));
  for (std::size_t i = 0; i < noted_.size(); ++i) {
    const auto files = files_of(noted_[i]);
    for (std::size_t k = 0; k < files.size(); ++k) TRY(check(files[k], stamps_[i][k]));
  }
  return {};
}

std::uint64_t Archive::event_bytes(std::span<const LocationIndex> locations) const {
  std::uint64_t bytes = 0;
  for (const LocationIndex location : locations) {
    std::error_code unknown;
    const std::uint64_t size = fs::file_size(event_file(location), unknown);
    if (!unknown) bytes += size;
  }
  return bytes;
}

Result<trace::LocationSkeleton> Archive::scan(LocationIndex location) const {
  return scan(location, nullptr);
}

Result<trace::LocationSkeleton> Archive::scan(LocationIndex location, Progress* progress) const {
  TRY_ASSIGN(LocalDefinitions local, local_definitions(location));
  TRY_ASSIGN(trace::LocationSkeleton skeleton, scan_events(events_of(location, local), progress));
  complete(skeleton, location, local);
  return skeleton;
}

Result<LocalDefinitions> Archive::local_definitions(LocationIndex location) const {
  return read_local_definitions(
      definition_file(location), anchor_.definition_chunk_size,
      references_.partners_attribute == k_none ? LocalStrings::ignore : LocalStrings::read);
}

EventFile Archive::events_of(LocationIndex location, const LocalDefinitions& local) const {
  return {event_file(location), anchor_.event_chunk_size, local, references_};
}

void Archive::complete(trace::LocationSkeleton& skeleton, LocationIndex location,
                       LocalDefinitions& local) const {
  skeleton.definition_file_missing = local.missing;
  skeleton.clock_offsets = std::move(local.clock_offsets);
  if (skeleton.event_file_missing && definitions_.locations[location].event_count == 0) {
    skeleton.event_file_missing = false;  // nothing is lost
  }
}

Result<std::string> Archive::region_at(LocationIndex location, std::uint64_t time) const {
  TRY_ASSIGN(const LocalDefinitions local, local_definitions(location));
  TRY_ASSIGN(const std::uint32_t region, find_region(events_of(location, local), time));
  return region == k_none ? std::string() : definitions_.regions[region].name;
}

Result<std::vector<trace::RegionRecord>> Archive::regions_around(LocationIndex location,
                                                                 std::uint64_t time,
                                                                 std::size_t most) const {
  TRY_ASSIGN(const LocalDefinitions local, local_definitions(location));
  return find_regions_around(events_of(location, local), time, most);
}

Result<void> Archive::visit_regions(LocationIndex location, Progress* progress,
                                    const trace::RegionVisitor& visit) const {
  TRY_ASSIGN(const LocalDefinitions local, local_definitions(location));
  return read_regions(events_of(location, local), progress, visit);
}

}  // namespace entrain::otf2
