// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "base/file.hpp"
#include "base/try.hpp"
#include "formats/otf2/format/block_reader.hpp"
#include "formats/otf2/format/format.hpp"
#include "formats/otf2/read/event_file.hpp"

namespace entrain::otf2 {

namespace {

/// Hands records on to `see(time, type, region)`, which returns false to end the walk. `region`:
/// local id of Enter and Leave.
template <class See>
class RegionWalker : public ChunkVisitor {
 public:
  explicit RegionWalker(const See& see) : see_(see) {}
  bool stamp(std::size_t, std::uint64_t time) {
    now_ = time;
    has_time_ = true;
    return time <= k_last_time;
  }
  bool record(std::uint8_t type, std::size_t offset, std::size_t size) {
    std::uint32_t region = k_none;
    if (type == event::enter || type == event::leave) {
      FieldReader in = fields(offset, size);
      region = in.c32();
      if (!in.ok()) return false;
    }
    if (!has_time_) return false;
    stopped_ = !see_(now_, type, region);
    return !stopped_;
  }
  /// The walk ended because `see` wanted no more.
  [[nodiscard]] bool stopped() const { return stopped_; }

 private:
  const See& see_;
  std::uint64_t now_ = 0;
  bool has_time_ = false, stopped_ = false;
};

/// Shows `see` the records in `range`, as above. walk_file() reports an early end as damage.
template <class See>
Result<void> walk_regions(const EventFile& file, ChunkRange range, const See& see) {
  TRY_ASSIGN(auto reader, BlockReader::open(file.path, file.chunk_size, range));
  RegionWalker walker(see);
  const auto end = walk_file<Framing::events>(reader, walker, [](auto) { return Result<void>(); });
  if (end || walker.stopped()) return {};
  return tl::unexpected<Error>(end.error());
}

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

/// Calls that begin and end, in local ids of regions.
struct OpenCalls {
  std::vector<std::uint32_t> open;  ///< those that began here and have not ended
  std::uint64_t older_left = 0;     ///< calls that ended here and had begun before

  void follow(std::uint8_t type, std::uint32_t region) {
    if (type == event::enter) open.push_back(region);
    if (type != event::leave) return;
    if (open.empty()) {
      ++older_left;
    } else {
      open.pop_back();
    }
  }
};

}  // namespace

Result<std::uint32_t> find_region(const EventFile& file, std::uint64_t time) {
  if (!file_exists(file.path)) return k_none;
  TRY_ASSIGN(std::uint64_t begin, chunk_before(file, time));
  OpenCalls calls;
  std::optional<std::uint64_t> found;  // stamp of the first event at `time` or later
  const auto until_time = [&](std::uint64_t now, std::uint8_t type, std::uint32_t region) {
    if (now < time) found.reset();
    if (found && (type != event::enter || (now > time && now != *found))) return false;
    if (now >= time && !found) {
      found = now;
      if (type != event::enter) return false;
    }
    calls.follow(type, region);
    return true;
  };
  TRY(walk_regions(file, {begin, ChunkRange::k_all}, until_time));
  // The call may have begun in an earlier chunk: go back as long as all calls that are open at the
  // end of the chunk are left (by `left` Leaves) between it and `time`.
  std::uint64_t left = 0;
  while (calls.open.size() <= left && begin > 0) {
    left += calls.older_left - calls.open.size();
    calls = {};
    const auto all = [&](std::uint64_t, std::uint8_t type, std::uint32_t region) {
      calls.follow(type, region);
      return true;
    };
    TRY(walk_regions(file, {--begin, 1}, all));
  }
  if (calls.open.size() <= left) return k_none;
  Resolver resolve(file.local.regions, file.references.regions);
  return resolve(calls.open[calls.open.size() - 1 - left]);
}

Result<std::vector<trace::RegionRecord>> find_regions_around(const EventFile& file,
                                                             std::uint64_t time, std::size_t most) {
  std::vector<trace::RegionRecord> found;
  if (!file_exists(file.path)) return found;
  TRY_ASSIGN(const std::uint64_t begin, chunk_before(file, time));
  std::size_t after = 0;  // of those found, at `time` or later
  Resolver resolve(file.local.regions, file.references.regions);
  const auto drop_first = [&](std::size_t count) {
    found.erase(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(count));
  };
  const auto collect = [&](std::uint64_t now, std::uint8_t type, std::uint32_t region) {
    if (type != event::enter && type != event::leave) return true;
    if (now >= time && after++ == most) return false;
    if (now < time && found.size() == 2 * most) drop_first(most);  // now and then: O(1) each
    found.push_back({.time = now, .region = resolve(region), .enter = type == event::enter});
    return true;
  };
  TRY(walk_regions(file, {begin > 0 ? begin - 1 : 0, ChunkRange::k_all}, collect));
  const auto from = std::ranges::find_if(found, [&](const auto& one) { return one.time >= time; });
  const auto before = static_cast<std::size_t>(from - found.begin());
  if (before > most) drop_first(before - most);
  return found;
}

Result<void> read_regions(const EventFile& file, Progress* progress,
                          const trace::RegionVisitor& visit) {
  Resolver resolve(file.local.regions, file.references.regions);
  const auto see = [&](std::uint64_t now, std::uint8_t type, std::uint32_t region) {
    if (type == event::enter || type == event::leave) {
      visit({.time = now, .region = resolve(region), .enter = type == event::enter});
    }
    return true;
  };
  RegionWalker walker(see);
  return visit_events(file.path, file.chunk_size, progress, walker);
}

}  // namespace entrain::otf2
