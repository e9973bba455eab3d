// SPDX-License-Identifier: BSD-3-Clause
#include "record/archive/folders.hpp"

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
  if (!make_folders(directory)) {
    return "cannot make the folder " + directory + ": " + std::strerror(errno);
  }
  if (::mkdir(unfinished_folder(directory).c_str(), 0777) == 0) return "";
  return errno == EEXIST ? directory + " holds an unfinished archive already; give another folder"
                         : "cannot write to " + directory + ": " + std::strerror(errno);
}

}  // namespace entrain::record
