// SPDX-License-Identifier: BSD-3-Clause
#include "output/staging.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/core.h>

#include "base/text_hash.hpp"
#include "base/try.hpp"
#include "output/mark.hpp"

namespace entrain {

namespace fs = std::filesystem;

namespace {

/// Bytes of an output's name that its hidden name begins with: the system takes 255 in all.
constexpr std::size_t k_longest_part = 160;

std::uint32_t word_of(std::string_view name) {
  const std::uint64_t hash = fnv1a(name);
  return static_cast<std::uint32_t>(hash ^ hash >> 32);
}

std::string prefix_of(const fs::path& target) {
  const std::string name = target.filename().string();
  if (name.size() <= k_longest_part) return fmt::format(".{}.partial-", name);
  return fmt::format(".{}~{:08x}.partial-", name.substr(0, k_longest_part), word_of(name));
}

/// A word that differs from machine to machine.
std::string this_machine() {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  return fmt::format("{:08x}", word_of(name));
}

/// True for "HOST-PROCESS-NUMBER" of this machine, or one with ".old" behind it, if there is no
/// such process.
bool is_of_killed_process(std::string_view name) {
  const std::string host = this_machine() + '-';
  if (!name.starts_with(host)) return false;
  if (name.ends_with(".old")) name.remove_suffix(4);
  const std::size_t middle = name.find('-', host.size());
  const auto is_number = [](std::string_view text) {
    return !text.empty() && text.size() < 10 && text.find_first_not_of("0123456789") == text.npos;
  };
  if (middle == name.npos || !is_number(name.substr(middle + 1))) return false;
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

/// True if more than an empty file or folder, which may only reserve the name, stands there.
bool holds_something(const fs::path& target) {
  std::error_code error;
  return file_exists(target) && !(fs::is_empty(target, error) && !error);
}

/// True if all files in the folder are unchanged results.
bool holds_own_files(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().filename() != k_folder_mark && !check_own_file(it->path())) return false;
  }
  return !error;
}

/// True if nothing in the folder of a killed process can be missed. A complete result can, as long
/// as nothing has its final name.
bool may_be_removed(const fs::path& folder, bool target_holds) {
  std::error_code error;
  struct stat status {};
  if (::lstat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) ||
      status.st_uid != ::geteuid()) {
    return false;
  }
  if (fs::is_empty(folder, error)) return !error;  // killed before it was marked
  if (is_unfinished(folder)) return true;
  return target_holds &&
         (check_own_folder(folder) || (is_replacing(folder) && holds_own_files(folder)));
}

/// Removes the folders of killed processes; returns how many. What cannot be looked at stays.
std::uint64_t remove_leftovers(const fs::path& target) {
  const std::string prefix = prefix_of(target);
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator it(target.parent_path(), error), end; !error && it != end;
       it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.starts_with(prefix) && is_of_killed_process(name.substr(prefix.size()))) {
      found.push_back(it->path());
    }
  }
  std::uint64_t removed = 0;
  for (const fs::path& folder : found) {
    const File lock = locked(folder);
    if (!lock.is_open() || !may_be_removed(folder, holds_something(target))) continue;
    remove_tree(folder.c_str());
    removed += file_exists(folder) ? 0 : 1;
  }
  return removed;
}

}  // namespace

void Staging::sweep(const fs::path& target) { leftovers_removed_ += remove_leftovers(target); }

Result<Staging> Staging::create(const fs::path& target) {
  Staging staging;
  staging.leftovers_removed_ = remove_leftovers(target);
  static std::atomic<unsigned> counter{0};
  std::error_code error;
  for (unsigned attempt = 0; attempt < 100; ++attempt) {
    fs::path path = target.parent_path() / fmt::format("{}{}-{}-{}", prefix_of(target),
                                                       this_machine(), ::getpid(), counter++);
    if (fs::create_directory(path, error)) {
      staging.path_ = std::move(path);  // needs no memory: from here on the folder has an owner
      staging.lock_ = locked(staging.path_);
      staging.unfinished_ = Unfinished(staging.path_);
      TRY(under_final_name(mark_unfinished(staging.path_), staging.path_, target));
      return staging;
    }
    if (error) break;
  }
  return output_error("cannot write {}: its folder takes nothing new: {}", target.string(),
                      error.message());
}

Staging::Staging(Staging&& other) noexcept
    : path_(std::exchange(other.path_, {})),
      lock_(std::move(other.lock_)),
      leftovers_removed_(other.leftovers_removed_),
      unfinished_(std::move(other.unfinished_)) {}

Staging& Staging::operator=(Staging&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(lock_, other.lock_);
  std::swap(leftovers_removed_, other.leftovers_removed_);
  std::swap(unfinished_, other.unfinished_);
  return *this;
}

Result<void> under_final_name(Result<void> result, const fs::path& hidden, const fs::path& path) {
  if (result) return result;
  std::string& message = result.error().message;
  if (const std::size_t at = message.find(hidden.string()); at != message.npos) {
    message.replace(at, hidden.string().size(), path.string());
  }
  return result;
}

Staging::~Staging() {
  for (int attempt = 0; attempt < 2 && !path_.empty() && file_exists(path_); ++attempt) {
    remove_tree(path_.c_str());  // again, should the system have failed once
  }
}

}  // namespace entrain
