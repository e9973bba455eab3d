// SPDX-License-Identifier: BSD-3-Clause
#include "otf2/read/adopt.hpp"

#include "base/file.hpp"
#include "base/try.hpp"
#include "otf2/format/definition_file.hpp"
#include "otf2/format/format.hpp"

namespace entrain::otf2 {

namespace fs = std::filesystem;

Result<bool> adopt_skeleton(const Archive& original, const Archive& overlay, LocationIndex location,
                            trace::LocationSkeleton& skeleton) {
  const fs::path events = original.event_file(location);
  const fs::path linked = overlay.event_file(location);
  const bool neither = !file_exists(events) && !file_exists(linked);
  std::error_code error;
  if (!neither && !fs::equivalent(events, linked, error)) return false;
  if (original.anchor().event_chunk_size != overlay.anchor().event_chunk_size) return false;
  TRY_ASSIGN(const bool same_records,
             same_definitions(
                 {original.definition_file(location), original.anchor().definition_chunk_size},
                 {overlay.definition_file(location), overlay.anchor().definition_chunk_size},
                 def::local_clock_offset));
  if (!same_records) return false;
  TRY_ASSIGN(LocalDefinitions local,
             read_local_definitions(overlay.definition_file(location),
                                    overlay.anchor().definition_chunk_size));
  skeleton.clock_offsets = std::move(local.clock_offsets);
  skeleton.definition_file_missing = local.missing;
  return true;
}

}  // namespace entrain::otf2
