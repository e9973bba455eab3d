// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include <entrain/error.hpp>

#include "formats/json/packing.hpp"
#include "formats/json/text_file.hpp"

namespace entrain::json {

/// The text of a file, plain or packed.
struct Document {
  std::string text;
  Packing packing = Packing::none;
  bool cut = false;  ///< the file ends inside a packed stream
};

/// True if a file of this name can hold JSON: .json, .jsonl, .ndjson, and these with .gz or
/// .zst, in letters of either case.
bool is_document_name(const std::filesystem::path& path);

/// Reads a regular file; its first bytes, not its name, decide whether it is packed. Reads a
/// stream that ends too early up to its end. Errors: those of TextReader, of check_memory_room(),
/// and ErrorKind::input for what is no UTF-8.
Result<Document> load(const std::filesystem::path& path, std::uint64_t max_unpacked = 0,
                      Content content = Content::text);
/// Refuses a text that is no UTF-8, unless it ends inside a character. Errors: ErrorKind::input.
Result<void> check_utf8(std::string_view text, const std::filesystem::path& path);

/// Largest size of the text that beginning() returns, bytes.
inline constexpr std::size_t k_beginning = std::size_t{1} << 16;

/// The first 64 KiB of the text of a file, plain or packed; less where it is shorter or damaged,
/// and empty where it is no regular file. Errors: ErrorKind::input where the system cannot read it.
Result<std::string> beginning(const std::filesystem::path& path);

/// Creates a file of this text; the same text gives the same bytes. Errors: ErrorKind::output.
Result<void> save(const std::filesystem::path& path, std::string_view text, Packing packing);

}  // namespace entrain::json
