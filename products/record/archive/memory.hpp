// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace entrain::record {

/// The memory in which the OTF2 library collects the records of one buffer until it writes them.
///
/// Buffers of events lie in a mapped file that grows with them. The system writes it to disk in the
/// background, older parts leave memory, and the records of a killed process survive (the library
/// itself keeps megabytes in memory even after a flush). At the end the library copies the buffer
/// to the event file. Where no file can be mapped, plain memory serves, and the library flushes
/// when the limit is reached. The file is open only while it grows: the number of open files is
/// limited, and the program may need them all.
///
/// A pool serves a single thread at a time.
class ChunkPool {
 public:
  /// `path` is "" for plain memory. About `limit` bytes stay in memory, at least two chunks.
  ChunkPool(std::string path, std::uint64_t limit) : path_(std::move(path)), limit_(limit) {}
  ChunkPool(const ChunkPool&) = delete;
  ChunkPool& operator=(const ChunkPool&) = delete;
  ~ChunkPool();

  /// The next chunk; `bytes` is the same in every call. Null when the limit of plain memory is
  /// reached, or when the disk is full; the mapped file must not change any more then.
  void* allocate(std::size_t bytes);
  /// The library has written all chunks: they are free again.
  void release() {
    written_ += used_;
    used_ = 0;
  }
  /// Chunks that were released so far.
  [[nodiscard]] std::uint64_t written() const { return written_; }
  /// True once the mapped file could not grow.
  [[nodiscard]] bool out_of_room() const { return out_of_room_; }
  /// Why it could not (errno), or 0.
  [[nodiscard]] int problem() const { return problem_; }
  /// The destructor will not remove the file.
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
  std::uint64_t size_ = 0;  ///< size of all steps, bytes
  std::size_t used_ = 0;    ///< chunks
  std::uint64_t written_ = 0;
  bool out_of_room_ = false;
  int problem_ = 0;
  std::vector<Step> steps_;
  std::vector<void*> chunks_;
};

}  // namespace entrain::record
