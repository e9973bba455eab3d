// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>

#include <entrain/error.hpp>

namespace entrain::otf2 {

/// Copies into a new archive's folder the files that stand beside the archive with this anchor,
/// such as scorep.cfg and profile.cubex, so that the folder is an experiment, too. Files of the
/// archive itself, those that are there, measurements of clocks, which hold for the old times only,
/// hidden files, links and folders stay behind. Errors: ErrorKind::output.
Result<void> keep_beside(const std::filesystem::path& anchor, const std::filesystem::path& folder);

}  // namespace entrain::otf2
