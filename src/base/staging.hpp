// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <functional>

#include <entrain/error.hpp>

namespace entrain {

/// Decides whether what stands under the name of an output folder may be replaced; the error is
/// the sentence for the user. An empty function: nothing is ever replaced.
using ReplaceRule = std::function<Result<void>(const std::filesystem::path& existing)>;

/// An output folder that appears under its final name only when it is complete.
///
/// Files are written into a hidden folder beside the final one; commit() renames it. Destruction
/// without commit removes everything that was written. A killed process leaves the hidden folder
/// (".NAME.partial-..."), never the final name.
class StagedDirectory {
 public:
  /// Whether create() would accept `target`, for use before long work. Errors: ErrorKind::output.
  static Result<void> check(const std::filesystem::path& target, const ReplaceRule& may_replace);

  /// `target` must not exist, unless `may_replace` accepts what is there. Creates missing parents.
  /// Errors: ErrorKind::output.
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

  /// Gives the folder its final name; an old folder there is removed after the exchange.
  Result<void> commit();

 private:
  StagedDirectory() = default;
  std::filesystem::path staging_;
  std::filesystem::path target_;
  bool replace_ = false;
  bool owned_ = true;  ///< the destructor removes the folder
};

}  // namespace entrain
