// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/format/definition_file.hpp"

#include <algorithm>
#include <utility>

#include "base/file.hpp"
#include "base/try.hpp"
#include "formats/otf2/format/block_reader.hpp"
#include "formats/otf2/format/format.hpp"
#include "formats/otf2/format/walk.hpp"

namespace entrain::otf2 {

namespace {

/// Collects the records of one file.
struct DefinitionCollector {
  DefinitionFile& file;
  const std::uint8_t* block = nullptr;

  void chunk(const std::uint8_t* bytes, bool big_endian) {
    const bool first = block == nullptr;
    block = bytes;
    if (!first && big_endian != file.big_endian) file.mixed_endian = true;
    file.big_endian = big_endian;
  }
  static bool stamp(std::size_t, std::uint64_t) { return true; }
  bool record(std::uint8_t type, std::size_t offset, std::size_t size) {
    file.records.push_back({type, {block + offset, block + offset + size}});
    return true;
  }
};

/// Bytes that append_record() adds for a payload of this size.
std::size_t framed_size(std::size_t payload_size) {
  return 1 + (payload_size < k_long_length ? 1 : 9) + payload_size;
}

void append_record(std::vector<std::uint8_t>& bytes, std::uint8_t type,
                   std::span<const std::uint8_t> payload, bool big_endian) {
  bytes.push_back(type);
  if (payload.size() < k_long_length) {
    bytes.push_back(static_cast<std::uint8_t>(payload.size()));
  } else {
    bytes.push_back(k_long_length);
    bytes.resize(bytes.size() + 8);
    store_u64(bytes.data() + bytes.size() - 8, payload.size(), big_endian);
  }
  bytes.insert(bytes.end(), payload.begin(), payload.end());
}

}  // namespace

Result<DefinitionFile> read_definition_file(const std::filesystem::path& path,
                                            std::uint64_t chunk_size) {
  TRY_ASSIGN(std::vector<std::uint8_t> bytes, read_file(path, k_largest_definition_file));
  return parse_definitions(std::move(bytes), chunk_size, path);
}

/// Opens first and asks later: nearly all of these files are there.
Result<std::optional<DefinitionFile>> read_definition_file_if_any(const std::filesystem::path& path,
                                                                  std::uint64_t chunk_size) {
  auto bytes = read_file(path, k_largest_definition_file);
  if (!bytes && !file_exists(path)) return std::optional<DefinitionFile>();
  TRY_ASSIGN(std::vector<std::uint8_t> all, std::move(bytes));
  TRY_ASSIGN(DefinitionFile file, parse_definitions(std::move(all), chunk_size, path));
  return std::optional(std::move(file));
}

Result<std::vector<std::uint8_t>> pack_definition_file(const DefinitionFile& file,
                                                       std::uint64_t chunk_size,
                                                       const std::filesystem::path& path) {
  if (file.mixed_endian) {
    return input_error("{} mixes byte orders, which cannot be written again", path.string());
  }
  std::vector<std::uint8_t> bytes;
  std::size_t chunk_begin = 0;
  const auto begin_chunk = [&] {
    chunk_begin = bytes.size();
    bytes.resize(bytes.size() + k_chunk_header_size);
    store_chunk_header(bytes.data() + chunk_begin, k_no_events, file.big_endian);
  };
  begin_chunk();
  for (const DefinitionRecord& record : file.records) {
    const std::size_t size = framed_size(record.payload.size());
    if (k_chunk_header_size + size + 1 > chunk_size) {
      return output_error("a record of {} is too large for a chunk of {} bytes", path.string(),
                          chunk_size);
    }
    if (bytes.size() - chunk_begin + size + 1 > chunk_size) {
      bytes.push_back(mark::end_of_chunk);
      bytes.resize(chunk_begin + chunk_size);
      begin_chunk();
    }
    append_record(bytes, record.type, record.payload, file.big_endian);
  }
  bytes.push_back(mark::end_of_file);
  bytes.push_back(mark::end_of_buffer);
  return bytes;
}

Result<DefinitionFile> parse_definitions(std::vector<std::uint8_t> bytes, std::uint64_t chunk_size,
                                         const std::filesystem::path& path) {
  DefinitionFile file;
  DefinitionCollector collector{file};
  for (std::uint64_t at = 0;; at += chunk_size) {
    const std::uint64_t size = at < bytes.size() ? std::min(chunk_size, bytes.size() - at) : 0;
    const std::uint64_t begin = std::min<std::uint64_t>(at, bytes.size());
    const ChunkWalk walk = walk_chunk<Framing::plain>(bytes.data() + begin, size, collector);
    if (walk.end == ChunkEnd::end_of_file) return file;
    if (walk.end == ChunkEnd::ran_out) {
      return damaged(path, begin + walk.offset, "the file ends too early");
    }
    if (walk.end == ChunkEnd::damaged) return damaged(path, begin + walk.offset, walk.problem);
  }
}

bool same_records(const DefinitionFile& a, const DefinitionFile& b, std::uint8_t except) {
  const auto rest_of = [except](const DefinitionFile& file) {
    std::vector<const DefinitionRecord*> rest;
    for (const DefinitionRecord& record : file.records) {
      if (record.type != except) rest.push_back(&record);
    }
    return rest;
  };
  const auto x = rest_of(a), y = rest_of(b);
  // Payloads of different byte order mean different things.
  if (a.mixed_endian || b.mixed_endian) return false;
  if (!x.empty() && !y.empty() && a.big_endian != b.big_endian) return false;
  return std::ranges::equal(x, y, [](const DefinitionRecord* r, const DefinitionRecord* s) {
    return r->type == s->type && r->payload == s->payload;
  });
}

}  // namespace entrain::otf2
