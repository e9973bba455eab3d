// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/write/archive_folder.hpp"

#include <cstdint>

#include <fmt/core.h>

#include "base/file.hpp"
#include "base/try.hpp"

namespace entrain::otf2 {

namespace fs = std::filesystem;

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
