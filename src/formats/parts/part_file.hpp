// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include <entrain/error.hpp>

/// Files that carry a run from one step of its correction to the next: summaries of its parts, and
/// its fitted clocks (docs/manual/engines.md).
namespace entrain::parts {

enum class Kind : std::uint8_t { summary, clocks };

/// True for a file of this kind, of any version.
bool is_of(Kind kind, const std::filesystem::path& file);

/// The text of a file with this content: a line that names kind and version, a checksum, and the
/// content packed.
std::string file_text(Kind kind, std::string_view content);

/// The content of a file. Errors: ErrorKind::input for a file of another kind or version, or one
/// that is damaged or cut off.
Result<std::string> content_of(Kind kind, const std::filesystem::path& file);

}  // namespace entrain::parts
