// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <entrain/compare.hpp>

#include "report/json.hpp"
#include "report/table.hpp"

namespace entrain::report {

/// Shows people how the times of two archives differ; with many locations, only those that differ
/// most are listed, unless the style is verbose.
std::string to_text(const CompareReport& report, const Style& style);

/// Schema entrain.compare/1. `truth`, `a_error` and `b_error` are null without a truth.
Json to_json(const CompareReport& report);
/// to_json() as text.
std::string json_text(const CompareReport& report);

}  // namespace entrain::report
