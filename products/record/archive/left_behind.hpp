// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "record/base/process_record.hpp"

namespace entrain::record {

/// A file that a process left behind.
struct LeftBehind {
  bool exists = false;  ///< something has this name
  std::string problem;  ///< why it cannot be read, "" if it can; `bytes` are those read before
  bool later = false;   ///< the system refused it: that may pass, and says nothing about the file
  std::string bytes;
};

/// Reads a whole file, or as much of it as the system gives. What is no regular file or has more
/// bytes than half of the machine's memory cannot be read, and is not waited for.
LeftBehind read_left_behind(const std::string& path);

/// Journals that all processes left behind.
struct Journals {
  std::vector<ProcessRecord> processes;  ///< records in order of rank; empty for a process without
                                         ///< a journal
  std::uint64_t found = 0;
  std::vector<std::string> left_out;  ///< phrases on what could not be used, "0.journal: ..."
  std::string refused;  ///< phrase on a journal that the system did not give, "" if there is none
};

/// Reads the journals in `unfinished`. A process that was stopped leaves its last line unfinished;
/// what is broken beyond that, or contradicts the other journals, is left out and named. The result
/// is fit for Merged: parents, ranks in groups and locations are those of the `processes`, and
/// clocks run forward.
Journals read_journals(const std::string& unfinished);

}  // namespace entrain::record
