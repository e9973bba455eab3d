// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/temp_folder_testing.hpp"

namespace entrain::test {

using Bytes = std::vector<std::uint8_t>;

/// Whole content of a file. Throws std::runtime_error with the path when it cannot be read.
Bytes read_bytes(const std::filesystem::path& path);
/// Creates or replaces a file. Throws std::runtime_error with the path.
void write_bytes(const std::filesystem::path& path, const Bytes& bytes);

/// Copies a folder with everything in it; the copies are writable by the owner.
void copy_tree(const std::filesystem::path& from, const std::filesystem::path& to);

/// Relative path -> hash of the content (FNV-1a, 64 bit), of every regular file under `root`.
/// Equal before and after means: nothing changed, nothing came, nothing went.
std::map<std::string, std::uint64_t> digest_tree(const std::filesystem::path& root);

/// Names of everything directly in a folder, sorted.
std::vector<std::string> entries_of(const std::filesystem::path& folder);

/// The only anchor file (*.otf2) directly in `folder`. Throws std::runtime_error if not one.
std::filesystem::path anchor_in(const std::filesystem::path& folder);

/// Folders under `root` that hold exactly one anchor file, sorted; empty if `root` is missing.
std::vector<std::filesystem::path> archives_under(const std::filesystem::path& root);

}  // namespace entrain::test
