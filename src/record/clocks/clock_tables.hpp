// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "record/clocks/clock_points.hpp"

namespace entrain::record {

/// All samples as comma-separated values, one line per exchange; the head names the units.
std::string samples_as_csv(const std::vector<ProcessRecord>& processes,
                           const std::vector<std::vector<ClockPoint>>& points);

/// The shortest delays between child and parent as comma-separated values, one line per pair of
/// hosts.
std::string delays_as_csv(const std::vector<ProcessRecord>& processes,
                          const std::vector<std::vector<ClockPoint>>& points);

}  // namespace entrain::record
