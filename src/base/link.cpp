// SPDX-License-Identifier: BSD-3-Clause
#include "base/link.hpp"

#include <linux/fs.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "base/file.hpp"
#include "base/try.hpp"

namespace entrain {

namespace fs = std::filesystem;

namespace {

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
  return output_error("cannot make a hard link to {}: {}", from.string(), error.message());
}

/// The folder of a file, as the path spells it.
std::string_view folder_of(const fs::path& file) {
  const std::string_view path = file.native();
  return path.substr(0, path.find_last_of('/') + 1);
}

}  // namespace

Result<void> Linker::reflink(const Path& from, const Path& to, bool plain) {
  TRY_ASSIGN(const File source, File::open_for_reading(from));
  TRY_ASSIGN(File target, File::create(to));
  if (::ioctl(target.descriptor(), FICLONE, source.descriptor()) == 0) return target.close();
  const int error_number = errno;
  std::error_code ignored;
  fs::remove(to, ignored);
  if (plain && (error_number == EOPNOTSUPP || error_number == EXDEV)) no_reflinks_ = true;
  return output_error("cannot make a reflink of {}: {}", from.string(), reason(error_number));
}

Result<void> Linker::symbolic_link(const Path& from, const Path& to, bool plain) {
  std::error_code error;
  const std::string_view folder = folder_of(from);
  std::string way;
  {
    const std::lock_guard lock(mutex_);
    if (plain && folder == folder_) way = way_ + from.native().substr(folder.size());
  }
  if (way.empty()) {
    const fs::path found = way_to(from, final_folder_, error);
    way = found.string();
    if (!error && plain) {
      const std::lock_guard lock(mutex_);
      folder_ = folder;
      way_ = folder_of(found);
    }
  }
  if (!error && ::symlink(way.c_str(), to.c_str()) != 0) {
    error.assign(errno, std::generic_category());
  }
  if (!error) return {};
  return output_error("cannot make a symbolic link to {}: {}", from.string(), error.message());
}

Result<void> Linker::make(LinkKind kind, const Path& from, const Path& to, bool plain) {
  if (kind == LinkKind::reflink) return reflink(from, to, plain);
  return kind == LinkKind::symbolic ? symbolic_link(from, to, plain) : hard_link(from, to);
}

Result<LinkKind> Linker::link(const Path& from, const Path& to, Origin origin) {
  std::error_code none;
  const bool plain = origin == Origin::plain || fs::is_regular_file(fs::symlink_status(from, none));
  if (kind_ != LinkKind::automatic) {
    TRY(make(kind_, from, to, plain));
    return kind_;
  }
  if (!(plain && no_reflinks_) && reflink(from, to, plain)) return LinkKind::reflink;
  if (symbolic_link(from, to, plain)) return LinkKind::symbolic;
  TRY(hard_link(from, to));
  return LinkKind::hard;
}

}  // namespace entrain
