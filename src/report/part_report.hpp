// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <entrain/parts.hpp>

#include "report/json.hpp"
#include "report/report.hpp"
#include "report/table.hpp"

namespace entrain::report {

/// Files, size and output of a part.
std::string to_text(const PartReport& report, const Style& style);
/// Schema entrain.part/1.
Json to_json(const PartReport& report);

/// The report of the correction, and where the clocks lie.
std::string to_text(const FitReport& report, const Style& style);
/// Schema entrain.fit/1; `correction` is a document of `correct`.
Json to_json(const FitReport& report);

}  // namespace entrain::report
