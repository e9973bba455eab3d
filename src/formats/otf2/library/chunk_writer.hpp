// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <vector>

namespace entrain::otf2 {

/// Fields of one record in the little-endian form of the format.
class Fields {
 public:
  Fields& u8(std::uint8_t value) {
    bytes_.push_back(value);
    return *this;
  }
  /// A compressed integer of 32 bits; all ones mean undefined.
  Fields& c32(std::uint32_t value);
  /// A compressed integer of 64 bits, likewise.
  Fields& c64(std::uint64_t value);
  Fields& fixed64(std::uint64_t value);
  Fields& text(std::string_view value);

  /// Adds the fields of another record.
  Fields& append(const Fields& more) {
    bytes_.insert(bytes_.end(), more.bytes_.begin(), more.bytes_.end());
    return *this;
  }

  [[nodiscard]] const std::vector<std::uint8_t>& bytes() const { return bytes_; }
  void clear() { bytes_.clear(); }

 private:
  std::vector<std::uint8_t> bytes_;
};

/// Writes one chunked file of a copy. After a failure nothing more is written and finish() returns
/// false.
class ChunkWriter {
 public:
  ChunkWriter(const std::filesystem::path& path, std::size_t chunk_size);
  ~ChunkWriter();
  ChunkWriter(const ChunkWriter&) = delete;
  ChunkWriter& operator=(const ChunkWriter&) = delete;

  /// Adds an event record. A stamp is written if `time` is not that of the record before.
  void event(std::uint64_t time, std::uint8_t type, const Fields& fields) {
    event(time, type, fields, {});
  }
  /// The same for an event with an attribute list, of which `attributes` are the fields: less than
  /// 255 bytes. No fields: no list.
  void event(std::uint64_t time, std::uint8_t type, const Fields& fields, const Fields& attributes);
  /// Adds a definition record.
  void record(std::uint8_t type, const Fields& fields);
  /// Writes the end marks. Returns false if anything failed; errno then says why.
  bool finish();

 private:
  void begin_chunk();
  /// Begins a new chunk unless `size` bytes and an end mark fit into this one.
  void make_room(std::size_t size);
  void write_buffer();

  std::FILE* file_ = nullptr;
  std::size_t chunk_size_;
  std::vector<std::uint8_t> buffer_;
  std::uint64_t time_ = 0;
  bool has_time_ = false;
  bool failed_ = false;
};

}  // namespace entrain::otf2
