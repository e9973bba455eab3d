// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>

namespace entrain::otf2 {

// How the child process of a LibraryCopy ends.
inline constexpr int k_child_done = 0;
inline constexpr int k_child_refused = 1;  ///< the library refused: k_message_file holds the reason
inline constexpr int k_child_no_room = 2;  ///< no room for the copy: likewise
inline constexpr int k_child_no_memory = 3;

// Files of a copy beside those that every archive has.
inline constexpr const char* k_message_file = "message";        ///< text
inline constexpr const char* k_properties_file = "properties";  ///< chunked; records of name, value

/// Reads the archive with the OTF2 library and writes its copy into `folder`. Returns one of the
/// codes above; the library may also abort, crash, or never return. Only for builds with it.
int copy_in_child(const std::filesystem::path& anchor, const std::filesystem::path& folder);

}  // namespace entrain::otf2
