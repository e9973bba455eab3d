// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <entrain/report.hpp>

#include "report/json.hpp"
#include "report/table.hpp"

namespace entrain::report {

/// Shows people the result of `check`: a table of the edges per kind, the places of the worst, the
/// operations left out, and a verdict.
std::string to_text(const CheckReport& report, const Style& style);

/// Schema entrain.check/1. `verdict` is "violations", "clean" or "unproven", and `verdict_reason`
/// the doubt of an unproven one, else null. `checked_edges` counts the kinds in force. `worst_s`
/// and `worst` are null for a kind without edges. The times of `worst` (`time_s`, `ticks`) are
/// after pre-synchronisation, `local_ticks` is as stored.
Json to_json(const CheckReport& report);
/// to_json() as text.
std::string json_text(const CheckReport& report);

}  // namespace entrain::report
