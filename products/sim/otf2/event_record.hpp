// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include <entrain/drop.hpp>
#include <entrain/error.hpp>
#include <entrain/progress.hpp>

#include "base/ids.hpp"
#include "formats/otf2/format/walk.hpp"
#include "formats/otf2/read/event_file.hpp"
#include "trace/trace.hpp"

namespace entrain::otf2 {

/// A record of an event file, as far as a choice among records looks at it.
struct EventRecord {
  std::optional<RecordKind> kind;  ///< nothing: no record of a message or collective
  std::uint64_t time = 0;          ///< stored stamp, ticks
  std::uint8_t op = 0;             ///< operation of MpiCollectiveEnd and
                                   ///< NonBlockingCollectiveComplete
  std::uint64_t request = 0;       ///< request of a message or collective, if its record has one
  std::uint32_t region = k_none;   ///< innermost open region, position in Definitions::regions
};

/// Turns what walk_chunk() visits into EventRecords. Regions are followed only if asked for.
class RecordDecoder : public ChunkVisitor {
 public:
  /// `file` must outlive this.
  RecordDecoder(const EventFile& file, bool with_regions);

  /// False for a time that is damage.
  bool stamp(std::uint64_t time);
  /// Nothing for a record that is damaged, or stands before the first stamp. A region counts as
  /// open after its Enter and up to its Leave.
  std::optional<EventRecord> record(std::uint8_t type, std::size_t offset, std::size_t size);

 private:
  void follow(std::uint8_t type, std::uint32_t local_region);
  [[nodiscard]] std::uint32_t innermost();

  Resolver regions_;
  bool with_regions_;
  std::vector<std::uint32_t> open_;  ///< local ids of the regions that are open
  bool has_time_ = false;
  std::uint64_t time_ = 0;
};

/// Calls `visit` for every record of an event file, in order. A missing file has none, a truncated
/// one those before its end. `progress`, which may be null, counts bytes and may cancel. Errors:
/// ErrorKind::input for a damaged file, ErrorKind::interrupted.
Result<void> read_records(const EventFile& file, Progress* progress,
                          const std::function<void(const EventRecord&)>& visit);

}  // namespace entrain::otf2
