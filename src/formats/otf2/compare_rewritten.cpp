// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/compare_rewritten.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/cancel.hpp"
#include "base/executor.hpp"
#include "base/file.hpp"
#include "base/try.hpp"
#include "formats/otf2/format/block_reader.hpp"
#include "formats/otf2/format/definition_file.hpp"
#include "formats/otf2/format/format.hpp"
#include "formats/otf2/format/quick.hpp"

namespace entrain::otf2 {

namespace {

namespace fs = std::filesystem;

/// Visits a block of the original beside the same block of the written file. Compares the stamps
/// of the second one with the mapped stamps of the first, then copies the original's times into the
/// second block: if the two blocks differ afterwards, they differ in more than times.
class TimeComparer : public ChunkVisitor {
 public:
  explicit TimeComparer(const ClockMap& map) : cursor_(map) {}

  /// `other` is as large as the block visited next.
  void compare_with(std::uint8_t* other) { other_ = other; }
  [[nodiscard]] bool as_mapped() const { return as_mapped_; }

  bool stamp(std::size_t offset, std::uint64_t time) {
    const std::uint64_t written = load_u64(other_ + offset, big_endian_);
    as_mapped_ &= written == mapped(time) && written >= last_;
    last_ = written;
    copy(offset);
    return true;
  }
  bool record(std::uint8_t type, std::size_t offset, std::size_t size) {
    if (type == event::buffer_flush && size >= 8) copy(offset);  // its stop time
    return true;
  }
  std::size_t hurry(std::size_t at, std::size_t limit) {
    bool same = true;
    std::uint64_t last = last_;
    while (at < limit) {
      if (chunk_[at] == mark::stamp) {
        const std::uint64_t written = load_u64(other_ + at + 1, false);
        same &= written == mapped(load_u64(chunk_ + at + 1, false)) && written >= last;
        last = written;
        copy(at + 1);
        at += 9;
      }
      const std::size_t type = chunk_[at], length = chunk_[at + 1];
      if (length >= k_timeless_records[type]) break;
      at += 2 + length;
    }
    as_mapped_ &= same;
    last_ = last;
    return at;
  }

 private:
  std::uint64_t mapped(std::uint64_t time) { return static_cast<std::uint64_t>(cursor_(time)); }
  void copy(std::size_t offset) { std::memcpy(other_ + offset, chunk_ + offset, 8); }

  ClockMap::Cursor cursor_;
  std::uint8_t* other_ = nullptr;
  bool as_mapped_ = true;
  std::uint64_t last_ = 0;
};

tl::unexpected<Error> different(const fs::path& written, const fs::path& original,
                                std::uint64_t offset) {
  return output_error(
      "{} is not what was to be written: it differs from {} in more than times, near byte {}; "
      "check the disk and run the correction again",
      written.string(), original.string(), offset);
}

class Comparison {
 public:
  Comparison(const RewrittenArchive& archive, Progress* progress)
      : original_(archive.original),
        written_(archive.written),
        maps_(archive.maps),
        progress_(progress) {}

  Result<Rewritten> run(std::span<const LocationIndex> locations, unsigned threads) {
    TRY_ASSIGN(const DefinitionFile from,
               read_definition_file(original_.global_definition_file(),
                                    original_.anchor().definition_chunk_size));
    TRY_ASSIGN(const DefinitionFile to,
               read_definition_file(written_.global_definition_file(),
                                    written_.anchor().definition_chunk_size));
    compare_definitions(from, to, def::clock_properties);
    TRY(parallel_for(threads, locations.size(),
                     [&](std::size_t i) { return compare_local_definitions(locations[i]); }));
    if (progress_ != nullptr) progress_->begin("read back", original_.event_bytes(locations), "B");
    TRY(parallel_for(threads, locations.size(),
                     [&](std::size_t i) { return compare(locations[i]); }));
    return Rewritten{as_mapped_, has_clock_offsets_};
  }

 private:
  void compare_definitions(const DefinitionFile& from, const DefinitionFile& to,
                           std::uint8_t except) {
    if (!same_records(from, to, except)) as_mapped_ = false;
  }

  Result<void> compare_local_definitions(LocationIndex location) {
    TRY(Cancel(progress_).check());
    TRY_ASSIGN(const auto from, original_.local_file(location));
    TRY_ASSIGN(const auto to, written_.local_file(location));
    compare_definitions(from.value_or(DefinitionFile{}), to.value_or(DefinitionFile{}),
                        def::local_clock_offset);
    TRY_ASSIGN(
        const LocalDefinitions local,
        local_definitions_of(to.value_or(DefinitionFile{}), written_.definition_file(location)));
    if (local.clock_offsets.empty()) return {};
    has_clock_offsets_ = true;
    if (!trace::in_order(local.clock_offsets)) as_mapped_ = false;
    const bool effective =
        local.clock_offsets.size() > 1 &&
        std::ranges::any_of(local.clock_offsets, [](const auto& one) { return one.offset != 0; });
    if (effective) as_mapped_ = false;
    return {};
  }

  Result<void> compare(LocationIndex location) {
    const fs::path from = original_.event_file(location);
    const fs::path to = written_.event_file(location);
    if (!file_exists(from) && !file_exists(to)) return {};
    TRY_ASSIGN(BlockReader a, BlockReader::open(from, original_.anchor().event_chunk_size));
    TRY_ASSIGN(BlockReader b, BlockReader::open(to, written_.anchor().event_chunk_size));
    TimeComparer comparer(maps_[location]);
    bool in_records = true;
    while (true) {
      TRY_ASSIGN(const std::span<std::uint8_t> left, a.next());
      TRY_ASSIGN(const std::span<std::uint8_t> right, b.next());
      if (left.size() != right.size()) return different(to, from, a.offset());
      if (left.empty()) break;
      TRY(count_block(progress_, left));
      if (in_records) {
        comparer.compare_with(right.data());
        const ChunkWalk walk = walk_chunk<Framing::events>(left.data(), left.size(), comparer);
        in_records = walk.end == ChunkEnd::next_chunk;
      }
      if (std::memcmp(left.data(), right.data(), left.size()) != 0) {
        return different(to, from, a.offset());
      }
    }
    if (!comparer.as_mapped()) as_mapped_ = false;
    return {};
  }

  const Archive& original_;
  const Archive& written_;
  std::span<const ClockMap> maps_;
  Progress* progress_;
  std::atomic<bool> as_mapped_{true}, has_clock_offsets_{false};
};

}  // namespace

Result<Rewritten> compare_rewritten(const RewrittenArchive& archive, unsigned threads,
                                    Progress* progress) {
  return Comparison(archive, progress).run(archive.locations, threads);
}

}  // namespace entrain::otf2
