// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>

#include <entrain/error.hpp>
#include <entrain/options.hpp>
#include <entrain/progress.hpp>
#include <entrain/report.hpp>

#include "base/team.hpp"

/// The verbs that several processes can do together. Every process of the team calls them with the
/// same arguments and gets the same report or error; `threads` in the options are those of each.
namespace entrain::engine {

/// entrain::check().
Result<CheckReport> check(Team& processes, const std::filesystem::path& archive,
                          const CheckOptions& options, Progress* progress);

/// entrain::correct(). Every process reads and writes the files of its own locations only.
Result<CorrectReport> correct(Team& processes, const std::filesystem::path& archive,
                              const std::filesystem::path& output, const CorrectOptions& options,
                              Progress* progress);

}  // namespace entrain::engine
