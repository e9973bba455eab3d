// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "base/file.hpp"
#include "base/try.hpp"
#include "otf2/format/walk.hpp"

namespace entrain::otf2 {

/// The error for a file whose structure is broken at byte `offset`.
inline tl::unexpected<Error> damaged(const std::filesystem::path& path, std::uint64_t offset,
                                     std::string_view problem) {
  return fail(
      ErrorKind::input,
      fmt::format("{} is damaged at byte {}: {}; restore the file or record the trace again",
                  path.string(), offset, problem));
}

/// Consecutive chunks of a file.
struct ChunkRange {
  static constexpr std::uint64_t k_all = ~std::uint64_t{0};
  std::uint64_t first = 0;
  std::uint64_t count = k_all;  ///< k_all: up to the end, also if the file grows meanwhile
};

/// Reads a chunked file block by block into one buffer that is reused.
class BlockReader {
 public:
  /// `chunk_size` from the anchor. Errors: ErrorKind::input.
  static Result<BlockReader> open(const std::filesystem::path& path, std::uint64_t chunk_size,
                                  ChunkRange range = {}) {
    BlockReader reader;
    TRY_ASSIGN(reader.file_, File::open_for_reading(path));
    TRY_ASSIGN(reader.file_size_, reader.file_.size());
    reader.buffer_size_ = std::min(chunk_size, reader.file_size_);
    // Its pages are touched by the first read: there is nothing to gain from zeros.
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
  [[nodiscard]] std::uint64_t file_size() const { return file_size_; }
  [[nodiscard]] const File& file() const { return file_; }
  /// True when all chunks of a limited range were loaded: the file goes on behind it.
  [[nodiscard]] bool at_end_of_range() const { return next_offset_ >= end_offset_; }

 private:
  File file_;
  std::unique_ptr<std::uint8_t[]> buffer_;
  std::size_t buffer_size_ = 0;
  std::uint64_t file_size_ = 0;
  std::uint64_t offset_ = 0;
  std::uint64_t next_offset_ = 0;
  std::uint64_t end_offset_ = ~std::uint64_t{0};
};

/// How far a file could be read.
struct FileEnd {
  bool truncated = false;            ///< ends without an end-of-file mark
  std::uint64_t end_of_records = 0;  ///< position behind the end mark, or of the incomplete rest
  bool goes_on = false;              ///< no end yet, but the reader's range is done
};

/// Walks all blocks of a chunked file. `on_block(std::span<std::uint8_t>, std::size_t used)` is
/// called after the visitor saw a block, with the number of bytes in use; it returns Result<void>.
/// Errors: ErrorKind::input for a damaged structure; a premature end is reported in the result.
template <Framing framing, class Visitor, class OnBlock>
Result<FileEnd> walk_file(BlockReader& reader, Visitor& visitor, OnBlock&& on_block) {
  while (true) {
    TRY_ASSIGN(const std::span<std::uint8_t> block, reader.next());
    if (block.empty()) {
      return FileEnd{!reader.at_end_of_range(), reader.offset(), reader.at_end_of_range()};
    }
    const ChunkWalk walk = walk_chunk<framing>(block.data(), block.size(), visitor);
    if (walk.end == ChunkEnd::damaged) {
      return damaged(reader.file().path(), reader.offset() + walk.offset, walk.problem);
    }
    if (walk.end == ChunkEnd::ran_out && reader.next_offset() < reader.file_size()) {
      return damaged(reader.file().path(), reader.offset() + walk.offset,
                     "a record runs past the end of its chunk");
    }
    TRY(on_block(block));
    if (walk.end != ChunkEnd::next_chunk) {
      return FileEnd{walk.end == ChunkEnd::ran_out, reader.offset() + walk.offset};
    }
  }
}

/// One definition record in memory.
struct DefinitionRecord {
  std::uint8_t type = 0;
  std::uint64_t file_offset = 0;  ///< of the payload in the file it was read from
  std::vector<std::uint8_t> payload;
};

/// All records of a definition or marker file, in order.
struct DefinitionFile {
  std::vector<DefinitionRecord> records;
  bool big_endian = false;
  bool mixed_endian = false;  ///< chunks of both byte orders: cannot be written again
};

/// Reads a definition or marker file completely. Errors: ErrorKind::input, also if it is truncated.
Result<DefinitionFile> read_definition_file(const std::filesystem::path& path,
                                            std::uint64_t chunk_size);

/// A definition file, and the chunk size of its archive.
struct ChunkedPath {
  std::filesystem::path path;
  std::uint64_t chunk_size = 0;
};

/// True if two definition files hold the same records, but for those of type `except`, in the same
/// byte order. A file that does not exist holds none. Errors: ErrorKind::input.
Result<bool> same_definitions(const ChunkedPath& a, const ChunkedPath& b, std::uint8_t except);

/// Packs records into chunks exactly as the OTF2 library does. Errors: ErrorKind::output for a
/// record that does not fit into a chunk.
Result<std::vector<std::uint8_t>> pack_definition_file(const DefinitionFile& file,
                                                       std::uint64_t chunk_size,
                                                       const std::filesystem::path& path);

}  // namespace entrain::otf2
