// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <entrain/align.hpp>
#include <entrain/report.hpp>

#include "page/data.hpp"
#include "page/html/html.hpp"
#include "report/json.hpp"

namespace entrain::page {

/// Schema entrain.page/2, described in docs/manual/report.md: the report as `--json` prints it, but
/// for its lists of clocks and the cost of the run, and what the page draws. Times and distances
/// are ticks; `hz` of them are a second; times count from `begin_ticks`. Names are cut to 120
/// characters.
report::Json page_json(const CheckReport& report, const Data& data, const Origin& origin);
report::Json page_json(const CorrectReport& report, const Data& data, const Origin& origin);
report::Json page_json(const AlignReport& report, const Data& data, const Origin& origin);

}  // namespace entrain::page
