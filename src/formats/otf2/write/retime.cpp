// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/write/retime.hpp"

#include <algorithm>
#include <vector>

#include "base/cancel.hpp"
#include "base/executor.hpp"
#include "base/file.hpp"
#include "base/try.hpp"
#include "formats/otf2/format/block_reader.hpp"
#include "formats/otf2/format/format.hpp"
#include "formats/otf2/format/quick.hpp"
#include "formats/otf2/format/quick_clock.hpp"

namespace entrain::otf2 {

namespace {

/// First and last record type of a snapshot file that begin with the time of the original event.
constexpr std::uint8_t k_first_snapshot_event = 12, k_last_snapshot_event = 29;

/// The state in which a part of a file is begun: with the bytes it decides what is written.
struct RetimeState {
  std::size_t segment = QuickClock::k_unset;  ///< segment of the clock map that was used last
  std::int64_t time = 0;                      ///< new time of the last stamp
};

/// Maps the times of event records in place.
class EventRetimer {
 public:
  EventRetimer(const ClockMap& map, StopTimes stops, RetimeState begin)
      : map_(map), stops_(stops), clock_(map), time_(begin.time) {
    clock_.start_in(begin.segment);
  }

  void chunk(std::uint8_t* bytes, bool big_endian) {
    chunk_ = bytes;
    big_endian_ = big_endian;
  }
  bool stamp(std::size_t offset, std::uint64_t time) {
    time_ = mapped(time);
    has_stamp_ = true;
    store_u64(chunk_ + offset, static_cast<std::uint64_t>(time_), big_endian_);
    return is_stamp(time_);
  }
  bool record(std::uint8_t type, std::size_t offset, std::size_t size) {
    if (type != event::buffer_flush) return true;
    if (size < 8) return false;
    needs_time_ |= !has_stamp_;
    const std::uint64_t stored = load_u64(chunk_ + offset, big_endian_);
    const std::int64_t stop = stops_ == StopTimes::move_segment ? mapped(stored) : map_(stored);
    store_u64(chunk_ + offset, static_cast<std::uint64_t>(std::max(stop, time_)), big_endian_);
    return true;
  }
  /// Maps stamps by the current segment's line only. The first stamp outside of it, or a flush,
  /// ends the hurry: stamp() or record() take it and may move to another segment.
  std::size_t hurry(std::size_t at, std::size_t limit) {
    std::uint8_t* p = chunk_ + at;
    const std::uint8_t* const end = chunk_ + limit;
    const QuickClock::Line line = clock_.line();
    std::int64_t last = time_;
    while (p < end) {
      if (*p == mark::stamp) {
        const std::uint64_t time = load_u64(p + 1, false);
        const std::int64_t moved = line.at(time);
        if (!line.holds(time) || !is_stamp(moved)) break;
        store_u64(p + 1, static_cast<std::uint64_t>(moved), false);
        last = moved;
        p += 9;
      }
      const std::size_t type = p[0], length = p[1];
      if (length >= k_timeless_records[type]) break;
      p += 2 + length;
    }
    time_ = last;
    return static_cast<std::size_t>(p - chunk_);
  }

  [[nodiscard]] RetimeState state() const { return {clock_.segment(), time_}; }
  /// Segment of the first time; k_unset: there was none.
  [[nodiscard]] std::size_t first_segment() const { return first_segment_; }
  /// True when the time before the first stamp mattered.
  [[nodiscard]] bool needs_time() const { return needs_time_; }
  [[nodiscard]] bool has_stamp() const { return has_stamp_; }

 private:
  std::int64_t mapped(std::uint64_t time) {
    const std::int64_t result = clock_(time);
    if (first_segment_ == QuickClock::k_unset) first_segment_ = clock_.segment();
    return result;
  }

  const ClockMap& map_;
  StopTimes stops_;
  QuickClock clock_;
  std::uint8_t* chunk_ = nullptr;
  bool big_endian_ = false;
  bool has_stamp_ = false, needs_time_ = false;
  std::int64_t time_;
  std::size_t first_segment_ = QuickClock::k_unset;
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

/// Retimes one file by several threads. A part depends on the parts before it in two ways: a stop
/// time may have moved the map's segment on (StopTimes::move_segment), and a flush before the
/// part's first stamp needs the stamp before. Both are rare, so every part is begun as if nothing
/// stood before it; join() goes through the parts in order and repeats those for which that was
/// wrong.
class PartsRetimer {
 public:
  PartsRetimer(const Retiming& retiming, const File& target)
      : retiming_(retiming), target_(target) {}

