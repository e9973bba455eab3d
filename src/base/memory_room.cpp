// SPDX-License-Identifier: BSD-3-Clause
#include "base/memory_room.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <memory>

#include "base/big_vector.hpp"
#include "base/try.hpp"

namespace entrain {
namespace {

std::atomic<std::uint64_t> room{0}, had{0};  // bytes; no limit

/// Resident anonymous memory without the arrays of BigMemory.
std::uint64_t own_memory() {
  const ProcessMemory memory = process_memory();
  const std::uint64_t own = memory.resident - std::min(memory.resident, memory.shared);
  return own - std::min(own, BigMemory::anonymous());
}

}  // namespace

ProcessMemory process_memory() {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen("/proc/self/statm", "re"),
                                                             std::fclose);
  unsigned long long resident = 0, shared = 0, data = 0;
  if (!file ||
      std::fscanf(file.get(), "%*u %llu %llu %*u %*u %llu", &resident, &shared, &data) != 3) {
    return {};
  }
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return {resident * page, shared * page, data * page};
}

void set_memory_room(std::uint64_t bytes) {
  if (bytes > 0) had = own_memory();
  room = bytes;
}

std::uint64_t memory_taken() {
  if (room == 0) return 0;
  const std::uint64_t own = own_memory();
  return own - std::min<std::uint64_t>(own, had);
}

Result<void> check_memory_room(const std::filesystem::path& file, std::uint64_t more) {
  const std::uint64_t most = room;
  if (most == 0 || (more <= most && memory_taken() <= most - more)) return {};
  return input_error(
      "{}: what is read takes more memory than the {} bytes that --memory "
      "leaves it; allow more, or give fewer or smaller files",
      file.string(), most);
}

}  // namespace entrain
