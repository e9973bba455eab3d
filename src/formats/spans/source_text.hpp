// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <entrain/clock_map.hpp>
#include <entrain/error.hpp>

#include "formats/json/document.hpp"
#include "formats/spans/protobuf.hpp"
#include "formats/spans/spans.hpp"
#include "formats/spans/summary.hpp"

/// Texts of files of spans, in any encoding and packing.
namespace entrain::spans {

/// The framing of messages of Protobuf; empty for texts of another encoding.
std::optional<Framing> framing_at(std::string_view text);

/// True for the beginning of a file of messages that are packed by zstd one by one, each after its
/// size in 4 bytes, as the collector's file exporter writes with `compression: zstd`.
bool are_packed_messages(std::string_view beginning);
/// The beginning of the text of a file; of packed messages, that of the first one. Errors: those of
/// json::beginning().
Result<std::string> beginning_of(const std::filesystem::path& path);

/// The text of a file.
struct SpanText : json::Document {
  bool by_message = false;  ///< its messages are packed one by one
  /// Of such a file: what follows its last whole message, and the sizes of messages of JSON, with
  /// the line feeds after them. Other messages stand in the text after their sizes.
  std::string rest;
  std::vector<std::size_t> sizes;
};

/// Reads and unpacks a file. The text is UTF-8 if it is no Protobuf. Errors: those of json::load();
/// ErrorKind::input for packed messages that are damaged or larger than `max_unpacked`.
Result<SpanText> load(const std::filesystem::path& path, std::uint64_t max_unpacked);
/// The same of a file that was read before. Errors: also ErrorKind::input if it has changed.
Result<SpanText> load_again(const SourceFile& file);
/// Packs the messages of a text again. Errors: those of json::pack().
Result<std::string> pack_messages(std::string_view text, std::span<const std::size_t> sizes);

/// Calls see(piece, so_far) for the text of a file from begin to end, in pieces for read(): JSON
/// with a document per line and Protobuf in pieces of 16 MiB, or more where a document is longer;
/// others as a whole. Adds to the file, of which path, columns and limit are known, all other facts
/// but its events. Errors: those of load() and see().
using SeePiece = std::function<Result<void>(std::string& piece, TextSoFar& so_far)>;
Result<void> for_each_piece(SourceFile& file, const SeePiece& see);

/// Reads such a file, and adds its spans. Errors: those of for_each_piece() and read().
Result<void> read_file(SourceFile& file, Spans& spans);
/// The spans of a file that was read before. Errors: those of read_file(), and ErrorKind::input if
/// it has changed.
Result<Spans> read_again(const SourceFile& file);

/// The text with its times mapped, and every other byte unchanged. `maps`: index as the
/// clocks of `stamps` and `marks`, results of read(). Times in microseconds are rounded to the
/// nearest one, halves up, which keeps the order of times; durations are differences of rounded
/// times. If any time of the text has decimals, all are written to the ns. A time that its map does
/// not move keeps its digits. A span of `marks` whose begin moves gets an attribute
/// entrain.offset_ns: the added ns. `sizes`: those of consecutive parts of the text; get their new
/// ones. Errors: ErrorKind::input for a time that would be negative.
Result<std::string> patched(std::string_view text, std::span<const Stamp> stamps,
                            std::span<const ClockMap> maps, std::span<const Mark> marks = {},
                            std::span<std::size_t> sizes = {});

}  // namespace entrain::spans
