// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>

#include <entrain/error.hpp>

#include "formats/otf2/read/archive.hpp"

// Steps that all writers of an archive from another one share.
namespace entrain::otf2 {

/// Creates the folder for the files of locations in `directory` and returns its path. Errors:
/// ErrorKind::output.
Result<std::filesystem::path> create_location_folder(const Archive& archive,
                                                     const std::filesystem::path& directory);

/// Copies the thumbnails, which hold no times, into `directory`. Errors: ErrorKind::input,
/// ErrorKind::output.
Result<void> copy_thumbnails(const Archive& archive, const std::filesystem::path& directory);

}  // namespace entrain::otf2
