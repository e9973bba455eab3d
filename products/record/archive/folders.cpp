// SPDX-License-Identifier: BSD-3-Clause
#include "record/archive/folders.hpp"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace entrain::record {

namespace {

/// Makes a folder and those above it; an existing one is fine. False, with errno, on failure.
bool make_folders(const std::string& path) {
  for (std::size_t at = 1; at <= path.size(); ++at) {
    if (at != path.size() && path[at] != '/') continue;
    const std::string part = path.substr(0, at);
    if (::mkdir(part.c_str(), 0777) != 0 && errno != EEXIST && ::access(part.c_str(), F_OK) != 0) {
      return false;
    }
  }
  return true;
}

/// Name of something in the folder; "" if it is empty or cannot be read.
std::string any_entry(const std::string& folder) {
  std::string found;
  DIR* const entries = ::opendir(folder.c_str());
  if (entries == nullptr) return found;
  while (const dirent* const entry = ::readdir(entries)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") found = name;
  }
  ::closedir(entries);
  return found;
}

bool is_link(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode);
}

}  // namespace

std::string anchor_path(const std::string& directory) {
  return directory + '/' + k_archive_name + ".otf2";
}

std::string unfinished_folder(const std::string& directory) { return directory + "/unfinished"; }

std::string truth_folder(const std::string& directory) { return directory + ".truth"; }

std::string journal_path(const std::string& directory, std::uint64_t rank) {
  return unfinished_folder(directory) + '/' + std::to_string(rank) + ".journal";
}

std::string buffer_path(const std::string& directory, std::uint64_t location) {
  return unfinished_folder(directory) + '/' + std::to_string(location) + ".buffer";
}

std::string make_archive_folders(const std::string& directory) {
  if (::access(anchor_path(directory).c_str(), F_OK) == 0) {
    return directory + " holds an archive already; give another folder";
  }
  if (::access((directory + '/' + k_clock_processes).c_str(), F_OK) == 0) {
    return directory + " holds clock measurements already; give another folder";
  }
  if (::access(unfinished_folder(directory).c_str(), F_OK) == 0) {
    return directory + " holds an unfinished archive already; give another folder";
  }
  if (is_link(directory))
    return directory + " is a symbolic link; give the folder that it leads to";
  if (!make_folders(directory)) {
    return "cannot make the folder " + directory + ": " + std::strerror(errno);
  }
  if (const std::string other = any_entry(directory); !other.empty()) {
    return directory + " holds " + other + " already; give another folder";
  }
  if (::mkdir(unfinished_folder(directory).c_str(), 0777) == 0) return "";
  return "cannot write to " + directory + ": " + std::strerror(errno);
}

}  // namespace entrain::record
