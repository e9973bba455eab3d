// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/write/filter_archive.hpp"

#include <array>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <vector>

#include <fmt/core.h>

#include "base/cancel.hpp"
#include "base/executor.hpp"
#include "base/file.hpp"
#include "base/try.hpp"
#include "formats/otf2/format/anchor.hpp"
#include "formats/otf2/format/block_reader.hpp"
#include "formats/otf2/format/definition_file.hpp"
#include "formats/otf2/format/format.hpp"
#include "formats/otf2/write/write_archive.hpp"

namespace entrain::otf2 {

namespace {

/// Where the number of events stands in the payload of a Location.
struct CountField {
  std::uint64_t id = 0;
  std::ptrdiff_t begin = 0, end = 0;
};

std::optional<CountField> find_count(const std::vector<std::uint8_t>& payload, bool big_endian) {
  FieldReader in(payload.data(), payload.size(), big_endian);
  CountField field;
  field.id = in.c64();
  in.c32();  // name
  in.u8();   // type
  field.begin = in.position() - payload.data();
  in.c64();
  field.end = in.position() - payload.data();
  if (!in.ok()) return std::nullopt;
  return field;
}

void replace(std::vector<std::uint8_t>& payload, const CountField& field, std::uint64_t count,
             bool big_endian) {
  std::array<std::uint8_t, 9> encoded{};
  const auto size =
      static_cast<std::ptrdiff_t>(store_compressed(encoded.data(), count, big_endian));
  const auto at = payload.erase(payload.begin() + field.begin, payload.begin() + field.end);
  payload.insert(at, encoded.begin(), encoded.begin() + size);
}

}  // namespace

Result<void> write_event_counts(const std::filesystem::path& from, const std::filesystem::path& to,
                                std::uint64_t chunk_size,
                                const std::unordered_map<std::uint64_t, std::uint64_t>& counts) {
  TRY_ASSIGN(DefinitionFile file, read_definition_file(from, chunk_size));
  for (DefinitionRecord& record : file.records) {
    if (record.type != def::location) continue;
    const auto field = find_count(record.payload, file.big_endian);
    if (!field) return damaged(from, record.file_offset, "a location that is too short");
    const auto count = counts.find(field->id);
    if (count != counts.end()) replace(record.payload, *field, count->second, file.big_endian);
  }
  TRY_ASSIGN(const auto bytes, pack_definition_file(file, chunk_size, from));
  return write_file(to, bytes);
}

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
