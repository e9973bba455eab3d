// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include "base/cancel.hpp"
#include "base/file.hpp"
#include "base/try.hpp"
#include "formats/otf2/format/walk.hpp"

namespace entrain::otf2 {

/// The error for a file whose structure is broken at byte `offset`.
inline tl::unexpected<Error> damaged(const std::filesystem::path& path, std::uint64_t offset,
                                     std::string_view problem) {
  return input_error("{} is damaged at byte {}: {}; restore the file or record the trace again",
                     path.string(), offset, problem);
}

/// Consecutive chunks of a file.
struct ChunkRange {
  static constexpr std::uint64_t k_all = ~std::uint64_t{0};
  std::uint64_t first = 0;
  std::uint64_t count = k_all;  ///< k_all: up to the end, even if the file grows meanwhile
};

/// Reads a chunked file block by block into one buffer that is reused. A block is a chunk, or the
/// shorter rest at the end of the file.
class BlockReader {
 public:
  /// `chunk_size` from the anchor; the file may have `limit` bytes. Errors: ErrorKind::input.
  static Result<BlockReader> open(const std::filesystem::path& path, std::uint64_t chunk_size,
                                  ChunkRange range = {}, std::uint64_t limit = File::k_any_size) {
    BlockReader reader;
    TRY_ASSIGN(reader.file_, File::open_for_reading(path, limit));
    reader.buffer_size_ = std::min(chunk_size, reader.file_size());
    // Not zeroed: that would touch every page once more than the first read does.
    reader.buffer_ = std::make_unique_for_overwrite<std::uint8_t[]>(reader.buffer_size_);
    reader.next_offset_ = range.first * chunk_size;
    if (range.count != ChunkRange::k_all) {
      reader.end_offset_ = reader.next_offset_ + range.count * chunk_size;
    }
    return reader;
  }

  /// Loads the next block; an empty one at the end of the range or file. The bytes hold until the
  /// next call.
  Result<std::span<std::uint8_t>> next() {
    offset_ = next_offset_;
    if (at_end_of_range()) return std::span<std::uint8_t>();
    const std::span<std::uint8_t> buffer(buffer_.get(), buffer_size_);
    TRY_ASSIGN(const std::size_t n, file_.read_at(offset_, buffer));
    next_offset_ = offset_ + n;
    return buffer.first(n);
  }

  /// Position in the file of the block loaded last.
  [[nodiscard]] std::uint64_t offset() const { return offset_; }
  [[nodiscard]] std::uint64_t next_offset() const { return next_offset_; }
  [[nodiscard]] std::uint64_t file_size() const { return file_.size_when_opened(); }
  [[nodiscard]] const File& file() const { return file_; }
  /// True when all chunks of a limited range were loaded; the file may go on after them.
  [[nodiscard]] bool at_end_of_range() const { return next_offset_ >= end_offset_; }

 private:
  File file_;
  std::unique_ptr<std::uint8_t[]> buffer_;
  std::size_t buffer_size_ = 0;
  std::uint64_t offset_ = 0;
  std::uint64_t next_offset_ = 0;
  std::uint64_t end_offset_ = ~std::uint64_t{0};
};

/// Counts the bytes of a block in `progress`, which may be null. Errors: ErrorKind::interrupted.
inline Result<void> count_block(Progress* progress, std::span<const std::uint8_t> block) {
  TRY(Cancel(progress).check());
  if (progress != nullptr) progress->advance(block.size());
  return {};
}

/// Walks all blocks of a chunked file with walk_chunk(). After the visitor has seen a block,
/// `on_block(std::span<std::uint8_t> block)` is called with all its bytes, as the visitor left
/// them; it returns Result<void>. Returns true for a file that is truncated: it ends without an
/// end-of-file mark, and the range of the reader does not end before. Errors: ErrorKind::input for
/// a damaged structure, and those of `on_block`.
template <Framing framing, class Visitor, class OnBlock>
Result<bool> walk_file(BlockReader& reader, Visitor& visitor, OnBlock&& on_block) {
  while (true) {
    TRY_ASSIGN(const std::span<std::uint8_t> block, reader.next());
    if (block.empty()) return !reader.at_end_of_range();
    const ChunkWalk walk = walk_chunk<framing>(block.data(), block.size(), visitor);
    if (walk.end == ChunkEnd::damaged) {
      return damaged(reader.file().path(), reader.offset() + walk.offset, walk.problem);
    }
    if (walk.end == ChunkEnd::ran_out && reader.next_offset() < reader.file_size()) {
      return damaged(reader.file().path(), reader.offset() + walk.offset,
                     "a record runs past the end of its chunk");
    }
    TRY(on_block(block));
    if (walk.end != ChunkEnd::next_chunk) return walk.end == ChunkEnd::ran_out;
  }
}

/// Shows a visitor the records of an event file: a missing one has none, a truncated one those
/// before its end. `progress`, which may be null, counts bytes and may cancel. Errors:
/// ErrorKind::input for a damaged file, ErrorKind::interrupted.
template <class Visitor>
Result<void> visit_events(const std::filesystem::path& path, std::uint64_t chunk_size,
                          Progress* progress, Visitor& visitor) {
  if (!file_exists(path)) return {};
  TRY_ASSIGN(BlockReader reader, BlockReader::open(path, chunk_size));
  TRY(walk_file<Framing::events>(reader, visitor,
                                 [&](auto block) { return count_block(progress, block); }));
  return {};
}

}  // namespace entrain::otf2
