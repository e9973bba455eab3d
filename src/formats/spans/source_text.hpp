// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <entrain/error.hpp>

#include "formats/json/document.hpp"
#include "formats/spans/protobuf.hpp"
#include "formats/spans/spans.hpp"
#include "formats/spans/summary.hpp"

/// Texts of files of spans, in any encoding and packing.
namespace entrain::spans {

/// The framing of messages of Protobuf; empty for texts of another encoding.
std::optional<Framing> framing_at(std::string_view text);

/// The text of a file.
struct SpanText : json::Document {
  bool by_message = false;           ///< its messages are packed one by one
  std::string rest;                  ///< UnpackedMessages::rest
  std::vector<std::size_t> sizes{};  ///< UnpackedMessages::sizes
};

/// Reads and unpacks a file. The text is UTF-8 if it is no Protobuf. Errors: those of json::load()
/// and unpack_messages().
Result<SpanText> load(const std::filesystem::path& path, std::uint64_t max_unpacked);
/// The same of a file that was read before. Errors: also ErrorKind::input if it has changed.
Result<SpanText> load_again(const SourceFile& file);
/// The spans of a file that was read before. Errors: those of load_again() and read().
Result<Spans> read_again(const SourceFile& file);

/// Reads files, each by itself. Errors: those of load() and read().
Result<std::vector<SpanFile>> read_files(std::span<const std::filesystem::path> files,
                                         std::uint64_t max_unpacked, const std::string& columns);

/// Number of spans that say too little to be used.
std::uint64_t ignored_of(const Spans& spans);

}  // namespace entrain::spans
