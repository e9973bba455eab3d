// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>

#include "formats/otf2/read/read_definitions.hpp"

namespace entrain::otf2 {

/// An event file, and the definitions that give its ids a meaning. The definitions must outlive it.
struct EventFile {
  std::filesystem::path path;
  std::uint64_t chunk_size = 0;  ///< bytes, from the anchor
  const LocalDefinitions& local;
  const References& references;
};

}  // namespace entrain::otf2
