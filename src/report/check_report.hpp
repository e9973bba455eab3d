// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <entrain/report.hpp>

#include "report/json.hpp"
#include "report/table.hpp"

namespace entrain::report {

/// What `check` found, for people: a table of the edges per kind, where the worst ones lie, what
/// was left out, and one concluding sentence.
std::string to_text(const CheckReport& report, const Style& style);

/// Schema entrain.check/1. `worst_s` and `worst` are null for a kind without edges. The times of
/// `worst` (`time_s`, `ticks`) are after pre-synchronisation, `local_ticks` is as stored.
Json to_json(const CheckReport& report);

}  // namespace entrain::report
