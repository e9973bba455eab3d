// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>

#include "formats/otf2/source/load.hpp"
#include "trace/testing.hpp"

namespace entrain::otf2::testing {

/// A trace of the examples; an exception where it cannot be read.
inline session::LoadedTrace load_example(const std::string& name) {
  return load(std::filesystem::path(ENTRAIN_EXAMPLES_DIR) / "traces" / name, 1, nullptr).value();
}

/// A trace made by hand, all of it in this process.
inline session::LoadedTrace loaded_of(const trace::testing::TraceBuilder& builder) {
  session::LoadedTrace loaded;
  loaded.trace = builder.trace();
  loaded.partition = trace::undivided(loaded.trace.definitions);
  return loaded;
}

}  // namespace entrain::otf2::testing
