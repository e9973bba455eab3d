// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <span>
#include <string>

namespace entrain::formats {

/// Names of files without their folders, for a sentence; only the first three.
///
/// Example: "a.json, b.json, c.json, ..." for five files.
std::string names_of(std::span<const std::filesystem::path> files);

/// Note about files without events, which are ignored. `of`: the group of files that contains them,
/// with a blank before it; may be empty. `what`: that they do not hold.
///
/// Example: "1 of the files of run holds no events and is left out: notes.json".
std::string note_of_ignored(std::span<const std::filesystem::path> files, const std::string& of,
                            const char* what = "no events");

}  // namespace entrain::formats
