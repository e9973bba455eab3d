// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <entrain/error.hpp>
#include <entrain/options.hpp>
#include <entrain/report.hpp>

#include "clc/amortize.hpp"
#include "engine/timeline.hpp"

namespace entrain::engine {

/// ErrorKind::usage, with a sentence for the user, for an option out of its range: gamma must lie
/// in (0, 1], delta and a fixed mu must be at least 0, the largest slope must be above 0.
Result<void> check_options(const CorrectOptions& options);

/// Returns the options of clc::amortize() for a correction of `timeline`, on `threads` threads.
/// `split_flushes`: see clc::Options.
clc::Options amortization_options(const CorrectOptions& options, const Timeline& timeline,
                                  unsigned threads, bool split_flushes);

/// Moves what an amortization says of itself into the report: times of its phases are added,
/// everything else is replaced. Its maps stay.
void report_amortization(clc::Amortization& result, const Timeline& timeline,
                         CorrectReport& report);

}  // namespace entrain::engine
