// SPDX-License-Identifier: BSD-3-Clause
#include "session/open_trace.hpp"

#include "otf2/read/archive.hpp"

namespace entrain::session {

Result<std::unique_ptr<trace::Source>> open_trace(const std::filesystem::path& path) {
  return otf2::Archive::open(path);
}

}  // namespace entrain::session
