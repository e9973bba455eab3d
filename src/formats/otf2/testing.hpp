// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>

#include "base/try.hpp"
#include "formats/otf2/load.hpp"
#include "formats/otf2/write_archive.hpp"

namespace entrain::otf2::testing {

/// A trace of the examples; an exception where it cannot be read.
inline trace::LoadedTrace load_example(const std::string& name) {
  return load(std::filesystem::path(ENTRAIN_EXAMPLES_DIR) / "traces" / name, 1, nullptr).value();
}

/// stage_archive() and commit(); returns the path of the new anchor file.
inline Result<std::filesystem::path> write_archive(const Archive& archive, const WritePlan& plan,
                                                   const std::filesystem::path& directory) {
  TRY_ASSIGN(StagedArchive staged, stage_archive(archive, plan, directory));
  TRY(staged.folder.commit());
  return staged.final_anchor();
}

}  // namespace entrain::otf2::testing
