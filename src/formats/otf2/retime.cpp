// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/retime.hpp"

#include <algorithm>

#include "base/file.hpp"
#include "base/try.hpp"
#include "formats/otf2/format/block_reader.hpp"
#include "formats/otf2/format/format.hpp"
#include "formats/otf2/format/quick.hpp"

namespace entrain::otf2 {

namespace {

/// First and last record type of a snapshot file that begin with the time of the original event.
constexpr std::uint8_t k_first_snapshot_event = 12, k_last_snapshot_event = 29;

/// Maps the times of event records in place.
class EventRetimer : public ChunkVisitor {
 public:
  EventRetimer(const ClockMap& map, StopTimes stops) : map_(map), stops_(stops), clock_(map) {}

  bool stamp(std::size_t offset, std::uint64_t time) {
    time_ = clock_(time);
    store_u64(chunk_ + offset, static_cast<std::uint64_t>(time_), big_endian_);
    return is_stamp(time_);
  }
  bool record(std::uint8_t type, std::size_t offset, std::size_t size) {
    if (type != event::buffer_flush) return true;
    if (size < 8) return false;
    const std::uint64_t stored = load_u64(chunk_ + offset, big_endian_);
    const std::int64_t stop = stops_ == StopTimes::move_segment ? clock_(stored) : map_(stored);
    store_u64(chunk_ + offset, static_cast<std::uint64_t>(std::max(stop, time_)), big_endian_);
    return true;
  }
  std::size_t hurry(std::size_t at, std::size_t limit) {
    std::uint8_t* p = chunk_ + at;
    const std::uint8_t* const end = chunk_ + limit;
    ClockMap::Cursor clock = clock_;
    std::int64_t last = time_;
    while (p < end) {
      if (*p == mark::stamp) {
        const std::int64_t moved = clock(load_u64(p + 1, false));
        if (!is_stamp(moved)) break;
        store_u64(p + 1, static_cast<std::uint64_t>(moved), false);
        last = moved;
        p += 9;
      }
      const std::size_t type = p[0], length = p[1];
      if (length >= k_timeless_records[type]) break;
      p += 2 + length;
    }
    clock_ = clock;
    time_ = last;
    return static_cast<std::size_t>(p - chunk_);
  }

 private:
  const ClockMap& map_;
  StopTimes stops_;
  ClockMap::Cursor clock_;
  std::int64_t time_ = 0;  ///< new time of the last stamp
};

/// Maps the times of snapshot records in place: their stamps, and the times of the earlier events
/// that they repeat. As those go back, every time is looked up by itself.
class SnapshotRetimer : public ChunkVisitor {
 public:
  explicit SnapshotRetimer(const ClockMap& map) : map_(map) {}

  bool stamp(std::size_t offset, std::uint64_t) { return move(offset); }
  bool record(std::uint8_t type, std::size_t offset, std::size_t size) {
    if (type < k_first_snapshot_event || type > k_last_snapshot_event) return true;
    return size >= 8 && move(offset);
  }

 private:
  bool move(std::size_t offset) {
    const std::int64_t time = map_(load_u64(chunk_ + offset, big_endian_));
    store_u64(chunk_ + offset, static_cast<std::uint64_t>(time), big_endian_);
    return time >= 0;
  }

  const ClockMap& map_;
};

/// Copies a file whose times stay.
Result<void> duplicate(const Retiming& retiming) {
  TRY(duplicate_file(retiming.from, retiming.to));
  std::error_code unknown;
  const std::uint64_t size = std::filesystem::file_size(retiming.from, unknown);
  if (retiming.progress != nullptr && !unknown) retiming.progress->advance(size);
  return {};
}

/// Copies the blocks of a file with the times that `retimer` gives them, and those after the end
/// mark unchanged.
template <Framing framing, class Retimer>
Result<void> retime(const Retiming& retiming, Retimer retimer) {
  TRY_ASSIGN(BlockReader reader, BlockReader::open(retiming.from, retiming.chunk_size));
  TRY_ASSIGN(File target, File::create(retiming.to));
  const auto write = [&](std::span<const std::uint8_t> block) -> Result<void> {
    TRY(count_block(retiming.progress, block));
    return target.write_at(reader.offset(), block);
  };
  TRY(walk_file<framing>(reader, retimer, write));
  while (true) {
    TRY_ASSIGN(const std::span<const std::uint8_t> rest, reader.next());
    if (rest.empty()) return target.close();
    TRY(write(rest));
  }
}

}  // namespace

Result<void> retime_file(const Retiming& retiming, Framing framing) {
  if (retiming.map.is_identity()) return duplicate(retiming);
  return framing == Framing::events
             ? retime<Framing::events>(retiming, EventRetimer(retiming.map, retiming.stops))
             : retime<Framing::snapshots>(retiming, SnapshotRetimer(retiming.map));
}

}  // namespace entrain::otf2
