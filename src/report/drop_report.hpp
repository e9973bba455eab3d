// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <entrain/drop.hpp>

#include "report/json.hpp"
#include "report/table.hpp"

namespace entrain::report {

/// Shows people the records that `drop` lost, by kind and by location. Of many locations only those
/// that lost most, with a verbose style all.
std::string to_text(const DropReport& report, const Style& style);

/// Schema entrain.drop/1: the members of DropReport by name, the input as `archive`. Times are
/// stored ticks.
Json to_json(const DropReport& report);
/// to_json() as text.
std::string json_text(const DropReport& report);

}  // namespace entrain::report
