// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "causal/base_line.hpp"
#include "causal/rate_limits.hpp"

namespace entrain::causal {

/// Limits on how wrong the rates of base lines are (RateLimits::extra_ppb, one per line), if the
/// mean rate of every clock is within `mean_ppb` of the reference's, as stamps count both. The
/// limit of the reference is 0; none is above k_most_rate_ppb.
[[nodiscard]] std::vector<std::int64_t> limits_by_mean(std::span<const BaseLine> lines,
                                                       std::uint32_t reference,
                                                       std::int64_t mean_ppb);

/// About the smallest limit on mean rates, at most a sixteenth above it, under which the
/// constraints do not contradict each other; `least_ppb` is one under which they do. Empty: no
/// limit up to a tenth suffices. Deterministic.
[[nodiscard]] std::optional<std::int64_t> least_mean_rate(const DifferenceConstraints& constraints,
                                                          std::span<const BaseLine> lines,
                                                          std::int64_t wander_ppb,
                                                          std::int64_t least_ppb);

}  // namespace entrain::causal
