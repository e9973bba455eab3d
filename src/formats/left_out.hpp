// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <span>
#include <string>

namespace entrain::formats {

/// The names of files without their folders, as a sentence lists them; of many only the first ones.
///
/// Example: of five files it is "a.json, b.json, c.json, ...".
std::string names_of(std::span<const std::filesystem::path> files);

/// What is told of files that hold nothing of a run. `of`: which files these are some of, with a
/// blank before it; may be empty.
///
/// Example: "1 of the files of run holds no events and is left out: notes.json".
std::string note_of_left_out(std::span<const std::filesystem::path> files, const std::string& of);

}  // namespace entrain::formats
