// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/stat.h>

#include <cerrno>
#include <cstdint>
#include <filesystem>

namespace entrain {

/// The state of a file, without opening it. Two equal stamps show that the file has not been
/// written to or replaced meanwhile, as far as its clock is fine enough.
struct FileStamp {
  std::int64_t size = -1;        ///< bytes; -1: there is no such file
  std::int64_t modified_ns = 0;  ///< time of the last change, since 1970
  std::uint64_t device = 0;      ///< number of the device in the machine
  std::uint64_t inode = 0;       ///< number of the file on the device
  /// Something has this name, even a link that leads nowhere; or the system does not say.
  bool named = false;
  bool link = false;  ///< the name belongs to a symbolic link
  bool operator==(const FileStamp&) const = default;
};

/// The stamp of what `path` names or leads to by links. Most files are no links: these need one
/// call of the system.
inline FileStamp stamp_of(const std::filesystem::path& path) {
  struct stat status {};
  FileStamp stamp;
  int failed = ::lstat(path.c_str(), &status);
  stamp.named = failed == 0 || (errno != ENOENT && errno != ENOTDIR);
  stamp.link = failed == 0 && S_ISLNK(status.st_mode);
  if (stamp.link) failed = ::stat(path.c_str(), &status);
  if (failed != 0) return stamp;
  constexpr std::int64_t k_ns = 1'000'000'000;
  stamp.size = static_cast<std::int64_t>(status.st_size);
  stamp.modified_ns = k_ns * status.st_mtim.tv_sec + status.st_mtim.tv_nsec;
  stamp.device = status.st_dev;
  stamp.inode = status.st_ino;
  return stamp;
}

/// True if `path` names or leads to the file of the stamp. One call of the system, also for a link.
inline bool leads_to(const std::filesystem::path& path, const FileStamp& stamp) {
  struct stat status {};
  return stamp.size >= 0 && ::stat(path.c_str(), &status) == 0 && status.st_dev == stamp.device &&
         status.st_ino == stamp.inode;
}

}  // namespace entrain
