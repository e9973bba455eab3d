// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include <entrain/error.hpp>

#include "base/file.hpp"
#include "base/unfinished.hpp"

namespace entrain {

/// Decides whether what stands under the name of an output folder may be replaced; the error is
/// the sentence for the user. An empty function: nothing is ever replaced.
using ReplaceRule = std::function<Result<void>(const std::filesystem::path& existing)>;

/// An output folder that appears under its final name only when it is complete.
///
/// Files are written into a hidden folder beside the final one; commit() renames it. Destruction
/// without commit removes everything that was written. A killed process leaves the hidden folder
/// (".NAME.partial-HOST-PROCESS-NUMBER"), never the final name; the next create() of that name on
/// that machine removes it. A loss of power at any time leaves, under the final name, what was
/// there before or the whole new folder.
class StagedDirectory {
 public:
  /// Whether create() would accept `target`, for use before long work. Errors: ErrorKind::output.
  static Result<void> check(const std::filesystem::path& target, const ReplaceRule& may_replace);

  /// `target` must not exist, unless `may_replace` accepts what is there. Creates missing parents.
  /// Removes folders of killed processes: those of this user and this machine whose process does
  /// not exist and that nobody has locked. An old folder that such a process had moved aside is
  /// one of them if there is a new one under the final name. Errors: ErrorKind::output.
  static Result<StagedDirectory> create(const std::filesystem::path& target,
                                        const ReplaceRule& may_replace);

  /// The folder that another process has created and will commit or remove: a helper's view of it.
  static StagedDirectory attach(std::filesystem::path staging, std::filesystem::path target);

  StagedDirectory(StagedDirectory&& other) noexcept;
  StagedDirectory& operator=(StagedDirectory&&) = delete;
  ~StagedDirectory();

  /// The folder to write into.
  [[nodiscard]] const std::filesystem::path& path() const { return staging_; }
  /// Final name, absolute.
  [[nodiscard]] const std::filesystem::path& target() const { return target_; }

  /// Number of folders of killed processes that create() has removed.
  [[nodiscard]] std::uint64_t leftovers_removed() const { return leftovers_removed_; }

  /// Waits until all files are on the disk and gives the folder its final name; an old folder there
  /// is removed after the exchange.
  Result<void> commit();

 private:
  StagedDirectory() = default;
  Result<void> create_parents();
  void remove_leftovers();
  Result<void> rename();

  std::filesystem::path staging_;
  std::filesystem::path target_;
  std::filesystem::path oldest_parent_;  ///< of the target: it was there before
  File lock_;                            ///< of the staging folder, while this process lives
  std::uint64_t leftovers_removed_ = 0;
  bool replace_ = false;
  bool owned_ = true;  ///< the destructor removes the folder
  Unfinished unfinished_;
};

}  // namespace entrain
