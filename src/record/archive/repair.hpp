// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

namespace entrain::record {

/// The findings of a repair.
struct RepairReport {
  std::uint64_t processes = 0, locations = 0, events = 0;
  std::uint64_t missing = 0;  ///< processes that left nothing
  std::uint64_t limited = 0;  ///< processes whose recording ended at a limit
  bool truth = false;         ///< there is an archive with true times too (virtual nodes)
};

/// Makes an archive of the files that a program left in `directory`. If its nodes were virtual,
/// makes the one with true times beside it too. Then removes the files of the unfinished recording.
/// Returns "", or a sentence on failure; a second attempt is possible then.
std::string repair_archive(const std::string& directory, RepairReport& report);

}  // namespace entrain::record
