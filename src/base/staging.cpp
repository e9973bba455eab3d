// SPDX-License-Identifier: BSD-3-Clause
#include "base/staging.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "base/try.hpp"

namespace entrain {

namespace fs = std::filesystem;

Result<void> StagedDirectory::check(const fs::path& target, const ReplaceRule& may_replace) {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(target, error))) return {};
  if (may_replace) return may_replace(target);
  return fail(ErrorKind::output, fmt::format("{} exists already; choose another folder or use "
                                             "--force to replace it",
                                             target.string()));
}

Result<StagedDirectory> StagedDirectory::create(const fs::path& target,
                                                const ReplaceRule& may_replace) {
  StagedDirectory staged;
  std::error_code error;
  staged.target_ = fs::absolute(target, error).lexically_normal();
  if (staged.target_.filename().empty()) staged.target_ = staged.target_.parent_path();
  staged.replace_ = static_cast<bool>(may_replace);
  TRY(check(staged.target_, may_replace));
  const fs::path parent = staged.target_.parent_path();
  fs::create_directories(parent, error);
  if (error) {
    return fail(ErrorKind::output,
                fmt::format("cannot create folder {}: {}", parent.string(), error.message()));
  }
  static std::atomic<unsigned> counter{0};
  for (unsigned attempt = 0; attempt < 100; ++attempt) {
    const fs::path staging =
        parent /
        fmt::format(".{}.partial-{}-{}", staged.target_.filename().string(), ::getpid(), counter++);
    if (fs::create_directory(staging, error)) {
      staged.staging_ = staging;
      return staged;
    }
    if (error) break;
  }
  return fail(ErrorKind::output,
              fmt::format("cannot create a folder in {}: {}", parent.string(), error.message()));
}

StagedDirectory::StagedDirectory(StagedDirectory&& other) noexcept
    : staging_(std::exchange(other.staging_, {})),
      target_(std::move(other.target_)),
      replace_(other.replace_),
      owned_(other.owned_) {}

StagedDirectory StagedDirectory::attach(fs::path staging, fs::path target) {
  StagedDirectory staged;
  staged.staging_ = std::move(staging);
  staged.target_ = std::move(target);
  staged.owned_ = false;
  return staged;
}

StagedDirectory::~StagedDirectory() {
  std::error_code ignored;
  if (owned_ && !staging_.empty()) fs::remove_all(staging_, ignored);
}

Result<void> StagedDirectory::commit() {
  const auto give_name = [&](unsigned flags) {
    return ::renameat2(AT_FDCWD, staging_.c_str(), AT_FDCWD, target_.c_str(), flags) == 0;
  };
  if (give_name(RENAME_NOREPLACE)) {
    staging_.clear();
    return {};
  }
  std::error_code error;
  const bool taken = fs::exists(fs::symlink_status(target_, error));
  if (taken && replace_ && give_name(RENAME_EXCHANGE)) return {};  // the destructor removes the old
  if (!taken || replace_) {
    // File systems without atomic exchange: move the old one aside first.
    const fs::path aside = staging_.string() + ".old";
    if (taken) fs::rename(target_, aside, error);
    if (!error) fs::rename(staging_, target_, error);
    if (!error) {
      staging_ = taken ? aside : fs::path();
      return {};
    }
    if (taken) {
      std::error_code ignored;
      fs::rename(aside, target_, ignored);
    }
    return fail(ErrorKind::output, fmt::format("cannot rename the result to {}: {}",
                                               target_.string(), error.message()));
  }
  return fail(ErrorKind::output,
              fmt::format("{} appeared while the result was written; choose another folder",
                          target_.string()));
}

}  // namespace entrain
