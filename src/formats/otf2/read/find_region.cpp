// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "base/file.hpp"
#include "base/try.hpp"
#include "formats/otf2/format/block_reader.hpp"
#include "formats/otf2/format/format.hpp"
#include "formats/otf2/read/event_file.hpp"

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
    if (found_ && time > wanted_) return stop();
    found_ = time >= wanted_;
    return true;
  }
  bool record(std::uint8_t type, std::size_t offset, std::size_t size) {
    if (found_ && type != event::enter) return stop();
    if (type != event::enter && type != event::leave) return true;
    FieldReader in(chunk_ + offset, size, big_endian_);
    follow(type, in.c32());
    return true;
  }
  /// Local ids of the calls that began in the chunks walked and are still open.
  [[nodiscard]] const std::vector<std::uint32_t>& open() const { return stack_; }
  /// Number of calls left in the chunks walked that had begun before them.
  [[nodiscard]] std::uint64_t older_left() const { return older_left_; }
  /// The walk ended because all was found.
  [[nodiscard]] bool stopped() const { return stopped_; }

 private:
  bool stop() {
    stopped_ = true;
    return false;
  }
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
  bool found_ = false, stopped_ = false;
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
    if (now_ >= wanted_ && after_++ == most_) return !(stopped_ = true);
    if (now_ < wanted_ && found_.size() == 2 * most_) {  // now and then, so each costs O(1)
      found_.erase(found_.begin(), found_.begin() + static_cast<std::ptrdiff_t>(most_));
    }
    found_.push_back({.time = now_, .region = in.c32(), .enter = type == event::enter});
    return true;
  }
  /// The walk ended because all was found.
  [[nodiscard]] bool stopped() const { return stopped_; }
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
  bool stopped_ = false;
  const std::uint8_t* chunk_ = nullptr;
  bool big_endian_ = false;
  std::vector<trace::RegionRecord> found_;
};

/// Stamp with which chunk `number` begins. Nothing if it does not begin with one.
Result<std::optional<std::uint64_t>> first_stamp(const File& file, std::uint64_t chunk_size,
                                                 std::uint64_t number) {
  std::array<std::uint8_t, k_chunk_header_size + 9> begin{};
  TRY_ASSIGN(const std::size_t read, file.read_at(number * chunk_size, begin));
  if (read != begin.size() || begin[k_chunk_header_size] != mark::stamp) return std::nullopt;
  return load_u64(&begin[k_chunk_header_size + 1], begin[1] == k_big_endian);
}

/// The last chunk whose first stamp is before `time`: the first event with stamp `time` lies there
/// or begins the next chunk. 0 if a chunk that was looked at does not begin with a stamp.
Result<std::uint64_t> chunk_before(const EventFile& file, std::uint64_t time) {
  TRY_ASSIGN(const BlockReader reader, BlockReader::open(file.path, file.chunk_size));
  const std::uint64_t size = reader.file_size();
  std::uint64_t low = 0, high = size / file.chunk_size + (size % file.chunk_size != 0 ? 1 : 0);
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    TRY_ASSIGN(const auto begin, first_stamp(reader.file(), file.chunk_size, middle));
    if (!begin) return 0;
    (*begin < time ? low : high) = middle;
  }
  return low;
}

/// Shows `visitor` the records in `range`. A visitor ends the walk by refusing a record, which
/// walk_file() reports as damage.
template <class Visitor>
Result<void> walk(const EventFile& file, ChunkRange range, Visitor& visitor) {
  TRY_ASSIGN(auto reader, BlockReader::open(file.path, file.chunk_size, range));
  const auto end = walk_file<Framing::events>(reader, visitor, [](auto) { return Result<void>(); });
  if (end || visitor.stopped()) return {};
  return tl::unexpected<Error>(end.error());
}

}  // namespace

Result<std::uint32_t> find_region(const EventFile& file, std::uint64_t time) {
  if (!file_exists(file.path)) return k_none;
  TRY_ASSIGN(std::uint64_t begin, chunk_before(file, time));
  RegionFinder finder(time);
  TRY(walk(file, {begin, ChunkRange::k_all}, finder));
  // The call may have begun in an earlier chunk: go back as long as all calls that are open at the
  // end of the chunk are left (by `left` Leaves) between it and `time`.
  std::uint64_t left = 0;
  while (finder.open().size() <= left && begin > 0) {
    left += finder.older_left() - finder.open().size();
    finder = RegionFinder(std::numeric_limits<std::uint64_t>::max());
    TRY(walk(file, {--begin, 1}, finder));
  }
  if (finder.open().size() <= left) return k_none;
  return Resolver(file.local.regions,
                  file.references.regions)(finder.open()[finder.open().size() - 1 - left]);
}

Result<std::vector<trace::RegionRecord>> find_regions_around(const EventFile& file,
                                                             std::uint64_t time, std::size_t most) {
  if (!file_exists(file.path)) return std::vector<trace::RegionRecord>();
  TRY_ASSIGN(const std::uint64_t begin, chunk_before(file, time));
  RegionCollector collector(time, most);
  TRY(walk(file, {begin > 0 ? begin - 1 : 0, ChunkRange::k_all}, collector));
  std::vector<trace::RegionRecord> found = collector.take();
  Resolver resolve(file.local.regions, file.references.regions);
  for (trace::RegionRecord& record : found) record.region = resolve(record.region);
  return found;
}

}  // namespace entrain::otf2
