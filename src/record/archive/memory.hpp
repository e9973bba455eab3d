// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace entrain::record {

/// The memory in which the OTF2 library gathers the records of one buffer until it writes them.
///
/// Buffers of events lie in a mapped file that grows with them: the system writes it to disk in the
/// background, older parts leave memory, and what a killed process had recorded is still there (the
/// library itself keeps megabytes in memory even after it flushed). The library copies it to the
/// event file at the end. Where a file cannot be mapped, plain memory serves, and the library
/// flushes when the limit is reached. The file is open only while it grows: how many a process may
/// have open is a limit that belongs to the program.
class ChunkPool {
 public:
  /// `path` is "" for plain memory. About `limit` bytes stay in memory, at least two chunks.
  ChunkPool(std::string path, std::uint64_t limit) : path_(std::move(path)), limit_(limit) {}
  ChunkPool(const ChunkPool&) = delete;
  ChunkPool& operator=(const ChunkPool&) = delete;
  ~ChunkPool();

  /// The next chunk; always of the same size. Null when the limit of plain memory is reached, or
  /// when the disk is full: what is mapped must stay as it is then.
  void* allocate(std::size_t bytes);
  /// The library has written all chunks and they are free again.
  void release() {
    written_ += used_;
    used_ = 0;
  }
  /// Chunks that were released so far.
  [[nodiscard]] std::uint64_t written() const { return written_; }
  /// True once the disk had no room for the mapped file to grow.
  [[nodiscard]] bool out_of_room() const { return out_of_room_; }
  /// Why the mapped file could not grow (errno), or 0.
  [[nodiscard]] int problem() const { return problem_; }
  /// The file stays when this is destroyed.
  void keep_file() { keep_ = true; }

 private:
  struct Step {
    void* begin = nullptr;
    std::size_t bytes = 0;
    bool mapped = false, resident = true;
  };
  bool grow(std::size_t chunk);
  bool map(Step& step);
  void evict();

  std::string path_;
  std::uint64_t limit_;
  bool keep_ = false;
  bool mapped_ = false;     ///< the file is there
  std::uint64_t size_ = 0;  ///< of all steps
  std::size_t used_ = 0;    ///< chunks
  std::uint64_t written_ = 0;
  bool out_of_room_ = false;
  int problem_ = 0;
  std::vector<Step> steps_;
  std::vector<void*> chunks_;
};

}  // namespace entrain::record
