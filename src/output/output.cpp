// SPDX-License-Identifier: BSD-3-Clause
#include "output/output.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>

#include <fmt/core.h>

#include "base/durable.hpp"
#include "base/try.hpp"
#include "base/unfinished.hpp"

namespace entrain {

namespace fs = std::filesystem;

namespace {

enum class Kind : std::uint8_t { file, folder };

/// "a folder", "a symbolic link", "a FIFO" ...
const char* name_of(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFREG:
      return "a file";
    case S_IFDIR:
      return "a folder";
    case S_IFLNK:
      return "a symbolic link";
    case S_IFIFO:
      return "a FIFO";
    case S_IFSOCK:
      return "a socket";
    default:
      return "a device";
  }
}

/// Whether what stands at `place` is an unchanged result of this user.
Result<void> check_own(const fs::path& place, Kind kind, uid_t owner) {
  if (kind == Kind::folder && ::geteuid() != 0 && owner != ::geteuid()) {
    return output_error("it is another user's");
  }
  return kind == Kind::file ? check_own_file(place) : check_own_folder(place);
}

/// Whether what stands at `place` may be replaced by an output that is called `target`.
Result<void> check_existing(const fs::path& place, const fs::path& target, Kind kind,
                            const OutputRule& rule) {
  struct stat status {};
  if (::lstat(place.c_str(), &status) != 0) {
    return output_error("cannot look at {}: {}", target.string(), reason(errno));
  }
  const char* const wanted = kind == Kind::file ? "file" : "folder";
  if ((status.st_mode & S_IFMT) != (kind == Kind::file ? S_IFREG : S_IFDIR)) {
    return output_error("{} exists and is {}, which a {} does not replace; choose another name",
                        target.string(), name_of(status.st_mode), wanted);
  }
  if (rule.inputs)
    TRY(under_final_name(rule.inputs->check_apart(place, kind == Kind::folder), place, target));
  const auto own = under_final_name(check_own(place, kind, status.st_uid), place, target);
  if (!rule.force) {
    return output_error("{} exists already; choose another name, or {}", target.string(),
                        rule.offers_force && own ? "replace it with --force" : "remove it");
  }
  if (own) return {};
  return output_error("{} is not replaced, because {}; remove it or choose another {}",
                      target.string(), own.error().message, wanted);
}

/// The target as an absolute path without a slash at its end. ".." behind a link is another folder
/// than the text says, so the folder of such a path is resolved; its last part is not.
Result<fs::path> absolute_path(const fs::path& target) {
  if (target.empty()) return output_error("the output has an empty name; name it");
  std::error_code error;
  fs::path path = fs::absolute(target, error);
  if (!path.has_filename()) path = path.parent_path();
  if (std::ranges::find(path, "..") == path.end()) {
    path = path.lexically_normal();
  } else if (path.filename() == "..") {
    path = fs::weakly_canonical(path, error);
  } else {
    path = fs::weakly_canonical(path.parent_path(), error) / path.filename();
  }
  if (error) {
    return output_error("cannot tell where {} is: {}; name it by a path from / on", target.string(),
                        error.message());
  }
  return path.has_filename() ? path : path.parent_path();
}

Result<void> check_place(const fs::path& target, Kind kind, const OutputRule& rule) {
  TRY_ASSIGN(const fs::path place, absolute_path(target));
  if (target == "-") {
    return usage_error(
        "- names no {0}: results are not written to standard output; name a {0}, or ./-",
        kind == Kind::file ? "file" : "folder");
  }
  if (kind == Kind::file && !target.has_filename()) {
    return output_error("{} names no file", target.string());
  }
  std::error_code none;
  if (!fs::is_directory(place.parent_path(), none)) {
    const fs::path folder = target.has_filename() ? target.parent_path() : place.parent_path();
    if (fs::exists(folder, none)) {
      return output_error("cannot write {}: {} is no folder; choose another name", target.string(),
                          folder.string());
    }
    return output_error("cannot write {}: there is no folder {}; make it first (mkdir -p)",
                        target.string(), folder.string());
  }
  if (file_exists(place)) return check_existing(place, target, kind, rule);
  if (!rule.inputs) return {};
  return under_final_name(rule.inputs->check_apart(place, kind == Kind::folder), place, target);
}

bool rename_with(const fs::path& from, const fs::path& to, unsigned flags) {
  return ::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), flags) == 0;
}

/// True if renameat2() failed since the file system knows no flags.
bool flags_are_unknown() { return errno == EINVAL || errno == ENOSYS || errno == ENOTSUP; }

