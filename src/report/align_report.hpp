// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <entrain/align.hpp>

#include "report/json.hpp"
#include "report/table.hpp"

namespace entrain::report {

/// Shows people what maps made of edges do: edges before and after, bounds, and a verdict.
std::string to_text(const AlignReport& report, const Style& style);
/// The sentence with which `align` ends: on the edges by the maps.
std::string verdict_text(const AlignReport& report);
/// The same on the edges by the clocks as they are measured.
std::string stored_verdict_text(const AlignReport& report);
/// Schema entrain.align/1: `before` and `after` are documents of `check`, of the edges by the
/// clocks as measured and by the maps.
Json to_json(const AlignReport& report);
std::string json_text(const AlignReport& report);

/// Shows people what `edges` has written.
std::string to_text(const EdgesReport& report, const Style& style);
/// Schema entrain.edges/1.
Json to_json(const EdgesReport& report);
std::string json_text(const EdgesReport& report);

}  // namespace entrain::report
