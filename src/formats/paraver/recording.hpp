// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include <entrain/error.hpp>

#include "formats/recording.hpp"

namespace entrain::paraver {

/// True if the name of a file tells of a trace of Paraver: .prv, also with .gz or .zst, in letters
/// of either case.
bool is_trace_name(const std::filesystem::path& path);

/// True if a file, plain or packed, begins like a trace of Paraver. Ignores its name.
bool is_trace(const std::filesystem::path& file);

/// Reads a trace, plain or packed. A clock per node, or per task where the header names none;
/// an edge per message, from the begin of the send to the end of the receive. Errors: those of
/// json::Window; ErrorKind::input for a file without a header or without records.
Result<std::unique_ptr<formats::Recording>> read(const std::filesystem::path& file,
                                                 std::uint64_t max_unpacked = 0);

}  // namespace entrain::paraver
