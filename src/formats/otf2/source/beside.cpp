// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/source/beside.hpp"

#include <string>
#include <system_error>

#include <fmt/core.h>

#include "base/try.hpp"

namespace entrain::otf2 {

namespace fs = std::filesystem;

namespace {

bool stays_behind(const std::string& name, const std::string& archive) {
  return name.starts_with('.') || name.starts_with(archive + ".") ||
         (name.starts_with("clock_") && name.ends_with(".csv"));
}

Result<void> copy_to(const fs::path& from, const fs::path& to) {
  std::error_code error;
  if (fs::exists(to, error)) return {};
  fs::copy_file(from, to, error);
  if (!error) return {};
  return fail(ErrorKind::output, fmt::format("cannot copy {}, which stands beside the archive: {}",
                                             from.string(), error.message()));
}

}  // namespace

Result<void> keep_beside(const fs::path& anchor, const fs::path& folder) {
  const std::string archive = anchor.stem().string();
  std::error_code error;
  for (fs::directory_iterator it(anchor.parent_path(), error), end; !error && it != end;
       it.increment(error)) {
    std::error_code unknown;
    const bool is_file = it->is_regular_file(unknown) && !it->is_symlink(unknown);
    if (!is_file || stays_behind(it->path().filename().string(), archive)) continue;
    TRY(copy_to(it->path(), folder / it->path().filename()));
  }
  return {};
}

}  // namespace entrain::otf2
