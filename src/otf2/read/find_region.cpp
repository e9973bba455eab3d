// SPDX-License-Identifier: BSD-3-Clause
#include "otf2/read/find_region.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "otf2/format/block_reader.hpp"
#include "otf2/format/format.hpp"
#include "otf2/format/quick.hpp"
#include "otf2/read/resolver.hpp"

namespace entrain::otf2 {

namespace {

/// Follows Enter and Leave up to a given time.
class RegionFinder {
 public:
  explicit RegionFinder(std::uint64_t time) : wanted_(time) {}

  void chunk(const std::uint8_t* bytes, bool big_endian) {
    chunk_ = bytes;
    big_endian_ = big_endian;
  }
  bool stamp(std::size_t, std::uint64_t time) {
    if (found_ && time > wanted_) return false;  // ends the walk
    found_ = time >= wanted_;
    return true;
  }
  bool record(std::uint8_t type, std::size_t offset, std::size_t size) {
    if (type != event::enter && type != event::leave) return !found_;
    if (type == event::leave && found_) return false;
    FieldReader in(chunk_ + offset, size, big_endian_);
    follow(type, in.c32());
    return true;
  }
  std::size_t hurry(std::size_t at, std::size_t limit) {
    if (found_) return at;
    const std::uint8_t* p = chunk_ + at;
    const std::uint8_t* const end = chunk_ + limit;
    while (p < end) {
      if (*p == mark::stamp) {
        if (load_u64(p + 1, false) >= wanted_) break;
        p += 9;
      }
      const std::uint8_t type = p[0], length = p[1];
      if (length >= k_plain_records[type]) break;
      if (type == event::enter || type == event::leave) {
        if (length > 4) break;
        follow(type, static_cast<std::uint32_t>(load_u64(p + 2, false) & k_low_bytes[length]));
      }
      p += 2 + length;
    }
    return static_cast<std::size_t>(p - chunk_);
  }
  /// Local ids of the calls that began in the chunks walked and are still open.
  [[nodiscard]] const std::vector<std::uint32_t>& open() const { return stack_; }
  /// Number of calls left in the chunks walked that had begun before them.
  [[nodiscard]] std::uint64_t older_left() const { return older_left_; }

 private:
  void follow(std::uint8_t type, std::uint32_t local_region) {
    if (type == event::enter) {
      stack_.push_back(local_region);
    } else if (!stack_.empty()) {
      stack_.pop_back();
    } else {
      ++older_left_;
    }
  }

  std::uint64_t wanted_;
  bool found_ = false;
  const std::uint8_t* chunk_ = nullptr;
  bool big_endian_ = false;
  std::vector<std::uint32_t> stack_;  ///< local ids
  std::uint64_t older_left_ = 0;
};

/// Collects Enter and Leave around a given time.
class RegionCollector {
 public:
  RegionCollector(std::uint64_t time, std::size_t most) : wanted_(time), most_(most) {}

  void chunk(const std::uint8_t* bytes, bool big_endian) {
    chunk_ = bytes;
    big_endian_ = big_endian;
  }
  bool stamp(std::size_t, std::uint64_t time) {
    now_ = time;
    return true;
  }
  bool record(std::uint8_t type, std::size_t offset, std::size_t size) {
    if (type != event::enter && type != event::leave) return true;
    FieldReader in(chunk_ + offset, size, big_endian_);
    if (now_ >= wanted_ && after_++ == most_) return false;  // ends the walk
    if (now_ < wanted_ && found_.size() == 2 * most_) {      // now and then, so each costs O(1)
      found_.erase(found_.begin(), found_.begin() + static_cast<std::ptrdiff_t>(most_));
    }
    found_.push_back({.time = now_, .region = in.c32(), .enter = type == event::enter});
    return true;
  }
  /// With local ids of regions.
  std::vector<trace::RegionRecord> take() {
    const auto from = std::find_if(found_.begin(), found_.end(),
                                   [&](const auto& record) { return record.time >= wanted_; });
    const auto before = static_cast<std::size_t>(from - found_.begin());
    if (before > most_) {
      found_.erase(found_.begin(), found_.begin() + static_cast<std::ptrdiff_t>(before - most_));
    }
    return std::move(found_);
  }

