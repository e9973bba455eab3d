// SPDX-License-Identifier: BSD-3-Clause
#include "otf2/rewrite.hpp"

#include <algorithm>

#include "otf2/records.hpp"

namespace entrain::otf2 {

namespace {

/// First and last record type of a snapshot file that begin with the time of the original event.
constexpr std::uint8_t k_first_snapshot_event = 12, k_last_snapshot_event = 29;

/// Maps the times of event records in place.
class EventRetimer {
 public:
  explicit EventRetimer(const ClockMap& map) : cursor_(map) {}

  void chunk(std::uint8_t* bytes, bool big_endian) {
    chunk_ = bytes;
    big_endian_ = big_endian;
  }
  bool stamp(std::size_t offset, std::uint64_t time) {
    time_ = cursor_(time);
    store_u64(chunk_ + offset, static_cast<std::uint64_t>(time_), big_endian_);
    return time_ >= 0;
  }
  bool record(std::uint8_t type, std::size_t offset, std::size_t size) {
    if (type != event::buffer_flush) return true;
    if (size < 8) return false;
    const std::int64_t stop = cursor_(load_u64(chunk_ + offset, big_endian_));
    store_u64(chunk_ + offset, static_cast<std::uint64_t>(std::max(stop, time_)), big_endian_);
    return true;
  }

 private:
  ClockMap::Cursor cursor_;
  std::uint8_t* chunk_ = nullptr;
  bool big_endian_ = false;
  std::int64_t time_ = 0;
};

/// Maps the times of snapshot records in place: their stamps, and the times of the events that
/// they repeat, which lie before.
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

template <Framing framing, class Retimer>
Result<void> retime(BlockReader& reader, File& target, Retimer retimer, const Progress* progress) {
  const auto write_block = [&](std::span<std::uint8_t> block) -> Result<void> {
    if (progress != nullptr && progress->cancelled()) {
      return fail(ErrorKind::interrupted, "interrupted; nothing was written");
    }
    return target.write(block);
  };
  TRY_ASSIGN([[maybe_unused]] const FileEnd end, walk_file<framing>(reader, retimer, write_block));
  while (true) {  // whatever follows the end mark
    TRY_ASSIGN(const std::span<std::uint8_t> rest, reader.next());
    if (rest.empty()) return {};
    TRY(write_block(rest));
  }
}

}  // namespace

Result<void> retime_file(const std::filesystem::path& from, const std::filesystem::path& to,
                         std::uint64_t chunk_size, Framing framing, const ClockMap& map,
                         const Progress* progress) {
  if (map.is_identity()) return duplicate_file(from, to);
  TRY_ASSIGN(BlockReader reader, BlockReader::open(from, chunk_size));
  TRY_ASSIGN(File target, File::create(to));
  if (framing == Framing::events) {
    TRY(retime<Framing::events>(reader, target, EventRetimer(map), progress));
  } else {
    TRY(retime<Framing::snapshots>(reader, target, SnapshotRetimer(map), progress));
  }
  return target.close();
}

}  // namespace entrain::otf2
