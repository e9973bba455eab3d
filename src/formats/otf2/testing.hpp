// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>

#include "formats/otf2/load.hpp"

namespace entrain::otf2::testing {

/// A trace of the examples; an exception where it cannot be read.
inline trace::LoadedTrace load_example(const std::string& name) {
  return load(std::filesystem::path(ENTRAIN_EXAMPLES_DIR) / "traces" / name, 1, nullptr).value();
}

}  // namespace entrain::otf2::testing
