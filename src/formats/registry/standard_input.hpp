// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>

#include <entrain/error.hpp>

namespace entrain::formats {

/// The name by which users mean standard input.
inline constexpr const char* k_standard_input = "-";

/// Standard input as a file that can be read again and again, as readers of traces do. A pipe is
/// copied, once, to a file without a name in the folder for temporary files. Errors:
/// ErrorKind::input, ErrorKind::output.
Result<std::filesystem::path> standard_input();

}  // namespace entrain::formats