/// Renames if nothing is called `to`; else false, with EEXIST.
bool rename_to_free_name(const fs::path& from, const fs::path& to, Kind kind) {
  if (rename_with(from, to, RENAME_NOREPLACE)) return true;
  if (!flags_are_unknown()) return false;
  // Neither a link nor a folder is made where something stands, and no folder with something in it
  // is replaced by another one.
  if (kind == Kind::file) {
    if (::link(from.c_str(), to.c_str()) != 0) return false;
    ::unlink(from.c_str());
    return true;
  }
  if (::mkdir(to.c_str(), 0777) != 0) return false;
  if (::rename(from.c_str(), to.c_str()) == 0) return true;
  const int problem = errno == ENOTEMPTY ? EEXIST : errno;
  ::rmdir(to.c_str());
  errno = problem;
  return false;
}

/// A complete output on the way to its name.
struct Move {
  const fs::path& made;    ///< its hidden name
  const fs::path& target;  ///< its final name
  const fs::path& aside;   ///< a hidden name for an old result, where two cannot be exchanged
  Kind kind;
  const OutputRule& rule;
};

Result<void> cannot_name(const fs::path& target, int error_number) {
  if (error_number == EEXIST) {
    return output_error("{} appeared while the result was written; choose another name",
                        target.string());
  }
  return output_error("cannot give the result its name {}: {}", target.string(),
                      reason(error_number));
}

/// Two names that were exchanged, and are exchanged back unless that is to stay: also where there
/// is no memory for what follows.
struct Exchanged {
  const Move& move;
  bool stays = false;
  ~Exchanged() {
    if (!stays) rename_with(move.made, move.target, RENAME_EXCHANGE);
  }
};

/// Takes the place of an old result, which `staging` removes in the end. What turns out to be none
/// goes back to its place.
Result<void> replace(const Move& move, Staging& staging) {
  TRY(check_existing(move.target, move.target, move.kind, move.rule));
  struct stat old {};
  if (::lstat(move.target.c_str(), &old) == 0) ::chmod(move.made.c_str(), old.st_mode & 0777);
  if (rename_with(move.made, move.target, RENAME_EXCHANGE)) {
    Exchanged exchanged{move};
    Result<void> accepted = check_existing(move.made, move.target, move.kind, move.rule);
    exchanged.stays = true;
    if (accepted || rename_with(move.made, move.target, RENAME_EXCHANGE)) return accepted;
    staging.release();
    return output_error("{} was written over something that appeared meanwhile, which is now {}",
                        move.target.string(), move.made.string());
  }
  if (!flags_are_unknown()) return cannot_name(move.target, errno);
  if (::rename(move.target.c_str(), move.aside.c_str()) != 0) {
    return cannot_name(move.target, errno);
  }
  Result<void> named = check_existing(move.aside, move.target, move.kind, move.rule);
  if (named && !rename_to_free_name(move.made, move.target, move.kind)) {
    named = cannot_name(move.target, errno);
  }
  if (named) {
    if (move.kind == Kind::folder) staging.hold(move.aside);
    return named;
  }
  if (rename_to_free_name(move.aside, move.target, move.kind)) return named;
  staging.release();
  return output_error("{}; what stood there is now {}", named.error().message, move.aside.string());
}

/// Gives a complete output its final name.
Result<void> give_name(const Move& move, Staging& staging) {
  staging.keep_from_signals();
  if (rename_to_free_name(move.made, move.target, move.kind)) {
    if (move.kind == Kind::folder) staging.release();
    return {};
  }
  if (errno != EEXIST || !move.rule.force) return cannot_name(move.target, errno);
  // If this process is killed, the hidden folder may hold what is no result.
  if (move.kind == Kind::file) {
    TRY(under_final_name(mark_replacing(staging.path()), staging.path(), move.target));
  }
  return replace(move, staging);
}

}  // namespace

Result<void> check_distinct(std::initializer_list<NamedOutput> outputs) {
  const auto real = [](const fs::path& path) -> Result<fs::path> {
    TRY_ASSIGN(const fs::path place, absolute_path(path));
    std::error_code ignored;  // what cannot be resolved is refused elsewhere
    const fs::path folder = fs::weakly_canonical(place.parent_path(), ignored);
    return folder / place.filename();
  };
  for (const NamedOutput& one : outputs) {
    for (const NamedOutput& other : outputs) {
      if (&one == &other || one.path.empty() || other.path.empty()) continue;
      TRY_ASSIGN(const fs::path inner, real(one.path));
      TRY_ASSIGN(const fs::path outer, real(other.path));
      const auto [at, rest] = std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end());
      if (at != outer.end()) continue;
      const bool same = rest == inner.end();
      return fail(
          ErrorKind::usage,
          same ? fmt::format("{} and {} both name {}; choose two names", one.option, other.option,
                             one.path.string())
               : fmt::format("{} names {}, which would lie in {} of {}; choose another place",
                             one.option, one.path.string(), other.path.string(), other.option));
    }
  }
  return {};
}

Result<void> OutputFolder::check(const fs::path& target, const OutputRule& rule) {
  return check_place(target, Kind::folder, rule);
}

