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

Result<void> reflink(const fs::path& from, const fs::path& to) {
  TRY_ASSIGN(const File source, File::open_for_reading(from));
  TRY_ASSIGN(File target, File::create(to));
  if (::ioctl(target.descriptor(), FICLONE, source.descriptor()) == 0) return target.close();
  const int error_number = errno;
  std::error_code ignored;
  fs::remove(to, ignored);
  return fail(ErrorKind::output,
              fmt::format("cannot make a reflink of {}: {}", from.string(), reason(error_number)));
}

Result<void> symbolic_link(const fs::path& from, const fs::path& to, const fs::path& final_folder) {
  std::error_code error;
  const fs::path origin = fs::canonical(from, error);
  // The final folder need not exist yet: only its existing ancestors are resolved.
  const fs::path folder = error ? fs::path() : fs::weakly_canonical(final_folder, error);
  const fs::path target = error ? fs::path() : origin.lexically_relative(folder);
  if (!error) fs::create_symlink(target.empty() ? origin : target, to, error);
  if (!error) return {};
  return fail(ErrorKind::output,
              fmt::format("cannot make a symbolic link to {}: {}", from.string(), error.message()));
}

Result<void> hard_link(const fs::path& from, const fs::path& to) {
  std::error_code error;
  const fs::path origin = fs::canonical(from, error);
  if (!error) fs::create_hard_link(origin, to, error);
  if (!error) return {};
  return fail(ErrorKind::output,
              fmt::format("cannot make a hard link to {}: {}", from.string(), error.message()));
}

Result<void> make(LinkKind kind, const fs::path& from, const fs::path& to,
                  const fs::path& final_folder) {
  switch (kind) {
    case LinkKind::reflink:
      return reflink(from, to);
    case LinkKind::symbolic:
      return symbolic_link(from, to, final_folder);
    default:
      return hard_link(from, to);
  }
}

}  // namespace

Result<LinkKind> link_file(const fs::path& from, const fs::path& to, const fs::path& final_folder,
                           LinkKind kind) {
  if (kind != LinkKind::automatic) {
    TRY(make(kind, from, to, final_folder));
    return kind;
  }
  for (const LinkKind candidate : {LinkKind::reflink, LinkKind::symbolic}) {
    if (make(candidate, from, to, final_folder)) return candidate;
  }
  TRY(hard_link(from, to));
  return LinkKind::hard;
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
