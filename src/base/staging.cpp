// SPDX-License-Identifier: BSD-3-Clause
#include "base/staging.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "base/file.hpp"
#include "base/try.hpp"

namespace entrain {

namespace fs = std::filesystem;

namespace {

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

/// True for an entry of the folder NAME beside NAME.otf2.
bool is_location_file(const fs::path& path) {
  const std::string extension = path.extension().string();
  return (extension == ".evt" || extension == ".def" || extension == ".snap") &&
         is_number(path.stem().string());
}

/// True for an entry that belongs to the archive `name` in its folder.
bool belongs_to(const fs::path& path, const std::string& name) {
  const std::string file = path.filename().string();
  std::error_code error;
  if (file == name) {
    for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
      if (!is_location_file(it->path())) return false;
    }
    return !error;
  }
  for (const char* extension : {".otf2", ".def", ".marker"}) {
    if (file == name + extension) return true;
  }
  return path.extension() == ".thumb" && file.starts_with(name + ".");
}

/// What stands against replacing a folder: an entry that is no part of its one archive, or the
/// folder itself. Empty: nothing.
fs::path obstacle(const fs::path& folder) {
  std::error_code error;
  if (!fs::is_directory(fs::symlink_status(folder, error))) return folder;
  std::vector<fs::path> entries;
  std::string name;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    entries.push_back(it->path());
    if (it->path().extension() == ".otf2" && name.empty()) name = it->path().stem().string();
  }
  if (error) return folder;
  for (const fs::path& entry : entries) {
    if (!belongs_to(entry, name)) return entry;
  }
  return {};
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
  if (const fs::path entry = obstacle(target); !entry.empty()) {
    return fail(
        ErrorKind::output,
        fmt::format("{} is not replaced, because {} is no part of an OTF2 archive; remove it "
                    "or choose another folder",
                    target.string(), entry.string()));
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
