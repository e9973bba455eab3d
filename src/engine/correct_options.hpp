// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <entrain/error.hpp>
#include <entrain/options.hpp>

namespace entrain::engine {

/// ErrorKind::usage, with a sentence for the user, for an option out of its range: gamma must lie
/// in (0, 1], delta and a fixed mu must be at least 0, the largest slope must be above 0.
Result<void> check_options(const CorrectOptions& options);

}  // namespace entrain::engine