  Result<void> run(std::uint64_t file_size, unsigned threads, std::uint64_t part_chunks) {
    const std::uint64_t chunks = file_size / retiming_.chunk_size + 1;
    std::vector<Part> parts;
    part_chunks = std::max<std::uint64_t>(part_chunks, 1);
    for (std::uint64_t first = 0; first < chunks; first += part_chunks) {
      parts.emplace_back().range = {first, part_chunks};
    }
    parts.back().range.count = ChunkRange::k_all;
    TRY(parallel_for(threads, parts.size(), [&](std::size_t i) -> Result<void> {
      TRY(Cancel(retiming_.progress).check());
      parts[i].verdict = retime_part(parts[i], {});
      return {};
    }));
    return join(parts);
  }

 private:
  struct Part {
    ChunkRange range;
    Result<void> verdict;
    RetimeState end;
    std::size_t first_segment = QuickClock::k_unset;
    bool has_stamp = false, needs_time = false;
    bool ended = false;  ///< the records end here
  };

  Result<void> join(std::vector<Part>& parts) {
    RetimeState state;
    bool ended = false;
    for (Part& part : parts) {
      if (ended) {
        TRY(copy_part(part));
        continue;
      }
      // The part used the map at all; it began in an earlier segment than the parts before ended
      // in.
      const bool evaluated = part.first_segment != QuickClock::k_unset;
      const bool behind =
          evaluated && state.segment != QuickClock::k_unset && part.first_segment < state.segment;
      const bool again = part.range.first > 0 && (behind || part.needs_time);
      if (again) part.verdict = retime_part(part, state);
      TRY(std::move(part.verdict));
      if (again || evaluated) state.segment = part.end.segment;
      if (again || part.has_stamp) state.time = part.end.time;
      ended = part.ended;
    }
    return {};
  }

  Result<void> retime_part(Part& part, RetimeState begin) const {
    TRY_ASSIGN(BlockReader reader, open(part));
    EventRetimer retimer(retiming_.map, retiming_.stops, begin);
    const Result<FileEnd> end =
        retime<Framing::events>(reader, target_, retimer, retiming_.progress);
    part.end = retimer.state();
    part.first_segment = retimer.first_segment();
    part.has_stamp = retimer.has_stamp();
    part.needs_time = retimer.needs_time();
    if (!end) return tl::unexpected<Error>(end.error());
    part.ended = !end->goes_on;
    return copy_rest(reader, target_, retiming_.progress);
  }

  Result<void> copy_part(const Part& part) const {
    TRY_ASSIGN(BlockReader reader, open(part));
    return copy_rest(reader, target_, retiming_.progress);
  }

  [[nodiscard]] Result<BlockReader> open(const Part& part) const {
    return BlockReader::open(retiming_.from, retiming_.chunk_size, part.range);
  }

  const Retiming& retiming_;
  const File& target_;
};

}  // namespace

Result<void> retime_file(const Retiming& retiming, Framing framing) {
  if (retiming.map.is_identity()) return duplicate(retiming);
  TRY_ASSIGN(BlockReader reader, BlockReader::open(retiming.from, retiming.chunk_size));
  TRY_ASSIGN(File target, File::create(retiming.to));
  if (framing == Framing::events) {
    EventRetimer retimer(retiming.map, retiming.stops, {});
    TRY(retime<Framing::events>(reader, target, retimer, retiming.progress));
  } else {
    SnapshotRetimer retimer(retiming.map);
    TRY(retime<Framing::snapshots>(reader, target, retimer, retiming.progress));
  }
  TRY(copy_rest(reader, target, retiming.progress));
  return target.close();
}

Result<void> retime_in_parts(const Retiming& retiming, unsigned threads,
                             std::uint64_t part_chunks) {
  if (retiming.map.is_identity()) return duplicate(retiming);
  TRY_ASSIGN(const File source, File::open_for_reading(retiming.from));
  TRY_ASSIGN(const std::uint64_t size, source.size());
  TRY_ASSIGN(File target, File::create(retiming.to));
  TRY(PartsRetimer(retiming, target).run(size, threads, part_chunks));
  return target.close();
}

}  // namespace entrain::otf2