 private:
  std::uint64_t wanted_;
  std::size_t most_;
  std::uint64_t now_ = 0;
  std::size_t after_ = 0;
  const std::uint8_t* chunk_ = nullptr;
  bool big_endian_ = false;
  std::vector<trace::RegionRecord> found_;
};

/// Stamp with which chunk `number` begins. Nothing if it does not begin with one.
std::optional<std::uint64_t> first_stamp(const File& file, std::uint64_t chunk_size,
                                         std::uint64_t number) {
  std::array<std::uint8_t, k_chunk_header_size + 9> begin{};
  const auto read = file.read_at(number * chunk_size, begin);
  if (!read || *read != begin.size() || begin[k_chunk_header_size] != mark::stamp) return {};
  return load_u64(&begin[k_chunk_header_size + 1], begin[1] == k_big_endian);
}

/// The last chunk whose first stamp is before `time`: the first event with stamp `time` lies there
/// or begins the next chunk. 0 if a chunk that was looked at does not begin with a stamp.
std::uint64_t chunk_before(const File& file, std::uint64_t file_size, std::uint64_t chunk_size,
                           std::uint64_t time) {
  std::uint64_t low = 0, high = file_size / chunk_size + (file_size % chunk_size != 0 ? 1 : 0);
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    const std::optional<std::uint64_t> begin = first_stamp(file, chunk_size, middle);
    if (!begin) return 0;
    (*begin < time ? low : high) = middle;
  }
  return low;
}

/// Follows the calls in `range` up to `time`.
RegionFinder walk(const EventFile& file, ChunkRange range, std::uint64_t time) {
  RegionFinder finder(time);
  auto reader = BlockReader::open(file.path, file.chunk_size, range);
  if (!reader) return finder;
  // The finder ends the walk by refusing a record, which walk_file reports as damage. Real damage
  // only means that no region is found.
  (void)walk_file<Framing::events>(*reader, finder, [](auto) { return Result<void>(); });
  return finder;
}

}  // namespace

std::uint32_t find_region(const EventFile& file, std::uint64_t time) {
  std::uint64_t begin = 0;
  if (const auto reader = BlockReader::open(file.path, file.chunk_size)) {
    begin = chunk_before(reader->file(), reader->file_size(), file.chunk_size, time);
  }
  RegionFinder finder = walk(file, {begin, ChunkRange::k_all}, time);
  // The call may have begun in an earlier chunk: go back as long as all calls that are open at the
  // end of the chunk are left (by `left` Leaves) between it and `time`.
  std::uint64_t left = 0;
  while (finder.open().size() <= left && begin > 0) {
    left += finder.older_left() - finder.open().size();
    finder = walk(file, {--begin, 1}, std::numeric_limits<std::uint64_t>::max());
  }
  if (finder.open().size() <= left) return k_none;
  return Resolver(file.local.regions,
                  file.references.regions)(finder.open()[finder.open().size() - 1 - left]);
}

std::vector<trace::RegionRecord> find_regions_around(const EventFile& file, std::uint64_t time,
                                                     std::size_t most) {
  std::uint64_t begin = 0;
  if (const auto reader = BlockReader::open(file.path, file.chunk_size)) {
    begin = chunk_before(reader->file(), reader->file_size(), file.chunk_size, time);
  }
  RegionCollector collector(time, most);
  auto reader =
      BlockReader::open(file.path, file.chunk_size, {begin > 0 ? begin - 1 : 0, ChunkRange::k_all});
  if (!reader) return {};
  (void)walk_file<Framing::events>(*reader, collector, [](auto) { return Result<void>(); });
  std::vector<trace::RegionRecord> found = collector.take();
  Resolver resolve(file.local.regions, file.references.regions);
  for (trace::RegionRecord& record : found) record.region = resolve(record.region);
  return found;
}

}  // namespace entrain::otf2
