// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <entrain/distort.hpp>

#include "report/json.hpp"
#include "report/table.hpp"

namespace entrain::report {

/// Shows people the clocks that `distort` gave to a trace.
std::string to_text(const DistortReport& report, const Style& style);

/// Schema entrain.distort/1: the members of DistortReport by name, the input as `archive`.
Json to_json(const DistortReport& report);
/// to_json() as text.
std::string json_text(const DistortReport& report);

}  // namespace entrain::report
