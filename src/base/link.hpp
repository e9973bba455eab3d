// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include <entrain/error.hpp>
#include <entrain/options.hpp>

namespace entrain {

/// Makes `to` a link to `from`. LinkKind::automatic tries reflink, relative symbolic link and hard
/// link, in this order. `final_folder` is the folder in which `to` will be in the end: relative
/// links are made for that place. Returns the kind that was made. Errors: ErrorKind::output.
Result<LinkKind> link_file(const std::filesystem::path& from, const std::filesystem::path& to,
                           const std::filesystem::path& final_folder, LinkKind kind);

/// "reflink", "symbolic link", "hard link".
const char* name_of(LinkKind kind);

/// Numbers of links, by LinkKind.
using LinkCounts = std::array<std::int64_t, static_cast<std::size_t>(LinkKind::hard) + 1>;

/// "hard link", or if there are several kinds "reflink (7), hard link (1)"; "" without links.
std::string text_of(const LinkCounts& counts);

}  // namespace entrain
