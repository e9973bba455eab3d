// SPDX-License-Identifier: BSD-3-Clause
#include "base/staging.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <utility>

#include <fmt/core.h>

#include "base/file.hpp"
#include "base/try.hpp"

namespace entrain {

namespace fs = std::filesystem;

namespace {

/// True for a folder that may be replaced: empty, or visibly an archive.
bool is_replaceable(const fs::path& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) return false;
  if (fs::is_empty(folder, error)) return true;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".otf2") return true;
  }
  return false;
}

}  // namespace

Result<void> StagedDirectory::check(const fs::path& target, bool replace) {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(target, error))) return {};
  if (!replace) {
    return fail(ErrorKind::output, fmt::format("{} exists already; choose another folder or use "
                                               "--force to replace it",
                                               target.string()));
  }
  if (!is_replaceable(target)) {
    return fail(ErrorKind::output,
                fmt::format("{} is neither empty nor an OTF2 archive and is not replaced; remove "
                            "it or choose another folder",
                            target.string()));
  }
  return {};
}

Result<StagedDirectory> StagedDirectory::create(const fs::path& target, bool replace) {
  StagedDirectory staged;
  std::error_code error;
  staged.target_ = fs::absolute(target, error).lexically_normal();
  if (staged.target_.filename().empty()) staged.target_ = staged.target_.parent_path();
  staged.replace_ = replace;
  TRY(check(staged.target_, replace));
  const fs::path parent = staged.target_.parent_path();
  fs::create_directories(parent, error);
  if (error) {
    return fail(ErrorKind::output, fmt::format("cannot create folder {}: {}", parent.string(),
                                               error.message()));
  }
  static std::atomic<unsigned> counter{0};
  for (unsigned attempt = 0; attempt < 100; ++attempt) {
    const fs::path staging =
        parent / fmt::format(".{}.partial-{}-{}", staged.target_.filename().string(), ::getpid(),
                             counter++);
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
      replace_(other.replace_) {}

StagedDirectory::~StagedDirectory() {
  std::error_code ignored;
  if (!staging_.empty()) fs::remove_all(staging_, ignored);
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
    return fail(ErrorKind::output,
                fmt::format("cannot rename the result to {}: {}", target_.string(), error.message()));
  }
  return fail(ErrorKind::output,
              fmt::format("{} appeared while the result was written; choose another folder",
                          target_.string()));
}

}  // namespace entrain
