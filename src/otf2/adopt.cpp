// SPDX-License-Identifier: BSD-3-Clause
#include "otf2/adopt.hpp"

#include "otf2/records.hpp"

namespace entrain::otf2 {

namespace {

namespace fs = std::filesystem;

/// Records of a local definition file but for ClockOffsets.
Result<DefinitionFile> lasting_definitions(const fs::path& path, std::uint64_t chunk_size) {
  DefinitionFile file;
  if (!file_exists(path)) return file;
  TRY_ASSIGN(file, read_definition_file(path, chunk_size));
  std::erase_if(file.records,
                [](const DefinitionRecord& r) { return r.type == def::local_clock_offset; });
  return file;
}

bool same(const DefinitionFile& a, const DefinitionFile& b) {
  // Payloads of different byte order mean different things.
  if (a.mixed_endian || b.mixed_endian) return false;
  if (!a.records.empty() && !b.records.empty() && a.big_endian != b.big_endian) return false;
  return std::equal(a.records.begin(), a.records.end(), b.records.begin(), b.records.end(),
                    [](const DefinitionRecord& x, const DefinitionRecord& y) {
                      return x.type == y.type && x.payload == y.payload;
                    });
}

}  // namespace

Result<bool> adopt_skeleton(const Archive& original, const Archive& overlay, LocationIndex location,
                            trace::LocationSkeleton& skeleton) {
  const fs::path events = original.event_file(location);
  const fs::path linked = overlay.event_file(location);
  const bool neither = !file_exists(events) && !file_exists(linked);
  std::error_code error;
  if (!neither && !fs::equivalent(events, linked, error)) return false;
  if (original.anchor().event_chunk_size != overlay.anchor().event_chunk_size) return false;
  TRY_ASSIGN(const DefinitionFile before,
             lasting_definitions(original.definition_file(location),
                                 original.anchor().definition_chunk_size));
  TRY_ASSIGN(const DefinitionFile after,
             lasting_definitions(overlay.definition_file(location),
                                 overlay.anchor().definition_chunk_size));
  if (!same(before, after)) return false;
  TRY_ASSIGN(LocalDefinitions local,
             read_local_definitions(overlay.definition_file(location),
                                    overlay.anchor().definition_chunk_size));
  skeleton.clock_offsets = std::move(local.clock_offsets);
  skeleton.definition_file_missing = local.missing;
  return true;
}

}  // namespace entrain::otf2
