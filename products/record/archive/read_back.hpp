// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace entrain::record {

/// Reads all definitions and events of an archive with the OTF2 library, in a process of its own,
/// as the library may end its process on a damaged archive. Returns "", or why it cannot be read.
std::string read_back(const std::string& anchor);

}  // namespace entrain::record
