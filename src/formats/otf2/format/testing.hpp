// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.hpp"
#include "base/temp_folder_testing.hpp"
#include "formats/otf2/format/format.hpp"

/// Files made byte by byte, for the tests of this folder.
namespace entrain::otf2::testing {

namespace fs = std::filesystem;
using entrain::TempFolder;
using Bytes = std::vector<std::uint8_t>;

/// Builds the bytes of one chunk: header, then what is added.
class ChunkBuilder {
 public:
  explicit ChunkBuilder(bool big_endian = false) : big_endian_(big_endian) {
    raw({mark::chunk_header, big_endian ? k_big_endian : k_little_endian});
    fixed(1).fixed(0);
  }

  ChunkBuilder& raw(std::initializer_list<int> values) {
    for (const int value : values) bytes_.push_back(static_cast<std::uint8_t>(value));
    return *this;
  }
  ChunkBuilder& fixed(std::uint64_t value) {
    bytes_.resize(bytes_.size() + 8);
    store_u64(bytes_.data() + bytes_.size() - 8, value, big_endian_);
    return *this;
  }
  ChunkBuilder& compressed(std::uint64_t value) {
    std::uint8_t encoded[9];
    const std::size_t size = store_compressed(encoded, value, big_endian_);
    bytes_.insert(bytes_.end(), encoded, encoded + size);
    return *this;
  }
  ChunkBuilder& stamp(std::uint64_t time) { return raw({mark::stamp}).fixed(time); }
  ChunkBuilder& enter(std::uint64_t region) { return raw({event::enter}).compressed(region); }
  ChunkBuilder& record(std::uint8_t type, const Bytes& payload) {
    raw({type, static_cast<int>(payload.size())});
    bytes_.insert(bytes_.end(), payload.begin(), payload.end());
    return *this;
  }
  ChunkBuilder& flush(std::uint64_t stop) { return raw({event::buffer_flush, 8}).fixed(stop); }
  /// End-of-chunk mark, and zeros up to the chunk size.
  ChunkBuilder& next_chunk(std::size_t chunk_size) {
    raw({mark::end_of_chunk});
    bytes_.resize(chunk_size);
    return *this;
  }
  ChunkBuilder& end() { return raw({mark::end_of_file, mark::end_of_buffer}); }

  [[nodiscard]] const Bytes& bytes() const { return bytes_; }

 private:
  bool big_endian_;
  Bytes bytes_;
};

inline Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

inline Bytes contents(const fs::path& path) {
  auto bytes = read_file(path, std::numeric_limits<std::uint64_t>::max());
  if (!bytes) throw std::runtime_error(bytes.error().message);
  return *std::move(bytes);
}

/// Relative to the sources: examples/traces/NAME/FILE.
inline fs::path example(std::string_view name, std::string_view file) {
  return fs::path(ENTRAIN_EXAMPLES_DIR) / "traces" / name / file;
}

}  // namespace entrain::otf2::testing
