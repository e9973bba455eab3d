// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <memory>
#include <span>

#include <entrain/error.hpp>

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

}  // namespace entrain::kineto
