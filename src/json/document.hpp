// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <entrain/error.hpp>

namespace entrain::json {

/// The text of a file, plain or as gzip packs it.
struct Document {
  std::string text;
  bool packed = false;  ///< the file is gzip
  bool cut = false;     ///< it ends inside its gzip stream
};

/// True if a file of this name can hold JSON: .json, .jsonl, .ndjson, and these with .gz.
bool is_document_name(const std::filesystem::path& path);

/// Reads a regular file; gzip is told by its first two bytes, not by the name. A stream that ends
/// too early is read as far as it goes. Errors: those of TextReader, of check_memory_room(), and
/// ErrorKind::input for what is no UTF-8.
Result<Document> load(const std::filesystem::path& path, std::uint64_t max_unpacked = 0);

/// As much of a text as beginning() gives.
inline constexpr std::size_t k_beginning = std::size_t{1} << 16;

/// The first 64 KiB of the text of a file, plain or packed; less where it is shorter or damaged,
/// and empty where it is no regular file. Errors: ErrorKind::input where the system cannot read it.
Result<std::string> beginning(const std::filesystem::path& path);

/// A piece of a text and what stands there instead.
struct Replacement {
  std::size_t at = 0, size = 0;  ///< bytes of the text
  std::string with;
};

/// The text with its pieces replaced; every other byte stays. In order of `at`, without overlap.
std::string patch(std::string_view text, const std::vector<Replacement>& replacements);

/// Creates a file of this text, packed if asked for; the same text gives the same bytes. Errors:
/// ErrorKind::output.
Result<void> save(const std::filesystem::path& path, std::string_view text, bool packed);

}  // namespace entrain::json
