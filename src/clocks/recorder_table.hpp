// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include <entrain/error.hpp>

namespace entrain::clocks {

/// Reads a table that the recorder left beside an archive: lines that begin with '#', the names of
/// the `columns`, then rows. `row` gets every row and returns the problem with it, or "".
///
/// Example, with the columns "a,b":
///     # written by the recorder
///     a,b
///     1,2           <- row("1,2")
///
/// Errors: ErrorKind::input with the file, the line if there is one, the problem and the `remedy`,
/// also for what is no regular file, a file of more than 64 GiB and a line of more than 64 KiB.
Result<void> read_recorder_table(const std::filesystem::path& path, std::string_view columns,
                                 std::string_view remedy,
                                 const std::function<std::string_view(const std::string&)>& row);

}  // namespace entrain::clocks
