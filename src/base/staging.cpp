// SPDX-License-Identifier: BSD-3-Clause
#include "base/staging.hpp"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "base/durable.hpp"
#include "base/try.hpp"

namespace entrain {

namespace fs = std::filesystem;

namespace {

std::string prefix_of(const fs::path& target) {
  return fmt::format(".{}.partial-", target.filename().string());
}

/// A word that differs from machine to machine: FNV-1a of the host's name.
std::string this_machine() {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  std::uint64_t hash = 0xCBF29CE484222325u;
  for (const char* c = name; *c != '\0'; ++c) {
    hash = (hash ^ static_cast<unsigned char>(*c)) * 0x100000001B3u;
  }
  return fmt::format("{:08x}", static_cast<std::uint32_t>(hash ^ hash >> 32));
}

/// What the name of a folder ends with that stood under the final name and was moved aside, where
/// the file system cannot exchange two names.
constexpr std::string_view k_aside = ".old";

/// True for "HOST-PROCESS-NUMBER" of this machine if there is no such process.
bool is_of_killed_process(std::string_view name) {
  const std::string host = this_machine() + '-';
  if (!name.starts_with(host)) return false;
  const std::size_t middle = name.find('-', host.size());
  const auto is_number = [](std::string_view text) {
    return !text.empty() && text.size() < 10 &&
           text.find_first_not_of("0123456789") == std::string_view::npos;
  };
  if (middle == std::string_view::npos || !is_number(name.substr(middle + 1))) return false;
  const std::string process(name.substr(host.size(), middle - host.size()));
  return is_number(process) && ::kill(std::stoi(process), 0) != 0 && errno == ESRCH;
}

/// The folder, locked as long as the file is open; not open if another process has locked it, or
/// where the file system has no locks.
File locked(const fs::path& folder) {
  File file(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!file.is_open() || ::flock(file.descriptor(), LOCK_EX | LOCK_NB) != 0) return {};
  return file;
}

}  // namespace

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
  TRY(staged.create_parents());
  staged.remove_leftovers();
  const fs::path parent = staged.target_.parent_path();
  static std::atomic<unsigned> counter{0};
  for (unsigned attempt = 0; attempt < 100; ++attempt) {
    fs::path staging = parent / fmt::format("{}{}-{}-{}", prefix_of(staged.target_), this_machine(),
                                            ::getpid(), counter++);
    if (fs::create_directory(staging, error)) {
      staged.staging_ =
          std::move(staging);  // needs no memory: from here on the folder has an owner
      staged.lock_ = locked(staging);
      staged.unfinished_ = Unfinished(staged.staging_);
      return staged;
    }
    if (error) break;
  }
  return fail(ErrorKind::output,
              fmt::format("cannot create a folder in {}: {}", parent.string(), error.message()));
}

Result<void> StagedDirectory::create_parents() {
  const fs::path parent = target_.parent_path();
  std::error_code error;
  oldest_parent_ = parent;
  while (!fs::exists(oldest_parent_, error) && oldest_parent_.has_relative_path()) {
    oldest_parent_ = oldest_parent_.parent_path();
  }
  fs::create_directories(parent, error);
  if (!error) return {};
  return fail(ErrorKind::output,
              fmt::format("cannot create folder {}: {}", parent.string(), error.message()));
}

/// What cannot be looked at or removed stays: it is only in the way of nobody. So does an archive
/// that was moved aside by a run that was killed before it gave the name to the new one: it is the
/// only one.
void StagedDirectory::remove_leftovers() {
  const std::string prefix = prefix_of(target_);
  std::vector<fs::path> found;
  std::error_code error;
  const bool taken = fs::exists(fs::symlink_status(target_, error));
  error.clear();
  for (fs::directory_iterator it(target_.parent_path(), error), end; !error && it != end;
       it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (!name.starts_with(prefix)) continue;
    std::string_view owner = std::string_view(name).substr(prefix.size());
    if (taken && owner.ends_with(k_aside)) owner.remove_suffix(k_aside.size());
    if (is_of_killed_process(owner)) found.push_back(it->path());
  }
  for (const fs::path& folder : found) {
    struct stat status {};
    if (::lstat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) ||
        status.st_uid != ::geteuid()) {
      continue;
    }
    const File lock = locked(folder);
    if (!lock.is_open()) continue;
    fs::remove_all(folder, error);
    if (!error) ++leftovers_removed_;
  }
}

StagedDirectory::StagedDirectory(StagedDirectory&& other) noexcept
    : staging_(std::exchange(other.staging_, {})),
      target_(std::move(other.target_)),
      oldest_parent_(std::move(other.oldest_parent_)),
      lock_(std::move(other.lock_)),
      leftovers_removed_(other.leftovers_removed_),
      replace_(other.replace_),
      owned_(other.owned_),
      unfinished_(std::move(other.unfinished_)) {}

StagedDirectory StagedDirectory::attach(fs::path staging, fs::path target) {
  StagedDirectory staged;
  staged.staging_ = std::move(staging);
  staged.target_ = std::move(target);
  staged.owned_ = false;
  return staged;
}

StagedDirectory::~StagedDirectory() {
  if (owned_ && !staging_.empty()) remove_tree(staging_.c_str());
}

Result<void> StagedDirectory::commit() {
  TRY(make_tree_durable(staging_));
  TRY(rename());
  // An old folder is removed only when it is certain that the new one has its name.
  return make_name_durable(target_, oldest_parent_);
}

Result<void> StagedDirectory::rename() {
  unfinished_.take_away();
  const auto give_name = [&](unsigned flags) {
    return ::renameat2(AT_FDCWD, staging_.c_str(), AT_FDCWD, target_.c_str(), flags) == 0;
  };
  if (give_name(RENAME_NOREPLACE)) {
    staging_.clear();
    note_result(target_);
    return {};
  }
  std::error_code error;
  const bool taken = fs::exists(fs::symlink_status(target_, error));
  if (taken && replace_ && give_name(RENAME_EXCHANGE)) {
    note_result(target_);
    return {};  // the destructor removes the old
  }
  if (!taken || replace_) {
    // File systems without atomic exchange: move the old one aside first.
    const fs::path aside = staging_.string() + std::string(k_aside);
    if (taken) fs::rename(target_, aside, error);
    if (!error) fs::rename(staging_, target_, error);
    if (!error) {
      staging_ = taken ? aside : fs::path();
      note_result(target_);
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
