// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <entrain/export.hpp>

#include "report/json.hpp"
#include "report/table.hpp"

namespace entrain::report {

/// Shows people what `export` has written.
std::string to_text(const ExportReport& report, const Style& style);
/// Schema entrain.export/1.
Json to_json(const ExportReport& report);
std::string json_text(const ExportReport& report);

}  // namespace entrain::report
