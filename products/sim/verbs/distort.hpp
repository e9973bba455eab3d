// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>

#include <entrain/distort.hpp>

#include "formats/registry/open.hpp"

namespace entrain::sim {

/// entrain::distort() of the archives, or the files of one run.
Result<DistortReport> distort(const formats::Paths& paths, const std::filesystem::path& output,
                              const DistortOptions& options, Progress* progress);

}  // namespace entrain::sim
