// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <entrain/error.hpp>

namespace entrain {

/// The files and folders that a run reads. No output may be one of them, contain one, or lie in an
/// input folder. Compares devices and inodes, so links and other spellings of a path lead nowhere
/// else. A path that does not exist is ignored: its reader reports it. Not safe for several threads
/// while something is added.
class Inputs {
 public:
  /// Adds a file, by its own name and by what it leads to.
  void add_file(const std::filesystem::path& path) { add(path, files_); }
  /// Adds a folder together with all that is in it, now or later.
  void add_folder(const std::filesystem::path& path) { add(path, folders_); }
  /// Adds a folder that was named for some of the files in it: no folder may be made there.
  void add_home(const std::filesystem::path& path) { add(path, homes_); }

  /// Errors: ErrorKind::usage if an output under the name `target`, which need not exist, would be,
  /// contain or lie in an input. `is_folder`: the output is one.
  [[nodiscard]] Result<void> check_apart(const std::filesystem::path& target,
                                         bool is_folder = false) const;

 private:
  using Id = std::pair<std::uint64_t, std::uint64_t>;  ///< device and inode

  void add(const std::filesystem::path& path, std::map<Id, std::string>& to);
  void add_parents_of(const std::filesystem::path& path, const std::string& name);

  /// Per device and inode the input as the user named it: of files, of folders, and of all folders
  /// around them up to the root.
  std::map<Id, std::string> files_, folders_, homes_, around_;
  std::set<std::filesystem::path> known_parents_;  ///< parents whose folders are in `around_`
};

}  // namespace entrain
