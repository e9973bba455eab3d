// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "base/file.hpp"
#include "base/try.hpp"
#include "otf2/walk.hpp"

namespace entrain::otf2 {

/// The error for a file whose structure is broken at byte `offset`.
inline tl::unexpected<Error> damaged(const std::filesystem::path& path, std::uint64_t offset,
                                     std::string_view problem) {
  return fail(ErrorKind::input,
              fmt::format("{} is damaged at byte {}: {}; restore the file or record the trace again",
                          path.string(), offset, problem));
}

/// Reads a chunked file block by block into one buffer that is reused.
class BlockReader {
 public:
  /// `chunk_size` from the anchor. Errors: ErrorKind::input.
  static Result<BlockReader> open(const std::filesystem::path& path, std::uint64_t chunk_size) {
    BlockReader reader;
    TRY_ASSIGN(reader.file_, File::open_for_reading(path));
    TRY_ASSIGN(reader.file_size_, reader.file_.size());
    reader.chunk_size_ = chunk_size;
    reader.buffer_.resize(std::min(chunk_size, reader.file_size_));
    return reader;
  }

  /// Loads the next block; an empty one at the end of the file.
  Result<std::span<std::uint8_t>> next() {
    offset_ = next_offset_;
    TRY_ASSIGN(const std::size_t n, file_.read_at(offset_, buffer_));
    next_offset_ = offset_ + n;
    return std::span(buffer_.data(), n);
  }

  /// Position in the file of the block loaded last.
  [[nodiscard]] std::uint64_t offset() const { return offset_; }
  [[nodiscard]] std::uint64_t next_offset() const { return next_offset_; }
  [[nodiscard]] std::uint64_t file_size() const { return file_size_; }
  [[nodiscard]] const File& file() const { return file_; }

 private:
  File file_;
  std::vector<std::uint8_t> buffer_;
  std::uint64_t chunk_size_ = 0;
  std::uint64_t file_size_ = 0;
  std::uint64_t offset_ = 0;
  std::uint64_t next_offset_ = 0;
};

/// How far a file could be read.
struct FileEnd {
  bool truncated = false;           ///< ends without an end-of-file mark
  std::uint64_t end_of_records = 0; ///< position behind the end mark, or of the incomplete rest
};

/// Walks all blocks of a chunked file. `on_block(std::span<std::uint8_t>, std::size_t used)` is
/// called after the visitor saw a block, with the number of bytes in use; it returns Result<void>.
/// Errors: ErrorKind::input for a damaged structure; a premature end is reported in the result.
template <Framing framing, class Visitor, class OnBlock>
Result<FileEnd> walk_file(BlockReader& reader, Visitor& visitor, OnBlock&& on_block) {
  while (true) {
    TRY_ASSIGN(const std::span<std::uint8_t> block, reader.next());
    if (block.empty()) return FileEnd{true, reader.offset()};
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

/// Packs records into chunks exactly as the OTF2 library does. Errors: ErrorKind::output for a
/// record that does not fit into a chunk.
Result<std::vector<std::uint8_t>> pack_definition_file(const DefinitionFile& file,
                                                       std::uint64_t chunk_size,
                                                       const std::filesystem::path& path);

}  // namespace entrain::otf2
