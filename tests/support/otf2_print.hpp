// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace entrain::test {

/// The output of otf2-print for an archive, without the times.
struct PrintedArchive {
  int exit_code = 0;   ///< of the last run that failed
  std::string errors;  ///< standard error
  /// Location id -> all of its event lines with their attributes, times blanked.
  std::map<std::string, std::string> events;
  std::string definitions;  ///< all other lines but ClockProperties
};

/// Runs otf2-print over global definitions, mappings, and events. `strict`: with -Werror.
PrintedArchive print_archive(const std::filesystem::path& anchor, bool strict);

}  // namespace entrain::test
