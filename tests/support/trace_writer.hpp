// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>

#include "trace/trace.hpp"

namespace entrain::test {

/// Writes a trace in memory as an archive, with the OTF2 library: every event of the skeleton
/// becomes the record that it stands for, and a scan gives the same events again. Location ids and
/// names are kept; ids of communicators and windows are their positions, groups come first in
/// their list. Returns the anchor's path.
std::filesystem::path write_trace(const trace::Trace& trace,
                                  const std::filesystem::path& directory);

}  // namespace entrain::test
