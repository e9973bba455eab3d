// SPDX-License-Identifier: BSD-3-Clause
#include "base/link.hpp"

#include <linux/fs.h>
#include <sys/ioctl.h>

#include <algorithm>

#include <fmt/core.h>

#include "base/file.hpp"
#include "base/try.hpp"

namespace entrain {

namespace fs = std::filesystem;

namespace {

/// True for a file that is no symbolic link itself.
bool is_plain(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(fs::symlink_status(path, error));
}

/// The path of `from` as a link in `folder` has to name it; empty with an error.
fs::path way_to(const fs::path& from, const fs::path& folder, std::error_code& error) {
  const fs::path origin = fs::canonical(from, error);
  // The final folder need not exist yet: only its existing ancestors are resolved.
  const fs::path place = error ? fs::path() : fs::weakly_canonical(folder, error);
  if (error) return {};
  const fs::path way = origin.lexically_relative(place);
  return way.empty() ? origin : way;
}

Result<void> hard_link(const fs::path& from, const fs::path& to) {
  std::error_code error;
  const fs::path origin = fs::canonical(from, error);
  if (!error) fs::create_hard_link(origin, to, error);
  if (!error) return {};
  return fail(ErrorKind::output,
              fmt::format("cannot make a hard link to {}: {}", from.string(), error.message()));
}

}  // namespace

Linker::Folder Linker::known(const fs::path& folder) {
  const std::lock_guard lock(mutex_);
  return folders_[folder];
}

Result<void> Linker::reflink(const fs::path& from, const fs::path& to) {
  TRY_ASSIGN(const File source, File::open_for_reading(from));
  TRY_ASSIGN(File target, File::create(to));
  if (::ioctl(target.descriptor(), FICLONE, source.descriptor()) == 0) return target.close();
  const int error_number = errno;
  std::error_code ignored;
  fs::remove(to, ignored);
  if ((error_number == EOPNOTSUPP || error_number == EXDEV) && is_plain(from)) {
    const std::lock_guard lock(mutex_);
    folders_[from.parent_path()].no_reflinks = true;
  }
  return fail(ErrorKind::output,
              fmt::format("cannot make a reflink of {}: {}", from.string(), reason(error_number)));
}

Result<void> Linker::symbolic_link(const fs::path& from, const fs::path& to) {
  std::error_code error;
  const bool plain = is_plain(from);
  fs::path way = plain ? known(from.parent_path()).way : fs::path();
  if (!way.empty()) {
    way /= from.filename();
  } else {
    way = way_to(from, final_folder_, error);
    if (plain && !error) {
      const std::lock_guard lock(mutex_);
      folders_[from.parent_path()].way = way.parent_path();
    }
  }
  if (!error) fs::create_symlink(way, to, error);
  if (!error) return {};
  return fail(ErrorKind::output,
              fmt::format("cannot make a symbolic link to {}: {}", from.string(), error.message()));
}

Result<void> Linker::make(LinkKind kind, const fs::path& from, const fs::path& to) {
  switch (kind) {
    case LinkKind::reflink:
      return reflink(from, to);
    case LinkKind::symbolic:
      return symbolic_link(from, to);
    default:
      return hard_link(from, to);
  }
}

Result<LinkKind> Linker::link(const fs::path& from, const fs::path& to) {
  if (kind_ != LinkKind::automatic) {
    TRY(make(kind_, from, to));
    return kind_;
  }
  const bool tried = known(from.parent_path()).no_reflinks && is_plain(from);
  if (!tried && reflink(from, to)) return LinkKind::reflink;
  if (symbolic_link(from, to)) return LinkKind::symbolic;
  TRY(hard_link(from, to));
  return LinkKind::hard;
}

Result<LinkKind> link_file(const fs::path& from, const fs::path& to, const fs::path& final_folder,
                           LinkKind kind) {
  return Linker(final_folder, kind).link(from, to);
}

const char* name_of(LinkKind kind) {
  switch (kind) {
    case LinkKind::reflink:
      return "reflink";
    case LinkKind::symbolic:
      return "symbolic link";
    case LinkKind::hard:
      return "hard link";
    case LinkKind::automatic:
      break;
  }
  return "";
}

std::string text_of(const LinkCounts& counts) {
  const auto kinds = std::count_if(counts.begin(), counts.end(), [](auto n) { return n > 0; });
  std::string text;
  for (std::size_t kind = 0; kind < counts.size(); ++kind) {
    if (counts[kind] == 0) continue;
    if (!text.empty()) text += ", ";
    text += name_of(static_cast<LinkKind>(kind));
    if (kinds > 1) text += fmt::format(" ({})", counts[kind]);
  }
  return text;
}

}  // namespace entrain
