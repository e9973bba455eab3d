// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

namespace entrain::record {

/// What a repair found.
struct RepairReport {
  std::uint64_t processes = 0, locations = 0, events = 0;
  std::uint64_t missing = 0;  ///< processes of which nothing is there
  std::uint64_t limited = 0;  ///< processes whose recording a limit had ended
  bool truth = false;         ///< of virtual nodes: there is an archive with true times as well
};

/// Makes an archive of what a program left in `directory`, and one with true times in the folder
/// beside it if its nodes were virtual. The files of the unfinished recording are removed when the
/// archive is complete. Returns a sentence on failure, else "".
std::string repair_archive(const std::string& directory, RepairReport& report);

}  // namespace entrain::record
