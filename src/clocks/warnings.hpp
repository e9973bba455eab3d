// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include <entrain/report.hpp>

#include "clocks/rate_prior.hpp"
#include "trace/share.hpp"

namespace entrain::clocks {

/// Clocks farther apart than this give a warning, seconds: those of a cluster agree to
/// milliseconds.
inline constexpr double k_suspicious_offset_s = 1;

/// Rates farther off than this give a warning, ppm: cheap crystals are off by a hundred, and clocks
/// that are being adjusted are slewed by 500.
inline constexpr double k_suspicious_rate_ppm = 1000;

/// Warnings of ClockOffset records that are hard to believe, one sentence each: of the two measured
/// clocks that are farthest apart at their first sessions, if that is more than
/// k_suspicious_offset_s; of the clock whose rate between two sessions is farthest off, if that is
/// more than k_suspicious_rate_ppm even if the half-widths are exhausted; of the clocks that were
/// measured once, whose rates are known by the prior only; and of those that were not measured. The
/// records must be in order, and within the range of a clock map. Collective over the processes;
/// the same at every one.
[[nodiscard]] std::vector<std::string> warnings_of_records(const trace::Share& share,
                                                           const RatePrior& prior);

/// Adds a sentence to the warnings of a report whose worst edge is violated by more than
/// k_suspicious_offset_s: no correction can find the true times of clocks that are that wrong.
void warn_of_violations(CheckReport& report);

}  // namespace entrain::clocks
