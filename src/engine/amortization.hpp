// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <entrain/options.hpp>
#include <entrain/report.hpp>

#include "clc/amortize.hpp"
#include "engine/timeline.hpp"

namespace entrain::engine {

/// Returns the options of clc::amortize() for a correction of `timeline`, on `threads` threads.
/// `split_flushes`: see clc::Options.
clc::Options amortization_options(const CorrectOptions& options, const Timeline& timeline,
                                  unsigned threads, bool split_flushes);

/// Moves what an amortization says of itself into the report: times of its phases are added,
/// everything else is replaced. Its maps stay.
void report_amortization(clc::Amortization& result, const Timeline& timeline,
                         CorrectReport& report);

}  // namespace entrain::engine
