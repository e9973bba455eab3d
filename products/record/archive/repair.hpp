// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace entrain::record {

/// The findings of a repair.
struct RepairReport {
  std::uint64_t processes = 0, locations = 0, events = 0;
  std::uint64_t missing = 0;  ///< processes that left nothing
  std::uint64_t limited = 0;  ///< processes whose recording ended at a limit
  /// Phrases on what was left out, beside a record in which a thread was stopped: "1.journal: 2
  /// lines that cannot be understood".
  std::vector<std::string> left_out;
  bool clocks_only = false;  ///< another tracer recorded the events: there is no archive
  bool truth = false;        ///< there is an archive with true times too (virtual nodes)
};

/// Makes an archive of the files that a program left in `directory`. If its nodes were virtual,
/// makes the one with true times beside it too. Keeps what is whole and names what it leaves out.
/// The OTF2 library must be able to read the result. Then removes the files of the unfinished
/// recording.
/// Returns "", or a sentence on failure; a second attempt is possible then.
std::string repair_archive(const std::string& directory, RepairReport& report);

}  // namespace entrain::record
