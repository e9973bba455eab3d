// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "bounds/rate_limits.hpp"
#include "constraints/base_line.hpp"

namespace entrain::bounds {

/// Returns the limits on errors of base line rates (RateLimits::extra_ppb, one per line), if the
/// mean rate of every clock is within `mean_ppb` of the reference's, by stamps. The limit of the
/// reference is 0; none exceeds k_most_rate_ppb.
[[nodiscard]] std::vector<std::int64_t> limits_by_mean(std::span<const constraints::BaseLine> lines,
                                                       std::uint32_t reference,
                                                       std::int64_t mean_ppb);

/// Returns the least limit on mean rates, at most a sixteenth too large, without a contradiction.
/// `least_ppb`: a limit that contradicts. Empty: no limit up to 10 % suffices. Deterministic.
[[nodiscard]] std::optional<std::int64_t> least_mean_rate(
    const DifferenceConstraints& constraints, std::span<const constraints::BaseLine> lines,
    std::int64_t wander_ppb, std::int64_t least_ppb);

}  // namespace entrain::bounds
