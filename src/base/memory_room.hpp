// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>

#include <entrain/error.hpp>

namespace entrain {

/// Memory of this process as the system counts it, bytes; 0 where it does not say.
struct ProcessMemory {
  std::uint64_t resident = 0, shared = 0;  ///< shared pages are those of files
  std::uint64_t data = 0;                  ///< private memory, as RLIMIT_DATA counts it
};
ProcessMemory process_memory();

/// Limits the memory that readers of files may take from now on, in addition to the arrays of
/// BigMemory; bytes, 0: no limit. Holds for the whole process, as BigMemory::set_limit().
void set_memory_room(std::uint64_t bytes);

/// Returns the memory that readers have taken since then: the resident anonymous memory of the
/// process, without the memory it had and the arrays of BigMemory. 0 without a limit, and where the
/// system does not say.
std::uint64_t memory_taken();

/// Refuses to read on where `more` bytes in addition to those taken would exceed the limit; `file`
/// is for the sentence. Costs a call of the system per megabyte or so, and nothing without a limit.
/// Errors: ErrorKind::input. Any thread may call it.
Result<void> check_memory_room(const std::filesystem::path& file, std::uint64_t more = 0);

}  // namespace entrain
