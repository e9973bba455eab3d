// SPDX-License-Identifier: BSD-3-Clause
#include "otf2/write/archive_folder.hpp"

#include <cstdint>

#include <fmt/core.h>

#include "base/file.hpp"
#include "base/try.hpp"

namespace entrain::otf2 {

namespace fs = std::filesystem;

Result<void> check_apart(const Archive& archive, const fs::path& directory) {
  std::error_code error;
  const fs::path output = fs::weakly_canonical(fs::absolute(directory, error), error);
  const fs::path folder = fs::canonical(archive.folder(), error);
  const fs::path files = folder / archive.name();
  const auto inside = [](const fs::path& inner, const fs::path& outer) {
    const fs::path relative = inner.lexically_relative(outer);
    return !relative.empty() && *relative.begin() != "..";
  };
  bool overlap =
      output == folder || inside(folder, output) || output == files || inside(output, files);
  // The event files of an overlay lie elsewhere, where its links lead.
  const std::size_t count = archive.definitions().locations.size();
  for (LocationIndex l = 0; l < count && !overlap; ++l) {
    if (archive.stamp(l, LocationFile::events).link) {
      overlap = inside(fs::weakly_canonical(archive.event_file(l), error), output);
    }
  }
  if (overlap) {
    return fail(ErrorKind::usage,
                fmt::format("the output {} would overwrite files of the input {}; choose another "
                            "folder",
                            directory.string(), archive.path()));
  }
  return {};
}

Result<fs::path> create_location_folder(const Archive& archive, const fs::path& directory) {
  fs::path folder = directory / archive.name();
  std::error_code error;
  fs::create_directory(folder, error);
  if (!error) return folder;
  return fail(ErrorKind::output,
              fmt::format("cannot create folder {}: {}", folder.string(), error.message()));
}

Result<void> copy_thumbnails(const Archive& archive, const fs::path& directory) {
  for (std::uint32_t i = 0; i < archive.anchor().thumbnail_count; ++i) {
    const fs::path thumbnail = archive.thumbnail_file(i);
    if (!file_exists(thumbnail)) break;
    TRY(duplicate_file(thumbnail, directory / thumbnail.filename()));
  }
  return {};
}

}  // namespace entrain::otf2
