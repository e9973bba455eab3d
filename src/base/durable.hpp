// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <vector>

#include <entrain/error.hpp>

namespace entrain {

// Written data reaches the disk some time later, in any order: after a loss of power a file may
// have its name but not its content. These functions wait until it is there. File systems that know
// no such request, and files that may not be opened, are taken at their word.

/// Waits until one regular file or the names in one folder are on the disk. Errors:
/// ErrorKind::output.
Result<void> make_durable(const std::filesystem::path& path);
/// The same for several, all at once.
Result<void> make_durable(const std::vector<std::filesystem::path>& paths);

/// The same for all regular files under a folder, then for the folders from the innermost to
/// itself. Symbolic links are not followed. Errors: ErrorKind::output.
Result<void> make_tree_durable(const std::filesystem::path& folder);

/// Waits until a file or folder that is complete has its name for certain: until its folder is on
/// the disk. Errors: ErrorKind::output, with a sentence that says that it is complete.
Result<void> make_name_durable(const std::filesystem::path& path);

}  // namespace entrain
