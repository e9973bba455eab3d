// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string_view>

#include <entrain/error.hpp>

#include "base/file.hpp"
#include "base/unfinished.hpp"

namespace entrain {

/// An output file that appears under its final name only when it is complete: it is written beside
/// it under a hidden name. Destruction without commit() removes it.
class StagedFile {
 public:
  /// Refuses a file that exists, unless `replace`, and one that has no folder to be in. Errors:
  /// ErrorKind::output.
  static Result<void> check(const std::filesystem::path& target, bool replace);
  /// As check(), and begins to write. Errors: ErrorKind::output.
  static Result<StagedFile> create(const std::filesystem::path& target, bool replace);

  StagedFile(StagedFile&&) noexcept = default;
  StagedFile& operator=(StagedFile&&) = delete;
  ~StagedFile();

  Result<void> write(std::string_view text);
  /// Waits until the file is on the disk and gives it its final name.
  Result<void> commit();

 private:
  StagedFile(std::filesystem::path partial, std::filesystem::path target, File file)
      : partial_(std::move(partial)),
        target_(std::move(target)),
        file_(std::move(file)),
        unfinished_(partial_) {}
  /// The result in which the final name stands for the hidden one.
  Result<void> named(Result<void> result) const;

  std::filesystem::path partial_, target_;  ///< `partial_` is empty after a move
  File file_;
  Unfinished unfinished_;
};

}  // namespace entrain