Result<OutputFolder> OutputFolder::create(const fs::path& target, OutputRule rule) {
  TRY(check(target, rule));
  OutputFolder output;
  output.rule_ = std::move(rule);
  TRY_ASSIGN(output.target_, absolute_path(target));
  TRY_ASSIGN(output.staging_, Staging::create(output.target_));
  output.path_ = output.staging_.path();
  return output;
}

Result<void> OutputFolder::commit(bool unproven) {
  TRY(under_final_name(mark_finished(path_, unproven), path_, target_));
  TRY(under_final_name(make_tree_durable(path_), path_, target_));
  const fs::path aside = path_.string() + ".old";
  TRY(give_name({path_, target_, aside, Kind::folder, rule_}, staging_));
  note_result(target_);
  // An old folder is removed only when it is certain that the new one has its name, and if nobody
  // has put anything there meanwhile.
  const fs::path old = staging_.path();
  Result<void> named = make_name_durable(target_);
  if (!old.empty() && (!named || !check_own_folder(old))) {
    staging_.release();
    const std::string why =
        named
            ? fmt::format("{} is complete, and its old result got something new", target_.string())
            : named.error().message;
    return output_error("{}; what stood there before is now {}", why, old.string());
  }
  staging_.sweep(target_);
  return named;
}

Result<void> OutputFile::check(const fs::path& target, const OutputRule& rule) {
  return check_place(target, Kind::file, rule);
}

OutputFile::OutputFile(fs::path target, fs::path place, OutputRule rule, Staging staging)
    : target_(std::move(target)),
      place_(std::move(place)),
      made_(staging.path() / "result"),
      aside_(staging.path() / "old"),
      rule_(std::move(rule)),
      staging_(std::move(staging)) {}

Result<OutputFile> OutputFile::create(const fs::path& target, OutputRule rule) {
  TRY(check(target, rule));
  TRY_ASSIGN(fs::path place, absolute_path(target));
  TRY_ASSIGN(Staging staging, Staging::create(place));
  OutputFile output(target, std::move(place), std::move(rule), std::move(staging));
  auto file = File::create(output.made_);
  if (!file) return output_error("cannot write {}: its folder takes no new file", target.string());
  output.file_ = *std::move(file);
  return output;
}

Result<void> OutputFile::write(std::string_view text) {
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  return named(file_.write({bytes, text.size()}));
}

Result<void> OutputFile::take(const fs::path& file) {
  TRY(named(file_.close()));
  if (::rename(file.c_str(), made_.c_str()) != 0) return named(cannot_name(target_, errno));
  return {};
}

Result<void> OutputFile::finish(bool unproven) {
  if (file_.is_open()) {
    TRY(named(file_.close()));
    TRY(named(complete_mark(made_)));
  } else {
    mark_file(made_, unproven);
  }
  kept_ = File(::open(made_.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  struct stat status {};
  if (!kept_.is_open() || ::fstat(kept_.descriptor(), &status) != 0)
    return named(cannot_name(target_, errno));
  identity_ = {status.st_dev, status.st_ino};
  return named(make_durable(made_));
}

Result<void> OutputFile::take_name() {
  TRY(give_name({made_, place_, aside_, Kind::file, rule_}, staging_));
  note_result(place_);
  return {};
}

bool OutputFile::is_ours(const fs::path& path) const noexcept {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 &&
         identity_ == std::pair(status.st_dev, status.st_ino);
}

/// Undoes take_name(): the hidden name or the name aside holds an old file, if there was one. What
/// somebody else put there meanwhile stays. Needs no memory.
void OutputFile::give_name_back() noexcept {
  note_result({});
  if (rename_with(made_, place_, RENAME_EXCHANGE)) {
    if (!is_ours(made_)) rename_with(made_, place_, RENAME_EXCHANGE);
    return;
  }
  if (::rename(place_.c_str(), made_.c_str()) != 0) return;
  if (!is_ours(made_)) {
    if (!rename_to_free_name(made_, place_, Kind::file)) staging_.release();
    return;
  }
  if (file_exists(aside_)) rename_to_free_name(aside_, place_, Kind::file);
}

Result<void> OutputFile::commit(bool unproven) {
  TRY(finish(unproven));
  TRY(take_name());
  return make_name_durable(place_);
}

Result<void> OutputFile::commit_both(OutputFile& first, OutputFile& second) {
  TRY(first.finish());
  TRY(second.finish());
  TRY(first.take_name());
  // Gives the name back also where there is no memory for what follows.
  const auto give_back = [](OutputFile* file) { file->give_name_back(); };
  std::unique_ptr<OutputFile, decltype(give_back)> taken(&first, give_back);
  TRY(second.take_name());
  static_cast<void>(taken.release());
  TRY(make_name_durable(first.place_));
  return make_name_durable(second.place_);
}

Result<void> write_output(const fs::path& target, std::string_view text, const OutputRule& rule) {
  TRY_ASSIGN(OutputFile file, OutputFile::create(target, rule));
  TRY(file.write(text));
  return file.commit();
}

}  // namespace entrain
