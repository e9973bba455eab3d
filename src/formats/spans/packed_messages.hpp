// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <entrain/error.hpp>

/// Files of messages that are packed by zstd one by one, each after its size in 4 bytes, as the
/// collector's file exporter writes with `compression: zstd`.
namespace entrain::spans {

/// True for the beginning of such a file.
bool are_packed_messages(std::string_view beginning);

/// The first message of a beginning, unpacked as far as it goes.
std::string first_message(std::string_view beginning);

/// The messages unpacked.
struct UnpackedMessages {
  std::string text;  ///< those of JSON with a line feed after each, others after their sizes
  std::string rest;  ///< what follows the last whole message of the file
  std::vector<std::size_t> sizes;  ///< sizes of messages of JSON, with their line feeds
};

/// Unpacks the messages of a file, of `most` bytes in all. Errors: ErrorKind::input; those of
/// check_memory_room().
Result<UnpackedMessages> unpack_messages(std::string_view packed, std::uint64_t most,
                                         const std::filesystem::path& file);

/// Packs such a text again. `sizes`: UnpackedMessages::sizes of it. Errors: those of json::pack().
Result<std::string> pack_messages(std::string_view text, std::span<const std::size_t> sizes);

}  // namespace entrain::spans
