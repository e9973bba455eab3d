// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <memory>

#include <entrain/error.hpp>

#include "formats/source.hpp"

namespace entrain::otf2 {

/// An OTF2 archive as a source. `path`: an anchor file or the folder that holds exactly one; it is
/// opened by load() and what needs it. Several processes may load, write and read back together.
std::unique_ptr<formats::Source> source_of(const std::filesystem::path& path);

}  // namespace entrain::otf2
