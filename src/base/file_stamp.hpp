// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>

namespace entrain {

/// What the system says about a file without opening it. If it says the same twice, the file has
/// not been written to or replaced meanwhile, as far as its clock is fine enough.
struct FileStamp {
  std::int64_t size = -1;        ///< bytes; -1: there is no such file
  std::int64_t modified_ns = 0;  ///< time of the last change, since 1970
  std::uint64_t device = 0;      ///< of the machine
  std::uint64_t inode = 0;       ///< of the device
  bool operator==(const FileStamp&) const = default;
};

/// The stamp of what `path` names or leads to by links.
inline FileStamp stamp_of(const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return {};
  constexpr std::int64_t k_ns = 1'000'000'000;
  return {.size = static_cast<std::int64_t>(status.st_size),
          .modified_ns = k_ns * status.st_mtim.tv_sec + status.st_mtim.tv_nsec,
          .device = status.st_dev,
          .inode = status.st_ino};
}

}  // namespace entrain
