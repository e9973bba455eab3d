// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <memory>
#include <span>

#include <entrain/error.hpp>

#include "formats/parts/fields.hpp"
#include "formats/parts/part_file.hpp"
#include "formats/parts_of_run.hpp"
#include "formats/recording.hpp"

/// Traces of training runs, as the PyTorch profiler (Kineto) writes them: Chrome JSON or Perfetto,
/// a file per rank (docs/manual/training.md).
namespace entrain::kineto {

/// False if the begin of a file shows that it is no Chrome trace, but a stray file among others.
Result<bool> may_be_trace(const std::filesystem::path& file);

/// True if a file can be read and holds no event with a time.
bool holds_none(const std::filesystem::path& file, std::uint64_t max_unpacked = 0);

/// True for a Perfetto trace, whatever its name.
bool holds_packets(const std::filesystem::path& file);

/// Reads the files of all ranks, plain or packed, on `threads` threads. A clock per file, in order
/// of rank; files without an event and a rank are ignored, and notes name them. Errors: those of
/// json::load(); ErrorKind::input for a file that is no Chrome trace, two files of one rank, files
/// of different runs, and times that are no numbers or out of range.
Result<std::unique_ptr<formats::Recording>> read(std::span<const std::filesystem::path> files,
                                                 unsigned threads, std::uint64_t max_unpacked = 0);

/// The same before the files are joined.
Result<std::unique_ptr<formats::Parts>> read_parts(std::span<const std::filesystem::path> files,
                                                   unsigned threads,
                                                   std::uint64_t max_unpacked = 0);
/// Reads files, and writes their summary. Returns their facts. Errors: those of both.
Result<std::vector<formats::Parts::File>> summarise(std::span<const std::filesystem::path> files,
                                                    unsigned threads, std::uint64_t max_unpacked,
                                                    parts::PartWriter& to);
/// No files, to which summaries are to be added.
std::unique_ptr<formats::Parts> no_parts();

/// Files of a run whose clocks were fitted, to be written with their maps. `fields`: at what
/// Recording::pack_fitted() has written; `clocks`: number of maps; else see chosen_parts().
Result<std::unique_ptr<formats::Recording>> reopen(parts::FieldReader& fields, std::size_t clocks,
                                                   std::span<const std::filesystem::path> files,
                                                   std::span<const std::filesystem::path> left_out,
                                                   unsigned threads);

}  // namespace entrain::kineto
