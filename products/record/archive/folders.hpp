// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

namespace entrain::record {

/// Name of the archive inside its folder.
inline constexpr const char* k_archive_name = "traces";

/// Written last of the tables of the clocks.
inline constexpr const char* k_clock_processes = "clock_processes.csv";

/// The file by which readers find the archive in `directory`; it is written last.
std::string anchor_path(const std::string& directory);

/// Folder inside that of the archive, for the files that are needed until the archive is complete.
std::string unfinished_folder(const std::string& directory);

/// Folder of the archive with true times, beside that of an archive of virtual nodes.
std::string truth_folder(const std::string& directory);

/// The journal of the process with this rank.
std::string journal_path(const std::string& directory, std::uint64_t rank);

/// The file with the events of a location until its event file is written.
std::string buffer_path(const std::string& directory, std::uint64_t location);

/// Makes the folder of an archive, those above it, and the unfinished folder in it. Returns "", or
/// a sentence without full stop on why that failed: `directory` must not exist, or be empty.
std::string make_archive_folders(const std::string& directory);

}  // namespace entrain::record
