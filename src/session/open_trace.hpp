// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <memory>

#include <entrain/error.hpp>

#include "trace/trace.hpp"

namespace entrain::session {

/// Opens the trace at `path`: the one place that chooses among the formats. Only OTF2 is known, so
/// `path` is an anchor file or the folder that holds exactly one. Errors: those of
/// otf2::Archive::open(); ErrorKind::input for files of JSON, naming the verbs that read them.
Result<std::unique_ptr<trace::Source>> open_trace(const std::filesystem::path& path);

}  // namespace entrain::session
