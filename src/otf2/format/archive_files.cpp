// SPDX-License-Identifier: BSD-3-Clause
#include "otf2/format/archive_files.hpp"

#include <string>
#include <system_error>
#include <vector>

#include <fmt/core.h>

namespace entrain::otf2 {

namespace {

namespace fs = std::filesystem;

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

/// True for an entry of the folder NAME beside NAME.otf2.
bool is_location_file(const fs::path& path) {
  const std::string extension = path.extension().string();
  return (extension == ending::events || extension == ending::definitions ||
          extension == ending::snapshots) &&
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
  for (const char* extension : {ending::anchor, ending::definitions, ending::markers}) {
    if (file == name + extension) return true;
  }
  return path.extension() == ending::thumbnail && file.starts_with(name + ".");
}

/// An entry of the folder that is no part of its one archive, or the folder itself if it cannot be
/// looked into. Empty: there is none.
fs::path foreign_entry(const fs::path& folder) {
  std::error_code error;
  if (!fs::is_directory(fs::symlink_status(folder, error))) return folder;
  std::vector<fs::path> entries;
  std::string name;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    entries.push_back(it->path());
    if (it->path().extension() == ending::anchor && name.empty()) name = it->path().stem().string();
  }
  if (error) return folder;
  for (const fs::path& entry : entries) {
    if (!belongs_to(entry, name)) return entry;
  }
  return {};
}

Result<void> refuse_foreign_entries(const fs::path& folder) {
  const fs::path entry = foreign_entry(folder);
  if (entry.empty()) return {};
  return fail(ErrorKind::output,
              fmt::format("{} is not replaced, because {} is no part of an OTF2 archive; remove it "
                          "or choose another folder",
                          folder.string(), entry.string()));
}

}  // namespace

ReplaceRule replaces_archives(bool force) {
  if (force) return refuse_foreign_entries;
  return {};
}

}  // namespace entrain::otf2
