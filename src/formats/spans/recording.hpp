// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include <entrain/error.hpp>

#include "formats/parts/fields.hpp"
#include "formats/parts/part_file.hpp"
#include "formats/parts_of_run.hpp"
#include "formats/recording.hpp"

namespace entrain::spans {

/// True if a file, plain or packed, begins like spans in OTLP JSON, Jaeger JSON or Zipkin JSON, as
/// Protobuf (protobuf.hpp), or in a table (is_span_table()). Ignores its name. Reads at most its
/// first 64 KiB. `columns`, also below: words of CheckOptions::columns.
Result<bool> are_spans(const std::filesystem::path& file, const std::string& columns = {});
/// Refuses a file that is no table of spans. Errors: those of check_span_table().
Result<void> check_table(const std::filesystem::path& file, const std::string& columns);

/// True if such a file can be read and contains no span, not even one without a time.
bool holds_none(const std::filesystem::path& file, std::uint64_t max_unpacked,
                const std::string& columns);

/// Reads files of spans, plain or packed, as one run. A clock per host, in order of their first
/// spans. Writing reads every file again, on `threads` threads. Errors: those of json::load() and
/// read(); ErrorKind::input for files without a span.
Result<std::unique_ptr<formats::Recording>> read(std::span<const std::filesystem::path> files,
                                                 unsigned threads, std::uint64_t max_unpacked = 0,
                                                 const std::string& columns = {});

/// Reads files piece by piece, and writes their summary. Returns their facts. Errors: those of
/// reading and of PartWriter::write().
Result<std::vector<formats::Parts::File>> summarise(std::span<const std::filesystem::path> files,
                                                    std::uint64_t max_unpacked,
                                                    const std::string& columns,
                                                    parts::PartWriter& to);
/// No files, to which summaries are to be added.
std::unique_ptr<formats::Parts> no_parts();

/// Files of a run whose clocks were fitted, to be written with their maps. `fields`: at what
/// Recording::pack_fitted() has written; `clocks`: the number of maps; `columns`: empty, or those
/// with which tables were summarised; `left_out`: see chosen_parts(). Errors: those of that,
/// ErrorKind::usage for other columns.
Result<std::unique_ptr<formats::Recording>> reopen(parts::FieldReader& fields, std::size_t clocks,
                                                   std::span<const std::filesystem::path> files,
                                                   std::span<const std::filesystem::path> left_out,
                                                   unsigned threads, const std::string& columns);

}  // namespace entrain::spans
