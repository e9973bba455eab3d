// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/read/adopt.hpp"

#include <filesystem>

#include "base/try.hpp"
#include "formats/otf2/format/definition_file.hpp"
#include "formats/otf2/format/format.hpp"

namespace entrain::otf2 {

Result<bool> adopt_skeleton(const Archive& original, const Archive& overlay, LocationIndex location,
                            trace::LocationSkeleton& skeleton) {
  const FileStamp events = original.stamp(location, LocationFile::events);
  if (!leads_to(overlay.event_file(location), events) &&
      (events.named || overlay.has(location, LocationFile::events))) {
    return false;
  }
  if (original.anchor().event_chunk_size != overlay.anchor().event_chunk_size) return false;
  const std::filesystem::path path = overlay.definition_file(location);
  TRY_ASSIGN(const auto before, original.local_file(location));
  TRY_ASSIGN(const auto after,
             read_definition_file_if_any(path, overlay.anchor().definition_chunk_size));
  const DefinitionFile none;
  if (!same_records(before ? *before : none, after ? *after : none, def::local_clock_offset)) {
    return false;
  }
  TRY_ASSIGN(LocalDefinitions local, local_definitions_of(after ? *after : none, path));
  skeleton.clock_offsets = std::move(local.clock_offsets);
  skeleton.definition_file_missing = !after;
  return true;
}

}  // namespace entrain::otf2
