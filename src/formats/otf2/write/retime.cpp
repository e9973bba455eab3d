// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/write/retime.hpp"

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
class EventRetimer {
 public:
  EventRetimer(const ClockMap& map, StopTimes stops) : map_(map), stops_(stops), clock_(map) {}

  void chunk(std::uint8_t* bytes, bool big_endian) {
    chunk_ = bytes;
    big_endian_ = big_endian;
  }
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
  std::uint8_t* chunk_ = nullptr;
  bool big_endian_ = false;
  std::int64_t time_ = 0;  ///< new time of the last stamp
};

/// Maps the times of snapshot records in place: their stamps, and the times of the earlier events
/// that they repeat. As those go back, every time is looked up by itself.
class SnapshotRetimer {
 public:
  explicit SnapshotRetimer(const ClockMap& map) : map_(map) {}

  void chunk(std::uint8_t* bytes, bool big_endian) {
    chunk_ = bytes;
    big_endian_ = big_endian;
  }
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
  std::uint8_t* chunk_ = nullptr;
  bool big_endian_ = false;
};

Result<void> write_block(const BlockReader& reader, const File& target,
                         std::span<const std::uint8_t> block, Progress* progress) {
  TRY(count_block(progress, block));
  return target.write_at(reader.offset(), block);
}

/// Copies a file whose times stay.
Result<void> duplicate(const Retiming& retiming) {
  TRY(duplicate_file(retiming.from, retiming.to));
  std::error_code unknown;
  const std::uint64_t size = std::filesystem::file_size(retiming.from, unknown);
  if (retiming.progress != nullptr && !unknown) retiming.progress->advance(size);
  return {};
}

/// Copies the blocks of a file with the times that `retimer` gives them.
template <Framing framing, class Retimer>
Result<FileEnd> retime(BlockReader& reader, const File& target, Retimer& retimer,
                       Progress* progress) {
  return walk_file<framing>(reader, retimer, [&](std::span<const std::uint8_t> block) {
    return write_block(reader, target, block, progress);
  });
}

/// Copies the blocks after the end mark unchanged.
Result<void> copy_rest(BlockReader& reader, const File& target, Progress* progress) {
  while (true) {
    TRY_ASSIGN(const std::span<const std::uint8_t> rest, reader.next());
    if (rest.empty()) return {};
    TRY(write_block(reader, target, rest, progress));
  }
}

}  // namespace

Result<void> retime_file(const Retiming& retiming, Framing framing) {
  if (retiming.map.is_identity()) return duplicate(retiming);
  TRY_ASSIGN(BlockReader reader, BlockReader::open(retiming.from, retiming.chunk_size));
  TRY_ASSIGN(File target, File::create(retiming.to));
  if (framing == Framing::events) {
    EventRetimer retimer(retiming.map, retiming.stops);
    TRY(retime<Framing::events>(reader, target, retimer, retiming.progress));
  } else {
    SnapshotRetimer retimer(retiming.map);
    TRY(retime<Framing::snapshots>(reader, target, retimer, retiming.progress));
  }
  TRY(copy_rest(reader, target, retiming.progress));
  return target.close();
}

}  // namespace entrain::otf2
