// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
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

/// Calls see(piece, so_far) for the text of a file from begin to end, in pieces for read(): JSON
/// with a document per line and Protobuf in pieces of 16 MiB, or more where a document is longer;
/// others as a whole. Returns the facts of the file, without its events. Errors: those of load()
/// and see().
using SeePiece = std::function<Result<void>(SpanText& piece, TextSoFar& so_far)>;
Result<SourceFile> for_each_piece(const std::filesystem::path& path, std::uint64_t max_unpacked,
                                  const std::string& columns, const SeePiece& see);

/// Reads a file, and adds its spans. Errors: those of for_each_piece() and read().
Result<SourceFile> read_file(const std::filesystem::path& file, std::uint64_t max_unpacked,
                             const std::string& columns, Spans& spans);
/// The spans of a file that was read before. Errors: those of read_file(), and ErrorKind::input if
/// it has changed.
Result<Spans> read_again(const SourceFile& file);

/// Summarises a file without holding it in memory: calls write(content) for what unpack() reads.
/// Returns the facts of the file. Errors: those of read_file() and write().
using WriteContent = std::function<Result<void>(std::string_view content)>;
Result<SourceFile> summarise(const std::filesystem::path& path, std::uint64_t max_unpacked,
                             const std::string& columns, const WriteContent& write);

/// Number of spans that say too little to be used.
std::uint64_t ignored_of(const Spans& spans);

}  // namespace entrain::spans
