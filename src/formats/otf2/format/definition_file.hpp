// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include <entrain/error.hpp>

namespace entrain::otf2 {

/// A definition record in memory.
struct DefinitionRecord {
  std::uint8_t type = 0;
  std::vector<std::uint8_t> payload;
  friend bool operator==(const DefinitionRecord&, const DefinitionRecord&) = default;
};

/// All records of a definition or marker file, in order.
struct DefinitionFile {
  std::vector<DefinitionRecord> records{};
  bool big_endian = false;
  bool mixed_endian = false;  ///< chunks of both byte orders: cannot be written again
};

/// Limit of the size of a definition or marker file, bytes: it is held in memory.
inline constexpr std::uint64_t k_largest_definition_file = std::uint64_t{4} << 30;

/// Reads a definition or marker file completely. Errors: ErrorKind::input, also if it is truncated.
Result<DefinitionFile> read_definition_file(const std::filesystem::path& path,
                                            std::uint64_t chunk_size);

/// The same; nothing if there is no such file.
Result<std::optional<DefinitionFile>> read_definition_file_if_any(const std::filesystem::path& path,
                                                                  std::uint64_t chunk_size);

/// The records of a file whose bytes are in memory; `path` is for messages. Errors as above.
Result<DefinitionFile> parse_definitions(std::vector<std::uint8_t> bytes, std::uint64_t chunk_size,
                                         const std::filesystem::path& path);

/// True if both hold the same records, but for those of type `except`, in the same byte order.
bool same_records(const DefinitionFile& a, const DefinitionFile& b, std::uint8_t except);

/// Packs records into chunks exactly as the OTF2 library does: type, length, payload; lengths up to
/// 254 take one byte, longer ones a byte 0xFF and 8 bytes. `path` is for messages. Errors:
/// ErrorKind::output for a record that does not fit into a chunk, ErrorKind::input for a file of
/// mixed byte orders.
Result<std::vector<std::uint8_t>> pack_definition_file(const DefinitionFile& file,
                                                       std::uint64_t chunk_size,
                                                       const std::filesystem::path& path);

}  // namespace entrain::otf2
