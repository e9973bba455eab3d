// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>

#include <entrain/error.hpp>
#include <entrain/options.hpp>

namespace entrain::otf2 {

/// Makes `to` a link to `from`. LinkKind::automatic tries reflink, relative symbolic link and hard
/// link, in this order. `final_folder` is the folder in which `to` will be in the end: relative
/// links are made for that place. Returns the kind that was made. Errors: ErrorKind::output.
Result<LinkKind> link_file(const std::filesystem::path& from, const std::filesystem::path& to,
                           const std::filesystem::path& final_folder, LinkKind kind);

/// "reflink", "symbolic link", "hard link".
const char* name_of(LinkKind kind);

}  // namespace entrain::otf2
