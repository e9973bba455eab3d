// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <span>

#include <entrain/error.hpp>

#include "base/file_mark.hpp"

namespace entrain {

// Marks tell an unchanged result of this tool from everything else. They stand inside the result,
// name tool and version, and hold for copies too, those of folders if the copies keep the times of
// files (cp -a). Names of files prove nothing.

/// Puts the checksum of a complete file in place of the digits of its file_mark(): CRC-32 of the
/// file with zeros there. A file without such a mark stays as it is. Errors: ErrorKind::output.
Result<void> complete_mark(const std::filesystem::path& path);

/// Marks a complete file whose text has no place for a mark, by an attribute that the file system
/// keeps with it; copies do not have it. Without effect where it keeps none. `unproven`: see
/// any_unproven().
void mark_file(const std::filesystem::path& path, bool unproven = false);

/// Name of the file that is the mark of a folder. It lists size and name of everything in the
/// folder; what was changed later than the mark is not as it was.
inline constexpr const char* k_folder_mark = ".entrain-result";

/// Marks a new folder as unfinished: all that is in it is this tool's. Errors: ErrorKind::output.
Result<void> mark_unfinished(const std::filesystem::path& folder);
/// Makes the mark that of a complete result. Nothing may be written to the folder afterwards.
/// `unproven`: see any_unproven(). Errors: ErrorKind::output.
Result<void> mark_finished(const std::filesystem::path& folder, bool unproven = false);
/// Marks a hidden folder whose file takes the place of an old one: what is in it then, may be
/// anybody's. Errors: ErrorKind::output.
Result<void> mark_replacing(const std::filesystem::path& folder);
/// True if the folder has the mark of an unfinished result, or that of mark_replacing().
bool is_unfinished(const std::filesystem::path& folder);
bool is_replacing(const std::filesystem::path& folder);

/// True if one of these is an unchanged result with a mark which says that the verdict on it was
/// `unproven`: a folder, or a file with a mark of its own, or one that the mark of its folder
/// lists. What the doubt was about may be gone from the new times.
bool any_unproven(std::span<const std::filesystem::path> paths);

/// Accepts a regular file that is empty or carries its mark unchanged, inside or as an attribute,
/// and a folder that is empty or holds nothing but what its mark lists, unchanged since. Something
/// that was removed from the folder does not matter. The error's message is the end of a sentence:
/// why it is no unchanged result. Follows no link.
Result<void> check_own_file(const std::filesystem::path& path);
Result<void> check_own_folder(const std::filesystem::path& folder);

}  // namespace entrain
